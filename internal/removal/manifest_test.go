// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// deployment returns one as its owner has written it.
func deployment(name string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{meta.AnnotationInject: "true", "team": "shop"}}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Spec.Template.Labels = map[string]string{"app": name}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "shop:1"}}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "cache"}}
	return d
}

// injected returns the same with a sidecar that only the pod template's list records.
func injected(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	manager := meta.Manager("logs")
	parts, err := json.Marshal(meta.Parts{Manager: manager, Containers: []string{"vector"}, Volumes: []string{"vector-data"}})
	require.NoError(t, err)
	d := deployment(name)
	d.Annotations[meta.AnnotationInjected] = "logs"
	d.Spec.Template.Annotations = map[string]string{meta.AnnotationParts(manager): string(parts), meta.AnnotationInjectedHash: "abc"}
	pod := &d.Spec.Template.Spec
	pod.Containers = append(pod.Containers, corev1.Container{Name: "vector", Image: "vector:1"})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "vector-data"})
	return d
}

func TestStripLeavesWhatTheOwnerWrote(t *testing.T) {
	merger, err := simulate.New()
	require.NoError(t, err)

	stripped, had, err := Strip(merger, injected(t, "cart"))

	require.NoError(t, err)
	require.True(t, had)
	want := deployment("cart")
	require.Equal(t, want.Annotations, stripped.GetAnnotations(), "to opt in is the team's own")
	template := workload.TemplateOf(stripped)
	require.Empty(t, template.Annotations)
	require.Len(t, template.Spec.Containers, 1)
	require.Equal(t, "app", template.Spec.Containers[0].Name)
	require.Len(t, template.Spec.Volumes, 1)
	require.Equal(t, "cache", template.Spec.Volumes[0].Name)
}

func TestStripLeavesAWorkloadWithoutASidecarAsItIs(t *testing.T) {
	given := deployment("cart")

	stripped, had, err := Strip(nil, given) // There is nothing to merge.

	require.NoError(t, err)
	require.False(t, had)
	require.Equal(t, deployment("cart"), stripped)
}

func TestFindTracesFindsAllThatIsLeftInANamespace(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	require.NoError(t, workload.AddToScheme(scheme))
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs-vector"}}
	companion.Label(made, "logs")
	companion.Mark(made)
	theirCopy := made.DeepCopy()
	theirCopy.Name = "copy"
	elsewhere := injected(t, "pay")
	elsewhere.Namespace = "pay"
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}},
		deployment("plain"), injected(t, "cart"), elsewhere, made, theirCopy,
	).Build()

	found, err := FindTraces(t.Context(), cluster, "shop")

	require.NoError(t, err)
	require.False(t, found.None())
	require.Len(t, found.Sidecars, 1)
	require.Len(t, found.Workloads, 1)
	require.Equal(t, "cart", found.Workloads[0].Name)
	require.Equal(t, []client.ObjectKey{{Namespace: "shop", Name: "logs-vector"}}, found.Companions)
	found, err = FindTraces(t.Context(), cluster, "empty")
	require.NoError(t, err)
	require.True(t, found.None())
	found, err = FindTraces(t.Context(), cluster, "")
	require.NoError(t, err)
	require.Len(t, found.Workloads, 2)
}

// An operator that still runs may write between a read and the removal of the finalizer.
func TestAFinalizerGoesWhoeverWritesInBetween(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	require.NoError(t, workload.AddToScheme(scheme))
	sidecar := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs", Finalizers: []string{meta.Finalizer}}}
	writes := 0
	meanwhile := interceptor.Funcs{Patch: func(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if writes++; writes == 1 {
			other := &v1alpha1.VectorSidecar{}
			require.NoError(t, to.Get(ctx, client.ObjectKeyFromObject(object), other))
			other.Annotations = map[string]string{"by": "another"}
			require.NoError(t, to.Update(ctx, other))
		}
		return to.Patch(ctx, object, patch, options...)
	}}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(sidecar).WithInterceptorFuncs(meanwhile).Build()
	ejector := Ejector{Client: cluster, MaxConcurrent: 1}
	require.NoError(t, ejector.release(t.Context(), apply.New(cluster), sidecar))
	require.Equal(t, 2, writes)
	left := &v1alpha1.VectorSidecar{}
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(sidecar), left))
	require.Empty(t, left.Finalizers)
}
