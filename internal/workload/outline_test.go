// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A packed pod template has only fields that a View reads by their own names. All others are details.
func TestOutline_PacksDetailsOutsideThePodSpec(t *testing.T) {
	outline := Outline{
		Ref: Ref{Kind: "Deployment"}, Claims: []string{"data"}, TemplateSource: "Deployment cart", Unread: Unread{Template: "a", Other: "b"},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"kubernetes.io/os": "windows"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
			Volumes: []corev1.Volume{{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key"}}}},
		}},
	}
	packed := outline.Pack(nil)

	require.Equal(t, Details{
		QOSClass: corev1.PodQOSBestEffort, Claims: []string{"data"}, Secrets: packed.Secrets, PullSecrets: []string{"registry"},
		Windows: packed.Windows, TemplateSource: "Deployment cart", Unread: Unread{Template: "a", Other: "b"},
	}, packed.Details)
	require.Contains(t, packed.Secrets, "key")
	require.NotEmpty(t, packed.Windows)
	require.Equal(t, corev1.PodSpec{
		InitContainers: []corev1.Container{}, Containers: []corev1.Container{},
		Volumes: []corev1.Volume{{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}}},
	}, packed.Template.Template.Spec)
}

func TestDetails_AppendToDistinguishesLists(t *testing.T) {
	claims, secrets := Details{Claims: []string{"a"}}, Details{Secrets: []string{"a"}}
	require.NotEqual(t, claims.AppendTo(nil), secrets.AppendTo(nil))
}
