// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A policy rejects the injection or the removal. The operator reports it and retries, and succeeds when the policy is
// gone, also after a restart.
func TestVectorSidecar_RetriesRejectedWritesAfterRestart(t *testing.T) {
	const size = 6 // More than there are places.
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, size, asIs)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(time.Second).Build()
	areRefused := func(vs *v1alpha1.VectorSidecar) bool {
		are := func(one v1alpha1.WorkloadStatus) bool { return one.State == v1alpha1.StateRejected }
		return len(vs.Status.Workloads) == size && !slices.ContainsFunc(vs.Status.Workloads, func(one v1alpha1.WorkloadStatus) bool { return !are(one) })
	}
	// stays requires that all writes are rejected and reported, also by the next operator.
	stays := func(what string) {
		harness.Until(t, world, vs, what, areRefused)
		restart(t)
		before := vs.DeepCopy()
		vs.Status.Workloads = nil
		require.NoError(t, world.Client.Status().Patch(t.Context(), vs, client.MergeFrom(before)))
		harness.Until(t, world, vs, what+" by the next operator", areRefused)
		require.Contains(t, message(vs, meta.ConditionReady), "templates are frozen")
		require.Equal(t, "True", condition(vs, meta.ConditionError))
		require.Contains(t, vs.Finalizers, meta.Finalizer)
	}

	allow := deny(t, deployments[0], metav1.StatusReasonForbidden)
	world.Create(t, vs)
	stays("all writes to be refused")
	allow()
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "the sidecar", isInjected)
		require.EqualValues(t, 2, deployment.Generation)
	}
	harness.Until(t, world, vs, "readiness", isReady)

	allow = deny(t, deployments[0], metav1.StatusReasonForbidden)
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	stays("all removals to be refused")
	allow()
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
	for _, deployment := range deployments {
		world.Get(t, deployment)
		require.True(t, isClean(deployment))
		require.EqualValues(t, 3, deployment.Generation)
	}
}
