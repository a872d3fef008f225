// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A deleted VectorSidecar stays until a live list has no workload with its sidecar. Many VectorSidecars that are
// deleted together share the lists.
func TestOwnedObjectLister_ListsOnceForManyDeletions(t *testing.T) {
	t.Parallel()
	const sidecars, pages = 40, 3 // 10, 20 and 40 Deployments
	namespace, name := world.Namespace(t), func(i int) string { return fmt.Sprintf("app-%d", i) }
	for i := range sidecars {
		world.Create(t, objects.NewDeployment(name(i), namespace).Labeled("group", name(i)).WithReplicas(0).Build())
		world.Create(t, objects.NewVectorSidecar(name(i), namespace).Selecting("group", name(i)).WithInlineConfig(objects.VectorConfig("first")).Build())
	}
	left := func() []v1alpha1.VectorSidecar {
		var all v1alpha1.VectorSidecarList
		require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
		return all.Items
	}
	harness.Eventually(t, "the sidecars", func() bool {
		for _, vs := range left() {
			if !isReady(&vs) || vs.Status.InjectedDeployments != 1 {
				return false
			}
		}
		return true
	})
	lists := func(kind string) int {
		all := running.Requests.Reads("/namespaces/" + namespace + "/" + kind)
		return len(slices.DeleteFunc(all, func(r harness.Request) bool { return !strings.HasSuffix(r.Path, "/"+kind) }))
	}
	require.Zero(t, lists("deployments"))

	began := time.Now()
	require.NoError(t, world.Client.DeleteAllOf(t.Context(), &v1alpha1.VectorSidecar{}, client.InNamespace(namespace)))
	harness.Eventually(t, "the end of the VectorSidecars", func() bool { return len(left()) == 0 })
	require.Empty(t, companionsIn(t, namespace))

	most := pages * (2 + int(time.Since(began)/time.Second))
	require.Positive(t, lists("deployments"))
	require.LessOrEqual(t, lists("deployments"), most, "in %s", time.Since(began))
	require.LessOrEqual(t, lists("configmaps"), most)
}
