// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// installation is a release with processes that stand in for its pods.
type installation struct {
	pods *harness.StandIn
	// end ends the operator with a signal.
	end func(os.Signal)
}

// installed installs a chart with Helm 3 and starts the processes of its pods. Cleanup removes leftovers by force.
func installed(t *testing.T, chart string, args ...string) *installation {
	t.Helper()
	return installedBy(t, helm, chart, args...)
}

// installedBy does the same as installed with a version of Helm.
func installedBy(t *testing.T, helm helmVersion, chart string, args ...string) *installation {
	t.Helper()
	t.Cleanup(func() { takeAway(t) })
	helm(t, append([]string{"install", release, chart, "-n", namespace}, args...)...)
	i := &installation{pods: harness.NewStandIn(t, plane, cluster, namespace)}
	i.awaitServed(t)
	i.end = i.pods.Operator(t, fullname)
	i.pods.Hooks(t)
	return i
}

// awaitServed waits until the API server serves VectorSidecars, because a new CustomResourceDefinition takes a
// moment.
func (*installation) awaitServed(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "VectorSidecars to be served", func() bool {
		return cluster.List(t.Context(), &v1alpha1.VectorSidecarList{}) == nil
	})
}

// awaitLeader waits until an operator is the leader.
func (*installation) awaitLeader(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "a leader", func() bool {
		lease := &coordinationv1.Lease{}
		err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fullname}, lease)
		return err == nil && ptr.Deref(lease.Spec.HolderIdentity, "") != ""
	})
}

// restarted stops the operator and starts the operator that is installed now.
func (i *installation) restarted(t *testing.T) {
	t.Helper()
	i.end(os.Interrupt)
	i.end = i.pods.Operator(t, fullname)
}

// requireWorks requires that helm test succeeds.
func requireWorks(t *testing.T, helm helmVersion) {
	t.Helper()
	require.Contains(t, string(helm(t, "test", release, "-n", namespace)), "Phase:          Succeeded")
}

// takeAway removes a release and all objects of its kinds by force, except the CustomResourceDefinition. The next
// release adopts that, which costs the API server much less than deleting and creating it.
func takeAway(t *testing.T) {
	t.Helper()
	_, _, _ = tryHelm(t, "uninstall", release, "-n", namespace, "--no-hooks", "--ignore-not-found")
	ctx := context.WithoutCancel(t.Context())
	for _, left := range []client.ObjectList{&v1alpha1.VectorSidecarList{}, &v1alpha1.ClusterVectorSidecarList{}} {
		if err := cluster.List(ctx, left); err == nil {
			require.NoError(t, apimeta.EachListItem(left, func(item runtime.Object) error {
				one, _ := item.(client.Object)
				unheld := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
				if err := cluster.Patch(ctx, one, unheld); err != nil {
					return client.IgnoreNotFound(err)
				}
				return client.IgnoreNotFound(cluster.Delete(ctx, one))
			}))
		}
	}
	require.NoError(t, cluster.DeleteAllOf(ctx, &appsv1.Deployment{}, client.InNamespace("shop")))
	// These have no owner, and the operator that would have deleted them does not run.
	require.NoError(t, cluster.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("shop"), client.HasLabels{meta.LabelSidecar}))
	// An operator without permissions cannot release its Lease, and the next one would wait until that expires.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fullname}}
	require.NoError(t, client.IgnoreNotFound(cluster.Delete(ctx, lease)))
}

// injected creates an application in namespace shop and waits for its sidecar.
func injected(t *testing.T) (*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	cart := example.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
	logs := example.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	world.Create(t, cart, logs)
	harness.Until(t, world, cart, "the sidecar", hasSidecar)
	harness.Until(t, world, logs, "the sidecar in its status", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.MatchedDeployments == 1 && slices.Contains(vs.Finalizers, meta.Finalizer)
	})
	return cart, logs
}

func hasSidecar(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) > 0 }

// companions returns the ConfigMaps that the operator created in namespace shop.
func companions(t *testing.T) []corev1.ConfigMap {
	t.Helper()
	var found corev1.ConfigMapList
	require.NoError(t, cluster.List(t.Context(), &found, client.InNamespace("shop"), client.HasLabels{meta.LabelSidecar}))
	return found.Items
}

// requireNoTrace requires that the cluster has nothing of the operator except the CustomResourceDefinition.
func requireNoTrace(t *testing.T, cart *appsv1.Deployment) {
	t.Helper()
	world.Get(t, cart)
	require.False(t, hasSidecar(cart), "the sidecar is still there")
	require.NotContains(t, cart.Annotations, meta.AnnotationInjected)
	var left v1alpha1.VectorSidecarList
	require.NoError(t, cluster.List(t.Context(), &left))
	require.Empty(t, left.Items)
	harness.Eventually(t, "the deletion of the generated ConfigMaps", func() bool { return len(companions(t)) == 0 })
	requireReleaseGone(t)
}

// requireReleaseGone requires that no object of the release is left except the CustomResourceDefinition.
func requireReleaseGone(t *testing.T) {
	t.Helper()
	kubectl := func(kinds string) string {
		return kubectl(t, "get", kinds, "-A", "-l", "app.kubernetes.io/instance="+release, "-o", "name")
	}
	harness.Eventually(t, "the deletion of the pods", func() bool { return kubectl("pods") == "" })
	harness.Eventually(t, "the deletion of the Lease", func() bool { return isWithoutLease(t) })
	require.Empty(t, kubectl("deployments,jobs,services,configmaps,serviceaccounts,secrets,roles,rolebindings,clusterroles,clusterrolebindings,"+
		"poddisruptionbudgets,networkpolicies,validatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicies,mutatingadmissionpolicybindings,servicemonitors,podmonitors,prometheusrules"))
}

// isWithoutLease reports whether no Lease exists that the next release would wait for.
func isWithoutLease(t *testing.T) bool {
	t.Helper()
	err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fullname}, &coordinationv1.Lease{})
	require.NoError(t, client.IgnoreNotFound(err))
	return err != nil
}
