// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ranged returns a LimitRange with one item.
func ranged(item corev1.LimitRangeItem) corev1.LimitRange {
	return corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "r"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
}

// Each case is a LimitRange and a pod, and the violations that the API server would report.
func TestLimitForecast_AppliesLimitRanges(t *testing.T) {
	container, pod := corev1.LimitTypeContainer, corev1.LimitTypePod
	for name, test := range map[string]struct {
		app, vector string
		item        corev1.LimitRangeItem
		want        []string
	}{
		"the ratio is kept":      {"cpu=1 / cpu=2", "cpu=1 / cpu=2", corev1.LimitRangeItem{Type: container, MaxLimitRequestRatio: listOf("cpu=2")}, nil},
		"the ratio is too high":  {"cpu=1 / cpu=2", "cpu=100m / cpu=250m", corev1.LimitRangeItem{Type: container, MaxLimitRequestRatio: listOf("cpu=2")}, []string{"container vector: the limit of resource cpu is 2.5 times the request, but may be at most 2 times"}},
		"a ratio without limit":  {"memory=1 / memory=1", "memory=1", corev1.LimitRangeItem{Type: container, MaxLimitRequestRatio: listOf("memory=1")}, []string{"container vector: resource memory has no limit, but a limit of at most 1 times the request is required"}},
		"a ratio without either": {"", "memory=1 / memory=1", corev1.LimitRangeItem{Type: container, MaxLimitRequestRatio: listOf("memory=1")}, []string{"container app: resource memory has no request, but its limit may be at most 1 times its request"}},
		"too much":               {"cpu=1 / cpu=1", "cpu=1 / cpu=3", corev1.LimitRangeItem{Type: container, Max: listOf("cpu=2")}, []string{"container vector: the limit of resource cpu is 3, but may be at most 2"}},
		"the maximum is default": {"cpu=1 / cpu=1", "cpu=1", corev1.LimitRangeItem{Type: container, Max: listOf("cpu=2")}, nil},
		"too little":             {"cpu=1 / cpu=1", "cpu=50m / cpu=1", corev1.LimitRangeItem{Type: container, Min: listOf("cpu=100m")}, []string{"container vector: the request of resource cpu is 50m, but must be at least 100m"}},
		"together too much":      {"cpu=1 / cpu=1", "cpu=1 / cpu=2", corev1.LimitRangeItem{Type: pod, Max: listOf("cpu=2")}, []string{"pod: the limit of resource cpu is 3, but may be at most 2"}},
		"together a ratio":       {"cpu=1 / cpu=1", "cpu=1 / cpu=4", corev1.LimitRangeItem{Type: pod, MaxLimitRequestRatio: listOf("cpu=2")}, []string{"pod: the limit of resource cpu is 2.5 times the request, but may be at most 2 times"}},
		"no pod has a default":   {"", "cpu=1", corev1.LimitRangeItem{Type: pod, Max: listOf("cpu=2")}, []string{"pod: resource cpu has no limit, but a limit of at most 2 is required"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Surroundings{}
			limits := ranged(test.item)
			in.Add(&limits)
			elsewhere := *limits.DeepCopy()
			elsewhere.Namespace = "pay"
			in.Add(&elsewhere)

			var messages []string
			for _, found := range NewForecast(&Change{Replacements: []Replacement{injects(test.app, test.vector)}}, in).Limits {
				require.Equal(t, "r", found.Name)
				require.Equal(t, "cart", found.Workload)
				messages = append(messages, found.Message)
			}
			require.Equal(t, test.want, messages)
		})
	}
}

// A LimitRange for claims applies to ephemeral volumes.
func TestLimitForecast_ChecksClaimsOfVolumes(t *testing.T) {
	change := injects("", "")
	for _, object := range []workload.Object{change.Before, change.After} {
		spec := corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: listOf("storage=5Gi")}}
		workload.PodTemplate(object).Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec}},
		}}}
	}
	limits := ranged(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: listOf("storage=2Gi")})

	found := NewForecast(&Change{Replacements: []Replacement{change}}, &Surroundings{LimitRanges: []corev1.LimitRange{limits}}).Limits

	require.Len(t, found, 1)
	require.Equal(t, "claim of volume data: the request of resource storage is 5Gi, but may be at most 2Gi", found[0].Message)
}
