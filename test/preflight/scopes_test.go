// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The operator sends dry runs in each namespace of a ClusterVectorSidecar. If one namespace rejects the sidecar, the
// other namespaces still receive it.
func TestPreflight_ChecksEachNamespaceOfClusterVectorSidecar(t *testing.T) {
	t.Parallel()
	of := strings.ToLower(strings.ReplaceAll(t.Name(), "_", "-"))
	narrow, wide := world.Namespace(t, "team", of), world.Namespace(t, "team", of)
	limit := quota(t, narrow, "40Mi")
	refused, passes := cart(narrow).Build(), cart(wide).Build()
	world.Create(t, refused, passes)
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: of}}
	cluster.Spec.VectorSidecarSpec = logs("").Build().Spec
	cluster.Spec.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{"team": of}}
	world.Create(t, cluster)
	t.Cleanup(func() { _ = world.Client.Delete(context.WithoutCancel(t.Context()), cluster) })
	harness.Until(t, world, passes, "the sidecar", has)
	harness.Until(t, world, cluster, "a message about the quota", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return len(c.Status.Workloads) == 1 && c.Status.Workloads[0].Namespace == narrow && c.Status.Workloads[0].Reason == meta.ReasonPreflightRejected
	})
	requireUnchanged(t, refused)
	for namespace, pods := range map[string]int{narrow: 2, wide: 1} {
		tried, _ := countRequests(running, namespace, "deployments")
		require.Equal(t, 1, tried)
		tried, written := countRequests(running, namespace, "pods")
		require.Equal(t, []int{pods, 0}, []int{tried, written})
	}

	widen(t, limit)
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationReconcileAt, "now")
	})
	harness.Until(t, world, refused, "the sidecar", has)
	world.Delete(t, cluster)
	harness.Until(t, world, refused, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d) })
}

// With watchNamespaces, the operator has Roles in these namespaces only, and they are sufficient for preflight. The
// test is not parallel, because it restarts the operator.
func TestPreflight_SupportsWatchedNamespaces(t *testing.T) {
	require.NoError(t, running.Stop())
	narrow, wide, elsewhere := world.Namespace(t), world.Namespace(t), world.Namespace(t)
	scoped, err := world.Scoped(t.Context(), plane, kinds, narrow, wide)
	require.NoError(t, err)
	only := options
	only.WatchNamespaces, only.ClusterSidecars = []string{narrow, wide}, false
	limit := quota(t, narrow, "40Mi")
	refused, passes, other := cart(narrow).Build(), cart(wide).Build(), cart(elsewhere).Build()
	vs := logs(narrow).Build()
	world.Create(t, refused, passes, other, vs, logs(wide).Build(), logs(elsewhere).Build())
	running = scoped.RunOperator(only)
	require.Contains(t, awaitRejection(t, vs), "exceeded quota: compute")
	requireUnchanged(t, refused)
	harness.Until(t, world, passes, "the sidecar", has)
	requireUnchanged(t, other)
	widen(t, limit)
	requestReconcile(t, vs, "now")
	harness.Until(t, world, refused, "the sidecar", has)
	for _, namespace := range []string{narrow, wide} {
		_, written := countRequests(running, namespace, "pods")
		require.Zero(t, written)
	}
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
}

