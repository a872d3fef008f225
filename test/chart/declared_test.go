// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The values declare two VectorSidecars.
const (
	declaresTwo = `vectorSidecars={"enabled": true, "items": {"shop/logs": {"selector": {"matchLabels": {"logs": "vector"}}}, "pay/logs": {"selector": {"matchLabels": {"logs": "vector"}}}}}`
	declaresOne = `vectorSidecars={"enabled": true, "items": {"pay/logs": {"selector": {"matchLabels": {"logs": "vector"}}}}}`
)

// declaring installs a release that declares VectorSidecars, and waits until they are applied.
func declaring(t *testing.T, args ...string) (cart, till *appsv1.Deployment) {
	t.Helper()
	cart = example.NewDeployment("cart", "shop").WithReplicas(0).Labeled("logs", "vector").Build()
	till = example.NewDeployment("till", "pay").WithReplicas(0).Labeled("logs", "vector").Build()
	world.Create(t, cart, till)
	t.Cleanup(func() {
		for _, deployment := range []*appsv1.Deployment{cart, till} {
			require.NoError(t, client.IgnoreNotFound(cluster.Delete(context.WithoutCancel(t.Context()), deployment)))
		}
	})
	installed(t, chartDir, append([]string{"--set-json", declaresTwo}, args...)...)
	for _, deployment := range []*appsv1.Deployment{cart, till} {
		harness.Until(t, world, deployment, "the sidecar", hasSidecar)
	}
	logs := &v1alpha1.VectorSidecar{}
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "logs"}, logs))
	harness.Until(t, world, logs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionReady) && vs.Status.InjectedDeployments == 1
	})
	require.Equal(t, namespace+"_"+fullname, logs.Labels[meta.LabelDeclaredBy])
	return cart, till
}

// The values declare VectorSidecars, and an upgrade without one of them deletes it. At the uninstallation, the Job
// stops the operator's writes first, so that no deleted one is created again.
func TestChart_ManagesVectorSidecarsOfValues(t *testing.T) {
	cart, till := declaring(t)

	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set-json", declaresOne)

	harness.Until(t, world, cart, "removal", func(d *appsv1.Deployment) bool { return !hasSidecar(d) })
	world.Get(t, till)
	require.True(t, hasSidecar(till))

	helm(t, "uninstall", release, "-n", namespace)

	requireNoTrace(t, till)
}

// The values declare VectorSidecars, and the uninstall Job is disabled. An annotation stops the operator's writes
// before a user deletes them by hand. After helm uninstall, no VectorSidecar and no sidecar is left.
func TestChart_UninstallsByHandIfValuesDeclareObjects(t *testing.T) {
	cart, till := declaring(t, "--set", "uninstall.hook=false")

	kubectl(t, "annotate", "configmap", fullname+"-environments", "-n", namespace, meta.AnnotationUninstalling+"=true")
	kubectl(t, "delete", "vectorsidecars.observability.kontroloop.ai", "--all", "-A", "--timeout=60s")
	helm(t, "uninstall", release, "-n", namespace)

	for _, deployment := range []*appsv1.Deployment{cart, till} {
		world.Get(t, deployment)
		require.False(t, hasSidecar(deployment))
	}
	var left v1alpha1.VectorSidecarList
	require.NoError(t, cluster.List(t.Context(), &left))
	require.Empty(t, left.Items)
}
