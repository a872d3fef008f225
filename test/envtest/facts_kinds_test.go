// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/corpus"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// applyKind applies to workload cart of a kind with server-side apply. The tree is in the form
// of a Deployment.
func applyKind(t *testing.T, kind *corpus.Kind, manager, namespace string, tree map[string]any, options ...client.PatchOption) (workload.Object, error) {
	t.Helper()
	placed := &unstructured.Unstructured{Object: kind.Placed(tree)}
	placed.SetNamespace(namespace)
	placed.SetName("cart")
	text, err := json.Marshal(placed.Object)
	require.NoError(t, err)
	object := workload.KindByName(kind.Name).New()
	object.SetNamespace(namespace)
	object.SetName("cart")
	return object, world.Client.Patch(t.Context(), object, client.RawPatch(types.ApplyPatchType, text), append(options, client.FieldOwner(manager))...)
}

// template returns the pod template of a workload as JSON.
func template(t *testing.T, object workload.Object) string {
	t.Helper()
	text, err := json.Marshal(workload.PodTemplate(object))
	require.NoError(t, err)
	return string(text)
}

// In every built-in kind that merges lists by key, an apply of the sidecar adds only its items to the pod template,
// and an empty apply removes them again.
func TestApply_MergesPodTemplateInEveryKind(t *testing.T) {
	t.Parallel()
	podOf := func(spec map[string]any) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}
	}
	sidecar := podOf(map[string]any{
		"initContainers": []any{map[string]any{"name": "vector", "image": "registry.example/vector:1", "restartPolicy": "Always"}},
		"containers":     []any{map[string]any{"name": "beside", "image": "registry.example/beside:1"}},
		"volumes":        []any{map[string]any{"name": "spool", "emptyDir": map[string]any{}}},
	})
	taken := podOf(map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/other:1"}}})
	for _, kind := range corpus.Kinds() {
		if !kind.MergesByKey() {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object, err := applyKind(t, kind, owner, namespace, kind.Base(corpus.Logging()))
			require.NoError(t, err)
			before := template(t, object)

			merged, err := applyKind(t, kind, ours, namespace, sidecar)
			require.NoError(t, err, "nobody's field was taken")
			spec := &workload.PodTemplate(merged).Spec
			require.Equal(t, "vector", spec.InitContainers[0].Name)
			require.Equal(t, []string{"app", "beside"}, []string{spec.Containers[0].Name, spec.Containers[1].Name}, "the owner's come first")
			require.Equal(t, []string{"logs", "spool"}, []string{spec.Volumes[0].Name, spec.Volumes[1].Name})
			require.Equal(t, object.GetGeneration()+1, merged.GetGeneration())

			harness.Eventually(t, "the same apply to change nothing; the kind's controller may write to the status between the two", func() bool {
				before := merged.GetResourceVersion()
				merged, err = applyKind(t, kind, ours, namespace, sidecar)
				require.NoError(t, err)
				return merged.GetResourceVersion() == before
			})
			require.Equal(t, object.GetGeneration()+1, merged.GetGeneration())

			_, err = applyKind(t, kind, "another", namespace, taken)
			require.True(t, apierrors.IsConflict(err), "%v", err)
			require.ErrorContains(t, err, `conflict with "`+owner+`"`)

			released, err := applyKind(t, kind, ours, namespace, map[string]any{})
			require.NoError(t, err)
			require.Equal(t, before, template(t, released))
			for _, entry := range released.GetManagedFields() {
				require.NotEqual(t, ours, entry.Manager)
			}
		})
	}
}
