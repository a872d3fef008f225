// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// largest creates a Deployment that fits into etcd without a sidecar, and not with one.
func largest(t *testing.T, namespace string) *appsv1.Deployment {
	t.Helper()
	const limit, sidecar = 3 << 19, 1000 // Of a request to etcd, and less than a sidecar adds.
	for size := limit; size > 0; size -= sidecar {
		deployment := objects.NewDeployment("large", namespace).WithReplicas(0).Labeled("logs", "vector").Build()
		deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LARGE", Value: strings.Repeat("x", size)}}
		if err := world.Client.Create(t.Context(), deployment); err == nil {
			return deployment
		}
	}
	require.Fail(t, "no Deployment is small enough")
	return nil
}

// If a workload is too large for etcd with the sidecar, the operator reports it and does not retry until the
// workload changes. Other workloads continue.
func TestVectorSidecar_ReportsTooLargeWorkload(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	large := largest(t, namespace)
	small := objects.NewDeployment("small", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	// The Deployment controller changes each new Deployment, and a change would cause a retry.
	harness.Until(t, world, large, "its ReplicaSet", func(d *appsv1.Deployment) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == "NewReplicaSetAvailable" })
	})
	world.Create(t, small, vs)

	harness.Until(t, world, vs, "the reported message", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, meta.ReasonApplyRejected+": applying to Deployment "+namespace+"/large: "))
	require.Contains(t, message(vs, meta.ConditionReady), "exceeds the size limit of etcd (1.5 MiB by default); make the object smaller")
	harness.Until(t, world, small, "its sidecar", isInjected)
	writes := len(running.Requests.Writes("/namespaces/" + namespace + "/deployments/large"))

	harness.Change(t, world, small, func(d *appsv1.Deployment) { d.Labels["logs"] = "no" })
	harness.Until(t, world, small, "no sidecar", isClean)
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments/large"), writes, "it is not tried again")

	harness.Change(t, world, large, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = nil })
	harness.Until(t, world, large, "its sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isUpToDate)
}
