// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// fleet creates Deployments app-00, app-01, … and waits for their first rollout.
func fleet(t *testing.T, namespace string, size int, change func(*objects.Deployment) *objects.Deployment) []*appsv1.Deployment {
	t.Helper()
	var all []*appsv1.Deployment
	for i := range size {
		deployment := change(objects.NewDeployment(fmt.Sprintf("app-%02d", i), namespace).Labeled("logs", "vector")).Build()
		world.Create(t, deployment)
		all = append(all, deployment)
	}
	return all
}

func asIs(b *objects.Deployment) *objects.Deployment { return b }

// watchUnfinished records the highest number of Deployments in a namespace that were changed by the operator and
// had not finished rolling out, at the same time.
type watchUnfinished struct {
	mu         sync.Mutex
	unfinished map[string]bool
	most       int
}

func newWatchUnfinished(t *testing.T, namespace string) *watchUnfinished {
	t.Helper()
	w := &watchUnfinished{unfinished: map[string]bool{}}
	world.Watch(t, &appsv1.DeploymentList{}, func(object client.Object) {
		if d, ok := object.(*appsv1.Deployment); ok {
			w.see(d)
		}
	}, client.InNamespace(namespace))
	return w
}

func (w *watchUnfinished) see(d *appsv1.Deployment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.unfinished, d.Name)
	if d.Generation > 1 && !isRolledOut(d) {
		w.unfinished[d.Name] = true
	}
	w.most = max(w.most, len(w.unfinished))
}

func (w *watchUnfinished) mostAtOnce() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most
}

// Injections, changes and removals each stay within maxConcurrent.
func TestRolloutSpec_LimitsConcurrentRollouts(t *testing.T) {
	t.Parallel()
	const size = 12
	namespace := world.Namespace(t)
	for _, deployment := range fleet(t, namespace, size, asIs) {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	watch := newWatchUnfinished(t, namespace)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("3").Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "the update of all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Ready == size
	})
	require.LessOrEqual(t, watch.mostAtOnce(), 3)
	require.Positive(t, watch.mostAtOnce())

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
	harness.Until(t, world, vs, "the removal from all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.InjectedDeployments == 0
	})
	require.LessOrEqual(t, watch.mostAtOnce(), 3, "removal is paced too")
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), 2*size)
}

func TestRolloutPaused_PreventsRollouts(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, 2, asIs)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithRolloutPaused().Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Waiting == 2 })
	require.Contains(t, message(vs, meta.ConditionReady), "RolloutPaused: 2 of 2 Deployments are waiting")
	requireRecorded(t, "paused", vs, "Reconciling=True RolloutPaused")
	require.Equal(t, []v1alpha1.WorkloadStatus{
		{Kind: "Deployment", Name: "app-00", State: "Waiting", Reason: meta.ReasonRolloutPaused, Message: "spec.rollout.paused is true"},
		{Kind: "Deployment", Name: "app-01", State: "Waiting", Reason: meta.ReasonRolloutPaused, Message: "spec.rollout.paused is true"},
	}, vs.Status.Workloads)
	require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout.Paused = false })

	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "the sidecar", isInjected)
	}
}

func TestRolloutPaused_DoesNotBlockDeletion(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout = &v1alpha1.RolloutSpec{Paused: true} })

	require.NoError(t, world.Client.Delete(t.Context(), vs))

	harness.Until(t, world, deployment, "removal", isClean)
}

// A workload fails with a changed sidecar. No other workload gets the change.
func TestRolloutFailure_StopsFanOut(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployments := fleet(t, namespace, 4, func(b *objects.Deployment) *objects.Deployment { return b.WithProgressDeadline(1) })
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	// No node is large enough, so the new pods are never scheduled.
	huge := func(s *v1alpha1.SidecarSpec) { s.Resources = resources("1000") }
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("1").Sidecar(huge).Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Failed == 1 })

	require.Contains(t, message(vs, meta.ConditionReady), "RolloutFailed: 1 of 4 Deployments did not finish rolling out")
	require.Equal(t, "True", condition(vs, meta.ConditionStalled))
	require.EqualValues(t, 3, vs.Status.Total().Waiting)
	require.Contains(t, vs.Status.Workloads[1].Message, "waiting because the rollout of Deployment app-00 failed")
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), 1, "the others run on as they were")

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Resources = resources("100m") })
	harness.Until(t, world, vs, "the update of all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Ready == 4
	})
}

func TestOptOutValue_RemovesSidecar(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	in := objects.NewDeployment("in", namespace).Labeled("logs", "vector").Build()
	out := objects.NewDeployment("out", namespace).Labeled("logs", "vector").Annotated(meta.AnnotationInject, "false").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, in, out, vs)

	harness.Until(t, world, vs, "readiness", isUpToDate)
	require.Contains(t, message(vs, meta.ConditionReady), "UpToDate: 1 of 2 Deployments run the current sidecar, 1 skipped")
	require.Equal(t, "out", vs.Status.Workloads[0].Name)
	require.Equal(t, meta.ReasonOptedOut, vs.Status.Workloads[0].Reason)
	world.Get(t, out)
	require.True(t, isClean(out))

	harness.Change(t, world, in, func(d *appsv1.Deployment) { d.Annotations[meta.AnnotationInject] = "false" })
	harness.Until(t, world, in, "removal", isClean)
	harness.Change(t, world, out, func(d *appsv1.Deployment) { delete(d.Annotations, meta.AnnotationInject) })
	harness.Until(t, world, out, "the sidecar", isInjected)
}

func TestVectorSidecar_SkipsPausedDeployments(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Paused().Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Skipped == 1
	})
	require.Equal(t, meta.ReasonWorkloadPaused, vs.Status.Workloads[0].Reason)

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.Paused = false })

	harness.Until(t, world, deployment, "the sidecar", isInjected)
}

func resources(cpu string) *corev1.ResourceRequirements { return objects.Requests(cpu, "64Mi") }
