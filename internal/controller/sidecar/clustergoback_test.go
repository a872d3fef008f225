// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// If the CustomResourceDefinition has no status.lastKnownGood, the API server drops the field. The operator writes it
// only once for each version of the definition.
func TestClusters_WriteDroppedLastKnownGoodOnce(t *testing.T) {
	writes := 0
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Name, cluster.UID, cluster.Generation = "logs", "u", 1
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert}
	a := newMemoryAPI(t, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, on client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			writes++
			text, err := patch.Data(object)
			require.NoError(t, err)
			body := map[string]any{}
			require.NoError(t, json.Unmarshal(text, &body))
			require.Contains(t, body["status"], "lastKnownGood")
			delete(body["status"].(map[string]any), "lastKnownGood") //nolint:forcetypeassert // The line above checks it.
			text, err = json.Marshal(body)
			require.NoError(t, err)
			return on.SubResource(resource).Patch(ctx, object, client.RawPatch(patch.Type(), text), options...)
		},
	}, cluster)
	a.clusters.sidecars = sidecarcache.New(a, "", true)
	known := a.clusters.getOrCreate(cluster.Name)
	pass := func() {
		trial := lastgood.NewAttempt(asVectorSidecar(cluster))
		known.reports["shop"] = &status.InNamespace{Trial: trial}
		known.setReport("shop", &lastgood.NamespaceReport{Attempt: trial, IsSettled: true, IsRunning: true})
		own, _ := a.clusters.keepSpecHistory(a.rollouts, cluster, known)
		require.NoError(t, a.clusters.writeStatus(t.Context(), cluster, known, own, nil, ""))
	}

	pass()
	require.Equal(t, 1, writes)
	pass()
	require.Equal(t, 1, writes, "it was dropped")
	cluster.Generation = 2
	pass()
	require.Equal(t, 2, writes, "the next version is tried")
}

// The operator computes the status of a ClusterVectorSidecar. Before it writes that status, a reconcile of a namespace
// records a revert. The write is rejected, because it would remove the record.
func TestClusters_RejectsStatusComputedBeforeRevert(t *testing.T) {
	a := newMemoryAPI(t, interceptor.Funcs{}, clusterSidecar("logs", "vector", "shop"))
	cluster, err := a.clusters.sidecars.Cluster(t.Context(), "logs")
	require.NoError(t, err)
	previous := cluster.Status.DeepCopy()
	require.NoError(t, a.clusters.updateCluster(t.Context(), "logs", func(cluster *v1alpha1.ClusterVectorSidecar) error {
		cluster.Status.Reverted = &v1alpha1.RevertedSpec{Generation: 1}
		return nil
	}))

	cluster.Status.SelectedNamespaces = 1
	require.ErrorIs(t, a.clusters.writeStatusIfChanged(t.Context(), previous, cluster), apply.ErrStale)
	cluster, err = a.clusters.sidecars.Cluster(t.Context(), "logs")
	require.NoError(t, err)
	require.NotNil(t, cluster.Status.Reverted)
	previous = cluster.Status.DeepCopy()
	cluster.Status.SelectedNamespaces = 1
	require.NoError(t, a.clusters.writeStatusIfChanged(t.Context(), previous, cluster))
}
