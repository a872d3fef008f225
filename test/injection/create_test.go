// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The API server injects the sidecar when a workload of any kind is created, in generation 1, and the operator adopts
// it in the same generation. When the workload is no longer selected, all that was injected is removed.
func TestOverlaySet_InjectsEveryKindAtCreation(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			plain := harness.NewWorkload(kind, "plain", namespace, map[string]string{"team": "shop"})
			object := harness.NewWorkload(kind, "cart", namespace, map[string]string{"logs": "vector"})
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(v1alpha1.WorkloadKind(kind)).Build()
			world.Create(t, vs)
			awaitOverlay(t, vs)
			untilActive(t, object, "vector")
			world.Create(t, plain, object)
			t.Cleanup(func() {
				ctx := context.WithoutCancel(t.Context())
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, object)))
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, plain)))
			})
			require.True(t, has(object, "vector"), "the answer to the create has it")
			require.EqualValues(t, 1, object.GetGeneration())
			require.False(t, has(plain, "vector"))

			harness.Until(t, world, object, "the adoption by the operator", isAdopted("logs"))
			require.EqualValues(t, 1, object.GetGeneration(), "no second rollout: %v", object.GetAnnotations())
			require.Contains(t, object.GetAnnotations()[meta.AnnotationChangeCause], "the API server injected the sidecar")
			require.NotEmpty(t, object.GetAnnotations()[meta.AnnotationInputHash])

			harness.Change(t, world, object, func(of client.Object) { of.SetLabels(map[string]string{"team": "shop"}) })
			harness.Until(t, world, object, "no sidecar", func(of client.Object) bool { return !has(of, "vector") })
			world.Get(t, plain)
			require.Equal(t, template(plain).Spec, template(object).Spec)
			require.Equal(t, template(plain).Annotations, template(object).Annotations)
			require.False(t, isAdopted("logs")(object))
		})
	}
}
