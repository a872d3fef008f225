// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The annotation of a wait is read back as it was written.
func TestReadWaits_ReadsWrittenAnnotations(t *testing.T) {
	wait := Wait{StartedAt: time.Date(2026, 11, 24, 15, 4, 5, 0, time.UTC), Schema: 3, Template: 0xab}
	require.Equal(t, "2026-11-24T15:04:05Z/00000003/00000000000000ab", wait.String())

	key := meta.AnnotationWaiting("vectorsidecar/logs")
	require.Equal(t, map[string]Wait{key: wait}, readWaits(map[string]string{key: wait.String(), "team": "shop"}))
	for _, broken := range []string{"", "yesterday/3/ab", "2026-11-24T15:04:05Z/three/ab", "2026-11-24T15:04:05Z/123456789/ab", "2026-11-24T15:04:05Z/3/no", "2026-11-24T15:04:05Z/3"} {
		require.Nil(t, readWaits(map[string]string{key: broken}), broken)
	}
}

// Each case changes the pod template. A change of injected items does not change the digest, and a change of the
// application does.
func TestTemplateDigest_ExcludesInjectedItems(t *testing.T) {
	ours := map[string]OwnedFields{"vectorsidecar/logs": {
		Containers: []string{"vector"}, Volumes: []string{"vectorsidecar-data"}, PodLabels: []string{"vector"}, PodAnnotations: []string{"scrape"},
	}}
	bare := objects.NewDeployment("cart", "shop").Build()
	digest := func(d *appsv1.Deployment) uint64 { return TemplateDigest(&d.Spec.Template, ours) }
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		isSame bool
	}{
		"nothing": {func(*appsv1.Deployment) {}, true},
		"the sidecar": {func(d *appsv1.Deployment) {
			pod := &d.Spec.Template
			pod.Labels["vector"] = "yes"
			pod.Annotations = map[string]string{"scrape": "yes", meta.AnnotationInjectedItems("vectorsidecar/logs"): "{}"}
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: "vector"})
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "vectorsidecar-data"})
			pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "vectorsidecar-data"})
		}, true},
		"a scale":       {func(d *appsv1.Deployment) { *d.Spec.Replicas = 7 }, true},
		"an annotation": {func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "shop"} }, true},
		"an image":      {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "another" }, false},
		"kubectl's restart": {func(d *appsv1.Deployment) {
			d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
		}, false},
		"a container beside": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
		}, false},
	} {
		changed := bare.DeepCopy()
		test.change(changed)
		require.Equal(t, test.isSame, digest(bare) == digest(changed), name)
	}
}

// A wait ends when the application's pod template changes. A digest of another release is not compared, so it does not
// end the wait.
func TestWait_EndsWithNewTemplate(t *testing.T) {
	wait := NewWait(time.Now(), &State{Template: 1})
	require.False(t, wait.IsOver(&State{Template: 1}))
	require.True(t, wait.IsOver(&State{Template: 2}))
	require.False(t, wait.IsForeign())

	wait.Schema++
	require.True(t, wait.IsForeign())
	require.False(t, wait.IsOver(&State{Template: 2}))
}
