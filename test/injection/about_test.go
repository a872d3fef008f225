// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The API server injects the pod annotation about the sidecar. If a manifest without the sidecar replaces the workload, the
// earlier text stays, so that another aboutURL does not restart pods.
func TestAboutText_StaysWhenManifestReplacesWorkload(t *testing.T) {
	namespace, deployment, vs := settled(t, byKubectl("create"))
	key := meta.AnnotationAbout(meta.Manager("logs"))
	about := func(d *appsv1.Deployment) string { return d.Spec.Template.Annotations[key] }
	require.Contains(t, about(deployment), "VectorSidecar logs")
	earlier := about(deployment)

	const url = "https://wiki.example.com/vector"
	installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}}
	setURL := func(value string) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"`+meta.AnnotationAboutURL+`": `+value+`}}}`))
		require.NoError(t, world.Client.Patch(context.WithoutCancel(t.Context()), installation, patch))
	}
	t.Cleanup(func() { setURL("null") })
	setURL(`"` + url + `"`)
	set := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: meta.OverlaySet}}
	harness.Until(t, world, set, "the URL", func(s *v1alpha1.OverlaySet) bool {
		return slices.ContainsFunc(s.Spec.PodAnnotations, func(a v1alpha1.OverlayAnnotation) bool { return a.Key == key && strings.Contains(a.Value, url) })
	})

	mustKubectl(t, namespace, manifest("app:1", ""), "replace")
	harness.Until(t, world, deployment, "the operator to take it over again", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.Equal(t, 1, revisions(t, namespace), "the pod template is unchanged")
	mustKubectl(t, namespace, manifest("app:2", ""), "replace")
	harness.Until(t, world, deployment, "the operator to take it over again", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) })
	require.Equal(t, 2, revisions(t, namespace))
	require.Equal(t, earlier, about(deployment))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, deployment, "the changed text", func(d *appsv1.Deployment) bool { return strings.Contains(about(d), url) })
	world.Delete(t, vs)
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
	require.Empty(t, deployment.Spec.Template.Annotations)
}
