// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// copyMarks applies annotations with the field manager of a deployer, as an exported manifest does.
func copyMarks(t *testing.T, to *appsv1.Deployment, annotations, ofPods map[string]string) {
	t.Helper()
	manifest := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": to.Name, "namespace": to.Namespace, "annotations": annotations},
		"spec":     map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": ofPods}}},
	}
	text, err := json.Marshal(manifest)
	require.NoError(t, err)
	require.NoError(t, world.Client.Patch(t.Context(), to, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("deployer"), client.ForceOwnership))
}

// hasMarks reports whether a Deployment or its pods have an annotation of the operator.
func hasMarks(d *appsv1.Deployment) bool {
	for _, annotations := range []map[string]string{d.Annotations, d.Spec.Template.Annotations} {
		for key := range annotations {
			if meta.IsMark(key) {
				return true
			}
		}
	}
	return false
}

// The annotations of a sidecar are removed with it, whichever field manager has written them.
func TestMarks_AreRemovedWithAnyFieldManager(t *testing.T) {
	t.Parallel()
	logs := meta.Manager("logs")
	further := map[string]string{
		meta.AnnotationOrphaned(logs): "true", meta.AnnotationFailedBefore(logs): "true",
		meta.AnnotationWaiting(logs): "2026-01-02T03:04:05Z/00000001/0000000000000001", meta.AnnotationKeyFor(meta.AnnotationInjectedHash, "logs"): "abc",
	}
	for name, remove := range map[string]func(t *testing.T, d *appsv1.Deployment, vs *v1alpha1.VectorSidecar){
		"deletion": func(t *testing.T, _ *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			t.Helper()
			require.NoError(t, world.Client.Delete(t.Context(), vs))
		},
		"another selector": func(t *testing.T, _ *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			t.Helper()
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels = map[string]string{"logs": "other"} })
		},
		"disabled": func(t *testing.T, _ *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
			t.Helper()
			harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = ptr.To(false) })
		},
		"opt-out": func(t *testing.T, d *appsv1.Deployment, _ *v1alpha1.VectorSidecar) {
			t.Helper()
			harness.Change(t, world, d, func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInject] = "false" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)
			annotations := maps.Clone(deployment.Annotations)
			maps.DeleteFunc(annotations, func(key, _ string) bool { return !meta.IsMark(key) })
			maps.Copy(annotations, further)
			ofPods := maps.Clone(deployment.Spec.Template.Annotations)
			ofPods[meta.AnnotationInjectedEnv(meta.Manager("logs"))] = "app LOG=1"
			copyMarks(t, deployment, annotations, ofPods)

			remove(t, deployment, vs)

			harness.Until(t, world, deployment, "no sidecar and no marks", func(d *appsv1.Deployment) bool { return !isInjected(d) && !hasMarks(d) })
			if name == "deletion" {
				harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
			}
		})
	}
}

// Workloads have annotations of a VectorSidecar that selects nothing. Its deletion removes them. Before, it writes
// nothing.
func TestMarks_AreRemovedWithTheirVectorSidecar(t *testing.T) {
	t.Parallel()
	logs := meta.Manager("logs")
	for name, marks := range map[string]struct{ annotations, ofPods map[string]string }{
		"plain keys": {map[string]string{meta.AnnotationInjected: "true", meta.AnnotationInjectedHash: "abc", meta.AnnotationSidecarName: "logs"}, nil},
		"orphaned":   {map[string]string{meta.AnnotationOrphaned(logs): "true"}, nil},
		"of pods": {map[string]string{meta.AnnotationWrittenBy(logs): "other/vso"}, map[string]string{
			meta.AnnotationInjectedItems(logs): meta.InjectedItems{Manager: logs, Containers: []string{"vector"}}.String(), meta.AnnotationInjectedEnv(logs): "app LOG=127.0.0.1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := objects.NewDeployment("cart", namespace).Build()
			world.Create(t, deployment)
			copyMarks(t, deployment, marks.annotations, marks.ofPods)
			harness.Until(t, world, deployment, "its rollout", isRolledOut)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "none").Build()
			world.Create(t, vs)
			harness.Until(t, world, vs, "the finalizer", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Finalizers) > 0 })
			world.Get(t, deployment)
			require.True(t, hasMarks(deployment), "the deployer would restore them")

			require.NoError(t, world.Client.Delete(t.Context(), vs))

			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
			world.Get(t, deployment)
			require.False(t, hasMarks(deployment))
			require.Empty(t, workload.ReadOwnership(deployment).Traces)
		})
	}
}

// Another writer changes the workload right before the annotations are removed. The removal is repeated, and the
// deletion of the VectorSidecar waits for it.
func TestMarks_AreRemovedDespiteConcurrentWrite(t *testing.T) {
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Build()
	world.Create(t, deployment)
	copyMarks(t, deployment, map[string]string{meta.AnnotationInjected: "true", meta.AnnotationSidecarName: "logs"}, nil)
	harness.Until(t, world, deployment, "its rollout", isRolledOut)
	once := sync.OnceValue(func() error {
		return world.Client.Patch(context.Background(), deployment.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/changed":"yes"}}}`)))
	})
	way := &harness.Interruption{Path: "/namespaces/" + namespace + "/deployments/cart", Do: func(context.Context) error { return once() }}
	way.IsOn.Store(true)
	world.RunThrough(t, &running, options, way)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "none").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "the finalizer", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Finalizers) > 0 })

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
	require.Equal(t, []int{http.StatusOK, http.StatusConflict}, way.Codes())
	world.Get(t, deployment)
	require.False(t, hasMarks(deployment))
}

// Another field manager has copied the orphan annotation, which is then ignored. When the sidecar is orphaned, the
// operator writes its own.
func TestMarks_ReplaceCopiedOrphanAnnotation(t *testing.T) {
	t.Parallel()
	logs := meta.Manager("logs")
	deployment, vs := injected(t)
	copyMarks(t, deployment, map[string]string{meta.AnnotationOrphaned(logs): "true"}, nil)
	require.Empty(t, workload.NewView(deployment).Owned[logs].Orphan)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DeletionPolicy = v1alpha1.DeletionOrphan })

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
	world.Get(t, deployment)
	require.True(t, isInjected(deployment))
	require.Equal(t, "true", workload.NewView(deployment).Owned[logs].Orphan)
}
