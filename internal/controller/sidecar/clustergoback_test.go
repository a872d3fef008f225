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

// The reconcile of a namespace requests a revert, and the reconcile of the ClusterVectorSidecar writes it once.
func TestClusters_WriteRequestedRevertOnce(t *testing.T) {
	cluster := clusterSidecar("logs", "vector", "shop")
	cluster.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "good", Spec: "{}"}
	a := newMemoryAPI(t, interceptor.Funcs{}, cluster)
	current := func() *v1alpha1.ClusterVectorSidecar {
		found, err := a.clusters.sidecars.Cluster(t.Context(), "logs")
		require.NoError(t, err)
		return found
	}
	sidecar, err := a.clusters.sidecars.Get(t.Context(), sidecarcache.KeyIn("shop", "logs"))
	require.NoError(t, err)
	reverted := &v1alpha1.RevertedSpec{Generation: 1, Digest: lastgood.Digest(&sidecar.Spec), FailedWorkloads: 1}

	go func() { _ = a.clusters.events.Start(t.Context()) }()
	a.clusters.requestRevert(sidecar, reverted, "Deployment web: OOMKilled")
	require.Nil(t, current().Status.Reverted)
	require.NoError(t, a.clusters.revertSpec(t.Context(), current(), a.clusters.getOrCreate("logs")))
	require.Equal(t, reverted.Digest, current().Status.Reverted.Digest)
	require.Contains(t, <-a.events.Events, "Deployment web: OOMKilled")
	written := current()
	require.NoError(t, a.clusters.revertSpec(t.Context(), written.DeepCopy(), a.clusters.getOrCreate("logs")))
	require.Equal(t, written, current(), "the request is for the spec before the revert")
}
