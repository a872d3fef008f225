// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// saidWithin is the maximum time until blocked pods are reported, on a slow machine. The progress deadline is ten
// minutes.
const saidWithin = 20 * time.Second

// quota rejects a second pod in a namespace, and waits until it is active.
func quota(t *testing.T, namespace string) {
	t.Helper()
	object := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
	}
	world.Create(t, object)
	harness.Until(t, world, object, "the usage in its status", func(q *corev1.ResourceQuota) bool {
		used := q.Status.Used[corev1.ResourcePods]
		return used.Value() == 1
	})
}

// limits limits each container to a few megabytes.
func limits(t *testing.T, namespace string) {
	t.Helper()
	most := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("5Mi")}
	world.Create(t, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "memory"},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: most}}},
	})
}

// restrict makes Pod Security reject the application's pods, not because of the sidecar.
func restrict(t *testing.T, namespace string) {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	harness.Change(t, world, object, func(n *corev1.Namespace) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, "pod-security.kubernetes.io/enforce", "restricted")
	})
}

func asItIs(*testing.T, string) {}

// Each case is a state of pods that cannot run. The status and an event report it within seconds.
func TestVectorSidecar_ReportsBlockedPodsWithinSeconds(t *testing.T) {
	t.Parallel()
	const image = "registry.example/vector:"
	huge := func(s *v1alpha1.SidecarSpec) { s.Resources = resources("1000") }
	with := func(fate string) func(*v1alpha1.SidecarSpec) {
		return func(s *v1alpha1.SidecarSpec) { s.Image = image + fate }
	}
	for name, test := range map[string]struct {
		prepare func(t *testing.T, namespace string)
		sidecar func(*v1alpha1.SidecarSpec)
		state   v1alpha1.WorkloadState
		reason  string
		says    string
	}{
		"a quota":                       {quota, with("1"), v1alpha1.StatePodsBlocked, meta.ReasonPodsRejected, "exceeded quota"},
		"a LimitRange":                  {limits, with("1"), v1alpha1.StatePodsBlocked, meta.ReasonPodsRejected, "maximum memory usage per Container is 5Mi"},
		"Pod Security":                  {restrict, with("1"), v1alpha1.StatePodsBlocked, meta.ReasonPodsRejected, "violates PodSecurity"},
		"no node":                       {asItIs, huge, v1alpha1.StatePodsBlocked, meta.ReasonUnschedulable, "Insufficient cpu"},
		"no image":                      {asItIs, with("missing"), v1alpha1.StateFailed, meta.ReasonImagePullBackOff, "Back-off pulling image"},
		"no Secret":                     {asItIs, with("misconfigured"), v1alpha1.StateFailed, meta.ReasonCreateContainerConfigError, `secret "token" not found`},
		"it crashes":                    {asItIs, with("crashes"), v1alpha1.StateFailed, meta.ReasonCrashLoopBackOff, "exited with code 78"},
		"its memory":                    {asItIs, with("greedy"), v1alpha1.StateFailed, meta.ReasonOOMKilled, "more memory than its limit"},
		"it dies 2 s after it is ready": {asItIs, with("dies"), v1alpha1.StateFailed, meta.ReasonCrashLoopBackOff, "exited with code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			world.Create(t, deployment)
			harness.Until(t, world, deployment, "its first rollout", isRolledOut)
			test.prepare(t, namespace)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(byDefault).Sidecar(test.sidecar).Build()
			world.Create(t, vs)
			harness.Until(t, world, deployment, "the sidecar", isInjected)
			written := time.Now()

			harness.Until(t, world, vs, "the expected state", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == test.reason
			})

			took := time.Since(written)
			t.Logf("%s is said %.1f s after the write", test.reason, took.Seconds())
			require.Less(t, took, saidWithin)
			told := vs.Status.Workloads[0]
			require.Equal(t, test.state, told.State)
			require.Contains(t, told.Message, test.says)
			require.Contains(t, message(vs, meta.ConditionReady), test.says)
			require.Equal(t, "True", condition(vs, meta.ConditionError))
			requireEvent(t, vs, test.says)
			if test.state == v1alpha1.StatePodsBlocked { // Its own team can change this.
				harness.Eventually(t, "an event on the workload", func() bool { return eventsOf(t, deployment, test.reason) == 1 })
			}
			switch name {
			case "no node":
				requireRecorded(t, "unschedulable", vs, "Reconciling=True Unschedulable")
			case "it crashes":
				requireRecorded(t, "crashing", vs, "Stalled=True RolloutFailed")
			}
		})
	}
}

// A sidecar runs, but is not ready. It fails after the time of its readiness probe, and at least 30 seconds after the
// start of its pod.
func TestVectorSidecar_ReportsUnreadySidecar(t *testing.T) {
	t.Parallel()
	const given = 30 * time.Second
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(byDefault).
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.Image = "registry.example/vector:unready" }).Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	written := time.Now()

	harness.Until(t, world, vs, "the expected state", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonSidecarNotReady
	})

	took := time.Since(written)
	t.Logf("%s is said %.1f s after the write", meta.ReasonSidecarNotReady, took.Seconds())
	require.Greater(t, took, given/2, "it is not said at once; its pods may have been there for a while when the write was seen")
	require.Less(t, took, given+saidWithin)
	require.Equal(t, v1alpha1.StateFailed, vs.Status.Workloads[0].State)
	require.Contains(t, vs.Status.Workloads[0].Message, "all other containers of the pod are")
	require.Equal(t, "True", condition(vs, meta.ConditionError))
}

