// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

func sidecar(name, uid string) *v1alpha1.VectorSidecar {
	return &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid)}}
}

// made is a companion of VectorSidecar logs, changed.
func made(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs-vector"}}
	Label(object, "logs")
	Mark(object)
	change(object)
	return object
}

// A ConfigMap is a companion of a VectorSidecar only with the companion annotation, a generated name and the label of
// that VectorSidecar. IsLabeledFor does not require the annotation.
func TestIsOwnedBy_RequiresAnnotationNameAndLabel(t *testing.T) {
	for name, test := range map[string]struct {
		object         *corev1.ConfigMap
		isOf, isLeftTo bool
	}{
		"a companion":                      {made(func(*corev1.ConfigMap) {}), true, true},
		"without its mark":                 {made(func(c *corev1.ConfigMap) { c.Annotations = nil }), false, true},
		"a copy of one under another name": {made(func(c *corev1.ConfigMap) { c.Name = "mine" }), false, false},
		"of another VectorSidecar":         {made(func(c *corev1.ConfigMap) { c.Labels[meta.LabelSidecar] = "other" }), false, false},
		"of nobody":                        {made(func(c *corev1.ConfigMap) { c.Labels = nil }), false, false},
		"one with a controller owner": {made(func(c *corev1.ConfigMap) {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Tenant", Name: "logs", UID: "9", Controller: new(true)}}
		}), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.isOf, IsOwnedBy(test.object, sidecar("logs", "1")))
			require.Equal(t, test.isLeftTo, IsLabeledFor(test.object, sidecar("logs", "1")))
		})
	}
}

// For any content and name, the name of a companion is valid. Different contents have different names.
func TestGenerateName_ReturnsUniqueValidNames(t *testing.T) {
	long := strings.Repeat("a", 200) + "." + strings.Repeat("b", 52)
	for _, name := range []string{"logs", long, strings.Repeat("c.", 126) + "c"} {
		require.Empty(t, validation.IsDNS1123Subdomain(GenerateName(name, "x")), name)
		require.NotEqual(t, GenerateName(name, "x"), GenerateName(name, "y"))
	}
	require.NotEqual(t, GenerateName(long, "x"), GenerateName(long[:252]+"c", "x"))
	require.True(t, strings.HasPrefix(GenerateName("logs", "x"), "logs-vector-"))
}

// The digest of a ConfigMap changes with each change of its content.
func TestDigest_ChangesWithContent(t *testing.T) {
	object := made(func(c *corev1.ConfigMap) {
		c.Data, c.BinaryData = map[string]string{"a": "1"}, map[string][]byte{"b": {2}}
	})
	before := Digest(object)
	object.Labels = nil
	require.Equal(t, before, Digest(object))
	reduced := made(func(c *corev1.ConfigMap) { c.Annotations[ContentDigest] = before })
	require.Equal(t, before, KnownDigest(reduced))
	require.NotEqual(t, before, Digest(reduced), "whoever writes the annotation hides nothing")
	require.Equal(t, before, KnownDigest(object))
	object.BinaryData["b"] = []byte{3}
	require.NotEqual(t, before, Digest(object))
}

func TestReferencedConfigMaps_IncludesVolumesAndVariables(t *testing.T) {
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	spec := &corev1.PodSpec{
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named("volume")}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{}}, {ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("projected")}},
			}}}},
		},
		InitContainers: []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("variables")}}}}},
		Containers: []corev1.Container{{Env: []corev1.EnvVar{
			{Name: "A", Value: "b"}, {Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("variable")}}},
		}}},
	}
	require.Equal(t, []string{"volume", "projected", "variables", "variable"}, ReferencedConfigMaps(spec))
}
