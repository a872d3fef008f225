// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A namespace has twice as many VectorSidecars with an unused companion, and twice as many ReplicaSets. Each list needs
// one more page, but the number of lists stays the same.
func TestTracker_ListsOncePerNamespace(t *testing.T) {
	t.Parallel()
	// pages is the maximum number of pages of 10, 20, 40 ... ReplicaSets in one list: each Deployment has three.
	for sidecars, pages := range map[int]int{20: 3, 40: 4} {
		t.Run(fmt.Sprint(sidecars), func(t *testing.T) {
			t.Parallel()
			// lists is the maximum number of lists in a duration: one per five seconds.
			lists := func(took time.Duration) int { return 2 + int(took/(5*time.Second)) }
			namespace, name := world.Namespace(t), func(i int) string { return fmt.Sprintf("app-%d", i) }
			for i := range sidecars {
				world.Create(t, objects.NewDeployment(name(i), namespace).Labeled("group", name(i)).WithReplicas(0).Build())
				world.Create(t, objects.NewVectorSidecar(name(i), namespace).Selecting("group", name(i)).WithInlineConfig(objects.VectorConfig("first")).Build())
			}
			haveFinished := func() bool {
				var all v1alpha1.VectorSidecarList
				require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
				return !slices.ContainsFunc(all.Items, func(vs v1alpha1.VectorSidecar) bool {
					return !isReady(&vs) || vs.Status.ObservedGeneration != vs.Generation || vs.Status.InjectedDeployments != 1
				})
			}
			harness.Eventually(t, "the sidecars", haveFinished)

			began := time.Now()
			for i := range sidecars {
				vs := objects.NewVectorSidecar(name(i), namespace).Build()
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig("second") })
			}
			harness.Eventually(t, "the other configuration", haveFinished)
			require.Len(t, companionsIn(t, namespace), 2*sidecars, "the workloads can be rolled back to the old ones")
			for i := range sidecars {
				d := objects.NewDeployment(name(i), namespace).Build()
				harness.Change(t, world, d, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32) })
			}
			harness.Eventually(t, "the deletion of the old generated ConfigMaps", func() bool { return len(companionsIn(t, namespace)) == sidecars })

			reads := len(running.Requests.Reads("/namespaces/" + namespace + "/replicasets"))
			require.Positive(t, reads)
			require.LessOrEqual(t, reads, pages*lists(time.Since(began)), "in %s", time.Since(began))
		})
	}
}