// A StatefulSet or DaemonSet has no condition for rejected pods. The operator reads the workload's events.
func TestVectorSidecar_ReportsRejectedPodsFromEvents(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"StatefulSet", "DaemonSet"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object := objects.NewWorkload(kind, "db", namespace, map[string]string{"logs": "vector"})
			world.Create(t, object)
			t.Cleanup(func() {
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
			})
			harness.Until(t, world, object, "its pods", func(o client.Object) bool {
				content, _ := workload.Read(o)
				return content.Rollout == workload.RolloutComplete && content.ProgressCount > 0
			})
			limits(t, namespace)
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(v1alpha1.WorkloadKind(kind)).WithSoak(byDefault).Build()
			world.Create(t, vs)

			harness.Until(t, world, vs, "the rejection", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonPodsRejected
			})
			require.Equal(t, v1alpha1.StatePodsBlocked, vs.Status.Workloads[0].State)
			require.Contains(t, vs.Status.Workloads[0].Message, "the API server rejects the creation of pods: ")
			require.Contains(t, vs.Status.Workloads[0].Message, "maximum memory usage per Container is 5Mi")
			require.Equal(t, "True", condition(vs, meta.ConditionError))

			require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.LimitRange{}, client.InNamespace(namespace)))
			harness.Until(t, world, vs, "its pods, and no further message", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) == 0 || vs.Status.Workloads[0].Reason != meta.ReasonPodsRejected
			})
		})
	}
}

// The API server rejects the ReplicaSet of a Deployment, or the Job of a CronJob. A condition or an event states this,
// and the operator reports it.
func TestControllerReason_ReportsRejectedOwnedObjects(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct {
		resource corev1.ResourceName
		says     string
	}{
		"Deployment": {"count/replicasets.apps", "the API server rejects the creation of the ReplicaSet: "},
		"CronJob":    {"count/jobs.batch", "the API server rejects the creation of Jobs: "},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object := objects.NewWorkload(kind, "db", namespace, map[string]string{"logs": "vector"})
			if cronJob, ok := object.(*batchv1.CronJob); ok {
				cronJob.Spec.Schedule = "* * * * *"
			}
			world.Create(t, object)
			t.Cleanup(func() {
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
			})
			harness.Until(t, world, object, "its controller", func(o client.Object) bool {
				content, _ := workload.Read(o)
				return content.Rollout == workload.RolloutComplete && content.Observed
			})
			limit := &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{test.resource: resource.MustParse("0")}},
			}
			world.Create(t, limit)
			harness.Until(t, world, limit, "the usage in its status", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) == 1 })
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(v1alpha1.WorkloadKind(kind)).WithSoak(byDefault).Build()
			world.Create(t, vs)
			if kind == "CronJob" { // Its next run is due within a minute.
				half, isRejected := time.Now().Add(30*time.Second), func() bool { return eventsOf(t, object, "FailedCreate") > 0 }
				harness.Eventually(t, "its rejection, or half a minute", func() bool { return isRejected() || time.Now().After(half) })
				harness.Eventually(t, "its rejection", isRejected)
			}

			harness.Until(t, world, vs, "the rejection", func(vs *v1alpha1.VectorSidecar) bool {
				return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonPodsRejected
			})
			require.Equal(t, v1alpha1.StatePodsBlocked, vs.Status.Workloads[0].State)
			require.Contains(t, vs.Status.Workloads[0].Message, test.says)
			require.Contains(t, vs.Status.Workloads[0].Message, "exceeded quota")
			require.Equal(t, "True", condition(vs, meta.ConditionError))
		})
	}
}

// requireEvent waits for a warning on a VectorSidecar that contains a text.
func requireEvent(t *testing.T, vs *v1alpha1.VectorSidecar, says string) {
	t.Helper()
	harness.Eventually(t, "an event that says "+says, func() bool {
		var all eventsv1.EventList
		require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(vs.Namespace)))
		for i := range all.Items {
			if event := &all.Items[i]; event.Regarding.UID == vs.UID && event.Type == corev1.EventTypeWarning && strings.Contains(event.Note, says) {
				return true
			}
		}
		return false
	})
}

// Pods are blocked for a while. The rollout continues when they can run.
func TestVectorSidecar_ContinuesWhenPodsAreUnblocked(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	quota(t, namespace)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "the rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].Reason == meta.ReasonPodsRejected
	})

	require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.ResourceQuota{}, client.InNamespace(namespace)))

	harness.Until(t, world, vs, "readiness", isUpToDate)
	require.Equal(t, "False", condition(vs, meta.ConditionError))
	require.Empty(t, vs.Status.Workloads)
}

// The operator does not list the pods of ready workloads.
func TestVectorSidecar_DoesNotReadPodsOfReadyWorkloads(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	before := len(running.Requests.Reads("/namespaces/" + vs.Namespace + "/pods"))

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Annotations["touched"] = "yes" })
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.StrictOrder = true })
	harness.Until(t, world, vs, "another reconcile", isUpToDate)

	require.Len(t, running.Requests.Reads("/namespaces/"+vs.Namespace+"/pods"), before)
}