// Only the leading replica sends dry runs. When another replica leads, it sends one dry run for equal workloads, and
// a rejected sidecar stays rejected. The test is not parallel, because it restarts the operator.
func TestPreflight_KeepsResultsAcrossLeaders(t *testing.T) {
	require.NoError(t, running.Stop())
	const count = 12
	namespace, narrow := world.Namespace(t), world.Namespace(t)
	createSimilarDeployments(t, namespace, count)
	quota(t, narrow, "40Mi")
	refused := cart(narrow).Build()
	elected := options
	elected.LeaderElect, elected.LeaderElectionID = true, harness.Account
	elected.LeaseDuration, elected.RenewDeadline, elected.RetryPeriod = 15*time.Second, 10*time.Second, time.Second
	first := world.RunOperator(elected)
	held, vs := logs(narrow).Build(), logs(namespace).WithMaxConcurrent("1").WithSoak(200*time.Millisecond).Build()
	world.Create(t, refused, held, vs)
	awaitRejection(t, held)
	next := world.RunOperator(elected)
	t.Cleanup(func() { // Whatever fails, the tests after this one have one operator.
		require.NoError(t, errors.Join(first.Stop(), next.Stop()))
		running = world.RunOperator(options)
	})
	harness.Eventually(t, "the change in some workloads", func() bool { return injected(t, namespace) >= 3 })
	require.Empty(t, writesIn(next, namespace, narrow), "until it leads it does nothing")
	require.NoError(t, first.Stop()) // The next one leads at once.
	require.Less(t, injected(t, namespace), count)
	harness.Until(t, world, vs, "the change in all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == count
	})
	harness.Eventually(t, "another attempt of the rejected write", func() bool { tried, _ := countRequests(next, narrow, "pods"); return tried == 2 })
	for _, one := range []*harness.Operator{first, next} {
		tried, _ := countRequests(one, namespace, "deployments")
		require.Equal(t, 1, tried)
		tried, _ = countRequests(one, namespace, "pods")
		require.Equal(t, 1, tried)
	}
	requireUnchanged(t, refused)
	var all appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
	for i := range all.Items {
		require.EqualValues(t, 2, all.Items[i].Generation, "each is written once")
	}
}

func writesIn(o *harness.Operator, namespaces ...string) (all []harness.Request) {
	for _, namespace := range namespaces {
		all = append(all, o.Requests.Writes("/namespaces/"+namespace+"/")...)
	}
	return all
}

// While dry runs are rejected, the API server does not inject the sidecar into new workloads either. The test is not
// parallel, because it restarts the operator.
func TestPreflight_BlocksAdmissionInjectionUntilPassed(t *testing.T) {
	require.NoError(t, running.Stop())
	injecting := options
	injecting.AdmissionInjection = true
	narrow, wide := world.Namespace(t), world.Namespace(t)
	limit := quota(t, narrow, "40Mi")
	first, held, vs := cart(narrow).Build(), logs(narrow).Build(), logs(wide).Build()
	world.Create(t, first, held, vs)
	running = world.RunOperator(injecting)
	awaitRejection(t, held)
	overlay := func(of *v1alpha1.VectorSidecar, is func(*v1alpha1.Overlay) bool) {
		t.Helper()
		set := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: meta.OverlaySet}}
		harness.Eventually(t, "its overlay", func() bool {
			return world.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set) == nil && len(set.Spec.Overlays) == 1 && is(&set.Spec.Overlays[0])
		})
	}
	isOffered := func(o *v1alpha1.Overlay) bool { return o.SkipReason == "" }
	putIn := func(namespace string) func() bool {
		return func() bool {
			trial := cart(namespace).Build()
			trial.Name = "trial"
			return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial)
		}
	}
	overlay(vs, isOffered)
	harness.Eventually(t, "the injection by the API server", putIn(wide))
	overlay(held, func(o *v1alpha1.Overlay) bool {
		return strings.Contains(o.SkipReason, "rejected pods with this sidecar in a dry run")
	})
	require.False(t, putIn(narrow)(), "its pods would be refused")
	second := cart(wide).Build()
	world.Create(t, second)
	require.True(t, has(second), "in the owner's request")
	harness.Until(t, world, vs, "the adoption by the operator", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == 1
	})
	world.Get(t, second)
	require.EqualValues(t, 1, second.Generation)
	tried, written := countRequests(running, wide, "pods")
	require.Equal(t, []int{0, 0}, []int{tried, written}, "to take over starts no pod that could be refused")
	requireUnchanged(t, first)

	widen(t, limit)
	requestReconcile(t, held, "now")
	harness.Until(t, world, first, "the sidecar", has)
	overlay(held, isOffered)
	harness.Eventually(t, "the injection by the API server", putIn(narrow))
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
}
