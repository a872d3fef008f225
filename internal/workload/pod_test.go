// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func trialOf(t *testing.T, kind, name string, change func(Object)) *corev1.Pod {
	t.Helper()
	made := objects.NewWorkload(kind, name, "shop", nil)
	made.SetUID("uid")
	of, isOne := ToObject(made)
	require.True(t, isOne)
	if change != nil {
		change(of)
	}
	return DryRunPod(of)
}

// The pod of a dry run has the labels and the controller owner of a pod that the kind's controller creates.
func TestDryRunPod_EqualsPodOfController(t *testing.T) {
	for kind, test := range map[string]struct{ owner, label string }{
		"Deployment":  {"ReplicaSet", "pod-template-hash"},
		"StatefulSet": {"StatefulSet", "statefulset.kubernetes.io/pod-name"},
		"DaemonSet":   {"DaemonSet", "pod-template-generation"},
		"CronJob":     {"Job", "batch.kubernetes.io/job-name"},
	} {
		t.Run(kind, func(t *testing.T) {
			pod := trialOf(t, kind, "cart", nil)
			require.Equal(t, test.owner, metav1.GetControllerOf(pod).Kind)
			require.Contains(t, pod.Labels, test.label)
			require.Equal(t, "cart", pod.Labels["app"])
			require.Equal(t, "shop", pod.Namespace)
			require.Equal(t, pod, trialOf(t, kind, "cart", nil), "the same every time, so that answers are")
		})
	}
}

func TestDryRunPod_HasValidName(t *testing.T) {
	for _, name := range []string{"a", strings.Repeat("long-", 20), strings.Repeat("a.b", 30) + "c", strings.Repeat("x", 52) + ".y"} {
		pod := trialOf(t, "Deployment", name, nil)
		require.Empty(t, validation.IsDNS1123Subdomain(pod.Name), pod.Name)
		require.LessOrEqual(t, len(pod.Name), validation.DNS1123LabelMaxLength)
	}
}

func TestDryRunPod_IncludesClaimVolumes(t *testing.T) {
	pod := trialOf(t, "StatefulSet", "cart", func(of Object) {
		set, _ := of.(*appsv1.StatefulSet)
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	})
	require.Len(t, pod.Spec.Volumes, 1)
	require.NotNil(t, pod.Spec.Volumes[0].PersistentVolumeClaim)
}
