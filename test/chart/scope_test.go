// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Two releases with the same name have Roles in one namespace each. Uninstalling one does not change the VectorSidecars
// of the other.
func TestChart_IsolatesReleasesByNamespace(t *testing.T) {
	const second = "other-system"
	installed(t, chartDir, "--set", "watchNamespaces={shop},environment=staging")
	helm(t, "install", release, chartDir, "-n", second, "--create-namespace", "--set", "crds.enabled=false,watchNamespaces={pay},environment=production")
	t.Cleanup(func() { _, _, _ = tryHelm(t, "uninstall", release, "-n", second, "--no-hooks", "--ignore-not-found") })
	other := harness.NewStandIn(t, plane, cluster, second)
	other.Operator(t, fullname)
	other.Hooks(t)

	sidecars := map[string]*v1alpha1.VectorSidecar{}
	for namespace, environment := range map[string]string{"shop": "staging", "pay": "production"} {
		cart := example.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
		logs := example.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
		world.Create(t, cart, logs)
		t.Cleanup(func() { kubectl(t, "delete", "deployment", "cart", "-n", namespace, "--ignore-not-found") })
		harness.Until(t, world, cart, "the sidecar", hasSidecar)
		harness.Until(t, world, logs, "its environment", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment == environment })
		sidecars[namespace] = logs
	}
	for _, system := range []string{namespace, second} {
		require.Contains(t, string(helm(t, "test", release, "-n", system)), "Phase:          Succeeded")
		account := "system:serviceaccount:" + system + ":" + fullname
		for _, right := range [][]string{{"list", "configmaps"}, {"patch", "deployments"}, {"list", "vectorsidecars"}, {"list", "namespaces"}} {
			answer, _, _ := tryKubectl(t, "auth", "can-i", right[0], right[1], "-A", "--as", account)
			require.Equal(t, "no\n", answer, "%s %v in the cluster", account, right)
		}
	}

	helm(t, "uninstall", release, "-n", second)
	err := cluster.Get(t.Context(), client.ObjectKeyFromObject(sidecars["pay"]), sidecars["pay"])
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	world.Get(t, sidecars["shop"])
	require.Nil(t, sidecars["shop"].DeletionTimestamp, "it belongs to the other release")

	helm(t, "uninstall", release, "-n", namespace)
	requireReleaseGone(t)
}

// One of the watched namespaces is deleted with its Role. The operator continues in the others, also after a restart.
// If the namespace is created again, the operator injects there again.
func TestOperator_ContinuesWithoutDeletedNamespace(t *testing.T) {
	gone := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	world.Create(t, gone)
	i := installed(t, chartDir, "--set", "watchNamespaces={shop,gone}")
	injected(t)
	require.NoError(t, cluster.Delete(t.Context(), gone))
	awaitGone(t, gone)
	i.restarted(t)
	after := example.NewDeployment("after", "shop").Labeled("logs", "vector").Build()
	world.Create(t, after)
	harness.Until(t, world, after, "the sidecar", hasSidecar)

	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", "watchNamespaces={shop}")
	again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gone.Name}}
	world.Create(t, again)
	t.Cleanup(func() { kubectl(t, "delete", "namespace", again.Name, "--wait=false") })
	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", "watchNamespaces={shop,gone}")
	harness.Eventually(t, "the operator to end", func() bool { return !i.pods.IsReady(t.Context()) })
	i.restarted(t)
	cart := example.NewDeployment("cart", again.Name).Labeled("logs", "vector").Build()
	world.Create(t, cart, example.NewVectorSidecar("logs", again.Name).Selecting("logs", "vector").Build())
	harness.Until(t, world, cart, "the sidecar", hasSidecar)
}
