// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func resources(requests, limits string) corev1.ResourceRequirements {
	of := func(text string) corev1.ResourceList {
		if text == "" {
			return nil
		}
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text), corev1.ResourceMemory: resource.MustParse(text)}
	}
	return corev1.ResourceRequirements{Requests: of(requests), Limits: of(limits)}
}

// The QoS class of a workload is computed without the sidecar.
func TestQoSClass_ExcludesSidecar(t *testing.T) {
	ours := map[string]OwnedFields{"vectorsidecar/logs": {Containers: []string{"vector"}}}
	whole := resources("1", "1")
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want corev1.PodQOSClass
	}{
		"nothing":            {corev1.PodSpec{}, corev1.PodQOSBestEffort},
		"requests below":     {corev1.PodSpec{Containers: []corev1.Container{{Resources: resources("1", "2")}}}, corev1.PodQOSBurstable},
		"requests as limits": {corev1.PodSpec{Containers: []corev1.Container{{Resources: whole}}}, corev1.PodQOSGuaranteed},
		"limits alone":       {corev1.PodSpec{Containers: []corev1.Container{{Resources: resources("", "1")}}}, corev1.PodQOSGuaranteed},
		"an init container":  {corev1.PodSpec{InitContainers: []corev1.Container{{}}, Containers: []corev1.Container{{Resources: whole}}}, corev1.PodQOSBurstable},
		"ours does not count": {corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "vector", Resources: resources("1", "2")}}, Containers: []corev1.Container{{Resources: whole}},
		}, corev1.PodQOSGuaranteed},
		"the pod's own": {corev1.PodSpec{Resources: &whole, Containers: []corev1.Container{{}}}, QoSOfPod},
	} {
		t.Run(name, func(t *testing.T) {
			view := viewWith(corev1.PodTemplateSpec{Spec: test.spec}, ours)
			require.Equal(t, test.want, view.QoSClass)

			for added, with := range map[*corev1.ResourceRequirements]map[corev1.PodQOSClass]corev1.PodQOSClass{
				{}:     {corev1.PodQOSBestEffort: corev1.PodQOSBestEffort, QoSOfPod: QoSOfPod},
				&whole: {corev1.PodQOSGuaranteed: corev1.PodQOSGuaranteed, QoSOfPod: QoSOfPod},
			} {
				overlay := Overlay{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: *added}}}}}
				want, isKept := with[view.QoSClass]
				if !isKept {
					want = corev1.PodQOSBurstable
				}
				require.Equal(t, want, overlay.QoSClass(&view))
			}
		})
	}
}
