// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// The API server drops status.lastKnownGood if the CustomResourceDefinition does not have the field. The operator
// then writes the field only once for each version.
func TestClusters_WritesDroppedLastKnownGoodOnce(t *testing.T) {
	writes := 0
	a := newMemoryAPI(t, interceptor.Funcs{
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			writes++
			if cluster, isOne := object.(*v1alpha1.ClusterVectorSidecar); isOne {
				require.NotNil(t, cluster.Status.LastKnownGood)
				cluster.Status.LastKnownGood = nil
			}
			return nil
		},
	})
	a.clusters.clusterLister = &clusterLister{client: a, statuses: newClusterStatuses()}
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Name, cluster.UID, cluster.Generation = "logs", "u", 1
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert}
	known := a.clusters.of(cluster.Name)
	pass := func() {
		trial := lastgood.TrialOf(everywhere(cluster))
		known.seen["shop"] = &status.InNamespace{Trial: trial}
		known.setPart("shop", &lastgood.Part{Trial: trial, IsSettled: true, IsRunning: true})
		own, _ := a.clusters.keepOwn(a.stages, cluster, known)
		require.NoError(t, a.clusters.tell(t.Context(), cluster, known, own, nil, ""))
	}

	pass()
	require.Equal(t, 1, writes)
	pass()
	require.Equal(t, 1, writes, "it was dropped")
	cluster.Generation = 2
	pass()
	require.Equal(t, 2, writes, "the next version is tried")
}
