// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// noted is the sidecar with its bookkeeping annotations.
func noted(t *testing.T) string {
	t.Helper()
	applied := fieldmanager.New(t).Apply(meta.Manager("logs"), fieldmanager.Sidecar) // As the API server has it.
	annotations := applied["metadata"].(map[string]any)["annotations"].(map[string]any)
	annotations[meta.AnnotationAppliedHash], annotations[meta.AnnotationInputHash] = AppliedHash(Hash(applied), nil), "asked"
	text, err := yaml.Marshal(applied)
	require.NoError(t, err)
	return string(text)
}

// Each case changes a workload after the operator's write. Only changes of the operator's fields are detected.
func TestIsAsWritten_DetectsChangesOfOwnedFields(t *testing.T) {
	manager := meta.Manager("logs")
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"as it was written":       {func(*appsv1.Deployment) {}, true},
		"the application's image": {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "cart:2" }, true},
		"another request":         {func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInputHash] = "another" }, true},
		"our image":               {func(d *appsv1.Deployment) { ours(d).Image = "vector:2" }, false},
		"another digest of it":    {func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationAppliedHash] = "x" }, false},
		"no digest of it":         {func(d *appsv1.Deployment) { delete(d.Annotations, meta.AnnotationAppliedHash) }, false},
		"our volume, mounted by app": {func(d *appsv1.Deployment) {
			app := &d.Spec.Template.Spec.Containers[0]
			app.VolumeMounts = append(app.VolumeMounts, corev1.VolumeMount{Name: "vectorsidecar-vector-data", MountPath: "/x"})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := fieldmanager.New(t)
			c.Apply(manager, noted(t))
			deployment := c.Live()
			require.Equal(t, "asked", NewView(deployment).Owned[manager].InputHash)
			test.change(deployment)

			view := NewView(deployment)
			require.Equal(t, test.want, view.IsAsWritten(manager))
		})
	}
}

// The hash does not depend on the order in which mounts are found.
func TestAppliedHash_IncludesMountsInAnyOrder(t *testing.T) {
	a, b := Mount{"app", corev1.VolumeMount{Name: "v", MountPath: "/a"}}, Mount{"app", corev1.VolumeMount{Name: "v", MountPath: "/b"}}
	require.Equal(t, "x", AppliedHash("x", nil))
	require.Equal(t, AppliedHash("x", []Mount{a, b}), AppliedHash("x", []Mount{b, a}))
	require.NotEqual(t, AppliedHash("x", []Mount{a}), AppliedHash("x", []Mount{a, b}))
	require.NotEqual(t, AppliedHash("x", []Mount{a}), AppliedHash("y", []Mount{a}))
	moved := a
	moved.SubPath = "s"
	require.NotEqual(t, AppliedHash("x", []Mount{a}), AppliedHash("x", []Mount{moved}))
}

// Workloads that differ only in values that templates do not read share a cache entry.
func TestValuesHash_IgnoresUnreadValues(t *testing.T) {
	of := func(name, container string) *View {
		return &View{Ref: Ref{Name: name}, PodView: PodView{Containers: []Container{{Name: container, Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}}}
	}
	keys := []string{"containers"}
	require.Equal(t, of("cart", "cart").ValuesHash(keys), of("basket", "basket").ValuesHash(keys))
	require.NotEqual(t, of("cart", "cart").ValuesHash(keys), of("cart", "app").ValuesHash(keys))
	require.NotEqual(t, of("cart", "cart").ValuesHash(keys), of("cart", "cart").ValuesHash([]string{"containers", "name"}))
}

func TestConfigMaps_ListsMountedConfigMaps(t *testing.T) {
	owned := OwnedFields{Tree: map[string]any{}}
	require.NoError(t, yaml.Unmarshal([]byte(`
metadata: {annotations: {vectorsidecar.observability.kontroloop.ai/configmap-version.audit: abc}}
spec: {template: {spec: {volumes: [
  {name: a, configMap: {name: one}}, {name: b, emptyDir: {}}, {name: c, secret: {secretName: no}},
  {name: d, projected: {sources: [{secret: {name: no}}, {configMap: {name: two}}]}}]}}}`), &owned.Tree))
	require.Equal(t, []string{"one", "two"}, owned.ConfigMaps())
	require.Equal(t, "abc", owned.ConfigVersion())
	require.Empty(t, (&OwnedFields{}).ConfigMaps())
}
