// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQuantitiesOutOfProportionAreFound(t *testing.T) {
	t.Parallel()
	for given, isFound := range map[string]bool{
		"0": false, "100m": false, "512Mi": false, "9Ei": false, "1e18": false, "1e99": false, "-1.5e-9": false,
		"1e60000000": true, "1e100": true, strings.Repeat("9", 100): true,
	} {
		quantity := resource.MustParse(given)
		resources := corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": quantity}, Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}
		for at, spec := range map[string]corev1.PodSpec{
			"spec.resources.limits.memory":                   {Resources: &resources},
			"spec.containers[1].resources.limits.memory":     {Containers: []corev1.Container{{}, {Resources: resources}}},
			"spec.initContainers[0].resources.limits.memory": {InitContainers: []corev1.Container{{Resources: resources}}},
			"spec.volumes[1].emptyDir.sizeLimit":             {Volumes: []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &quantity}}}}},
		} {
			err := CheckQuantities("spec", &spec)
			require.Equal(t, isFound, err != nil, "%s: %s", at, given)
			if err != nil {
				require.Contains(t, err.Error(), at+": ")
				require.Less(t, len(err.Error()), 200)
			}
		}
	}
}
