// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestMountedFiles_ListsFilesInMountedConfigMap(t *testing.T) {
	object := &corev1.ConfigMap{Data: map[string]string{"a": "", ".b": ""}}
	object.Name = "shipping"
	for name, test := range map[string]struct {
		mount corev1.VolumeMount
		items []corev1.KeyToPath
		want  map[string]string
	}{
		"a folder":             {mount: corev1.VolumeMount{MountPath: "/m/"}, want: map[string]string{"/m/a": "a", "/m/.b": ".b"}},
		"a file":               {mount: corev1.VolumeMount{MountPath: "/m", SubPath: "a"}, want: map[string]string{"/m": "a"}},
		"under another name":   {mount: corev1.VolumeMount{MountPath: "/m"}, items: []corev1.KeyToPath{{Key: "a", Path: "x/y"}}, want: map[string]string{"/m/x/y": "a"}},
		"a folder of it":       {mount: corev1.VolumeMount{MountPath: "/m", SubPath: "x"}, items: []corev1.KeyToPath{{Key: "a", Path: "x/y"}}, want: map[string]string{"/m/y": "a"}},
		"another folder of it": {mount: corev1.VolumeMount{MountPath: "/m", SubPath: "y"}, items: []corev1.KeyToPath{{Key: "a", Path: "x/y"}}, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			test.mount.Name = "config"
			source := corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}, Items: test.items}
			container := &corev1.Container{VolumeMounts: []corev1.VolumeMount{test.mount}}
			spec := &corev1.PodSpec{Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &source}}}}
			require.Equal(t, test.want, mountedFiles(container, spec, object))
		})
	}
}

// A custom template set mounts a ConfigMap into the application. All of its keys are copied, because it is not known
// which of them the application reads.
func TestNewConfigMapUse_IncludesAllKeysOfApplicationVolume(t *testing.T) {
	overlay := &workload.Overlay{Mounts: []workload.Mount{{Container: "app", VolumeMount: corev1.VolumeMount{Name: "config", MountPath: "/m"}}}}
	overlay.Template.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "shipping"}},
	}}}
	require.True(t, newConfigMapUse(overlay, "vector", objects.NewConfigMap("shipping", "shop", "vector.yaml", "")).needsAllKeys)
}
