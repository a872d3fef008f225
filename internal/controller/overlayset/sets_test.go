// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
)

// Every write of an OverlaySet has all sidecars of its namespace. With many VectorSidecars, changes are therefore
// written together, except for removals, which do not wait.
func TestSets_GroupsWritesOfLargeNamespaces(t *testing.T) {
	var crowded []client.Object
	for i := range crowd + 20 {
		vs := &v1alpha1.VectorSidecar{}
		vs.Namespace, vs.Name = "shop", fmt.Sprintf("vector-%03d", i)
		crowded = append(crowded, vs)
	}
	writes := 0
	known := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(known))
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(crowded...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			writes++
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			writes++
			return c.Update(ctx, object, options...)
		},
	}).Build()
	now := time.Now()
	sets := New(Options{
		Cached: api, Live: api, Writer: apply.New(api), Sidecars: sidecarcache.New(api, "", false), Policies: &PolicyAPI{}, Clock: func() time.Time { return now },
	})
	keep := func(n int, why string) time.Duration {
		vs, isOne := crowded[n].(*v1alpha1.VectorSidecar)
		require.True(t, isOne)
		wait, err := sets.Update(t.Context(), vs, &decision.Decision{Left: why})
		require.NoError(t, err)
		return wait
	}
	lefts := func() (all []string) {
		set := &v1alpha1.OverlaySet{}
		require.NoError(t, api.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: meta.OverlaySet}, set))
		for i := range set.Spec.Overlays {
			all = append(all, set.Spec.Overlays[i].SkipReason)
		}
		return all
	}

	for n := range crowd {
		require.Zero(t, keep(n, "first"))
	}
	require.Equal(t, crowd, writes, "a few are written at once, each")
	for n := crowd; n < len(crowded); n++ {
		require.Equal(t, writePause, keep(n, "first"))
		require.Equal(t, writePause, keep(n, "first"), "an event meanwhile does not hurry it")
	}
	require.Equal(t, crowd, writes)
	now = now.Add(writePause)
	require.Zero(t, keep(crowd, "first"))
	require.Equal(t, crowd+1, writes)
	require.Len(t, lefts(), len(crowded), "all that waited")
	for n := range crowded {
		require.Zero(t, keep(n, "first"))
	}
	require.Equal(t, crowd+1, writes)

	sets.spaces["shop"].bySidecar["vector-003"] = overlayset.SidecarOverlays{Overlays: []v1alpha1.Overlay{{VectorSidecar: "vector-003"}}}
	require.Equal(t, writePause, keep(4, "second"))
	require.Zero(t, keep(3, "refused"), "what is withdrawn does not wait")
	require.Equal(t, crowd+2, writes)
	require.Equal(t, "refused", lefts()[3])
	require.Equal(t, "second", lefts()[4], "nor does what comes along")
	crowded[5].(*v1alpha1.VectorSidecar).Spec.Enabled = new(bool)
	require.NoError(t, api.Update(t.Context(), crowded[5]))
	require.Zero(t, keep(5, ""), "nor does one that is disabled")
	require.Len(t, lefts(), len(crowded)-1)

	require.Equal(t, writePause, keep(6, "second"))
	now = now.Add(-time.Hour)
	require.Zero(t, keep(6, "second"), "another clock makes it no longer")
}
