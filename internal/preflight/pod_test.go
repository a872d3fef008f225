// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestRemoveSidecar_RemovesAllInjectedItems(t *testing.T) {
	pod := workload.DryRunPod(objects.NewDeployment("cart", "shop").Build())
	before := pod.DeepCopy()
	overlay := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}, Labels: map[string]string{"c": "d"}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "vector"}}, Containers: []corev1.Container{{Name: "beside"}},
			Volumes: []corev1.Volume{{Name: "logs"}},
		},
	}
	pod.Annotations = map[string]string{"a": "b"}
	pod.Labels["c"] = "d"
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, overlay.Spec.InitContainers...)
	pod.Spec.Containers = append(pod.Spec.Containers, overlay.Spec.Containers...)
	pod.Spec.Volumes = append(pod.Spec.Volumes, overlay.Spec.Volumes...)
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "logs", MountPath: "/var/log"}}
	whole := pod.DeepCopy()

	bare := RemoveSidecar(pod, overlay)

	require.Equal(t, whole, pod, "the pod itself stays as it is")
	require.Equal(t, before.Labels, bare.Labels)
	require.Empty(t, bare.Annotations)
	require.Empty(t, bare.Spec.InitContainers)
	require.Empty(t, bare.Spec.Volumes)
	require.Len(t, bare.Spec.Containers, 1)
	require.Empty(t, bare.Spec.Containers[0].VolumeMounts)
}

func TestRequiredSecrets_SkipsOptionalSecrets(t *testing.T) {
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	overlay := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{named("registry")},
		Volumes:          []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}}},
		Containers: []corev1.Container{{
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("all"), Optional: new(true)}}},
			Env: []corev1.EnvVar{
				{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("token")}}},
				{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("maybe"), Optional: new(true)}}},
			},
		}},
	}}
	require.Equal(t, []string{"registry", "tls", "token"}, RequiredSecrets(overlay, []string{"registry"}))
}
