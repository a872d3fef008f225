// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// asWorkload returns a workload's own type.
func asWorkload(t *testing.T, object client.Object) workload.Object {
	t.Helper()
	one, isOne := workload.ToObject(object)
	require.True(t, isOne)
	return one
}

// carriesVector reports whether the pod template of a workload of any kind has the sidecar.
func carriesVector(object client.Object) bool {
	one, _ := workload.ToObject(object)
	return slices.ContainsFunc(workload.PodTemplate(one).Spec.InitContainers, func(c corev1.Container) bool { return c.Name == "vector" })
}

// kindStatus returns the counts of a kind in a status.
func kindStatus(vs *v1alpha1.VectorSidecar, kind string) v1alpha1.KindStatus {
	at := slices.IndexFunc(vs.Status.Kinds, func(of v1alpha1.KindStatus) bool { return string(of.Kind) == kind })
	if at < 0 {
		return v1alpha1.KindStatus{}
	}
	return vs.Status.Kinds[at]
}

// plainly returns the content of a workload without versions, times and status.
func plainly(t *testing.T, object client.Object) map[string]any {
	t.Helper()
	one := asWorkload(t, object)
	var ours []string
	for _, entry := range one.GetManagedFields() {
		if meta.IsManager(entry.Manager) || entry.Manager == meta.Operator {
			ours = append(ours, entry.Manager)
		}
	}
	annotations := map[string]string{}
	for key, value := range one.GetAnnotations() {
		if !strings.HasPrefix(key, "deployment.kubernetes.io/") && !strings.HasPrefix(key, "deprecated.daemonset.") {
			annotations[key] = value
		}
	}
	return map[string]any{"labels": one.GetLabels(), "annotations": annotations, "template": *workload.PodTemplate(one), "ours": ours}
}

// Each kind with a mutable pod template gets the sidecar with one write, and is counted in the status. After the
// removal, it is unchanged.
func TestVectorSidecar_InjectsAndRestoresEveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range objects.WorkloadKinds {
		if kind == "Job" {
			continue // Its template cannot change.
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			object := objects.NewWorkload(kind, "cart", namespace, map[string]string{"team": "shop"})
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For(v1alpha1.WorkloadKind(kind)).Build()
			world.Create(t, object, vs)
			t.Cleanup(func() {
				require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
			})
			harness.Until(t, world, vs, "a first status", isReady)
			require.Equal(t, "NoMatch: the selector matches no "+kind+" of the namespace", message(vs, meta.ConditionReady))
			world.Get(t, object)
			before, generation := plainly(t, object), object.GetGeneration()

			relabel := func(value string) {
				harness.Change(t, world, object, func(of client.Object) {
					labels := map[string]string{"team": "shop"}
					if value != "" {
						labels["logs"] = value
					}
					of.SetLabels(labels)
				})
			}
			relabel("vector")
			harness.Until(t, world, object, "the sidecar", carriesVector)
			require.Equal(t, generation+1, object.GetGeneration(), "one write, one rollout")
			harness.Until(t, world, vs, "the status", func(vs *v1alpha1.VectorSidecar) bool {
				of := kindStatus(vs, kind)
				return isReady(vs) && of.Matched == 1 && of.Injected == 1 && of.Ready+of.PodsOutdated == 1
			})
			require.EqualValues(t, 1, vs.Status.MatchedWorkloads)
			require.EqualValues(t, 1, vs.Status.InjectedWorkloads)
			if kind != "Deployment" {
				require.Zero(t, vs.Status.MatchedDeployments)
				require.Zero(t, vs.Status.InjectedDeployments)
			}
			world.Get(t, object)
			require.Equal(t, generation+1, object.GetGeneration())

			relabel("")
			harness.Until(t, world, object, "no sidecar", func(of client.Object) bool { return !carriesVector(of) })
			harness.Until(t, world, vs, "a status without the message", func(vs *v1alpha1.VectorSidecar) bool {
				return isReady(vs) && len(vs.Status.Kinds) == 0 && vs.Status.InjectedWorkloads == 0
			})
			world.Get(t, object)
			require.Equal(t, before, plainly(t, object))
		})
	}
}

// With the strategy OnDelete, old pods stay until a user deletes them. The status reports them, and the rollout is
// finished.
func TestVectorSidecar_ReportsOutdatedPodsOfOnDelete(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	object := objects.NewWorkload("StatefulSet", "db", namespace, map[string]string{"logs": "vector"})
	set, isSet := object.(*appsv1.StatefulSet)
	require.True(t, isSet)
	set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	set.Spec.Replicas = ptr.To[int32](2)
	world.Create(t, set)
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), set)))
	})
	harness.Until(t, world, set, "its pods", func(set *appsv1.StatefulSet) bool { return set.Status.AvailableReplicas == 2 })
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("StatefulSet").Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "the state", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && kindStatus(vs, "StatefulSet").PodsOutdated == 1
	})
	require.EqualValues(t, 1, vs.Status.InjectedWorkloads)
	require.Zero(t, vs.Status.ReadyWorkloads)
	require.Equal(t, v1alpha1.StatePodsOutdated, vs.Status.Workloads[0].State)
	require.Equal(t, "StatefulSet", vs.Status.Workloads[0].Kind)
	require.Contains(t, vs.Status.Workloads[0].Message, "OnDelete")
	require.Contains(t, vs.Status.Workloads[0].Message, "2 pods run the previous template")

	require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(namespace), client.MatchingLabels{"app": "db"}, client.GracePeriodSeconds(0)))
	harness.Until(t, world, vs, "the new pods", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && kindStatus(vs, "StatefulSet").Ready == 1
	})
}

// The operator does not inject into Jobs and reports the reason. A Job of a CronJob does not count as a workload.
func TestVectorSidecar_RejectsJobs(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	labels := map[string]string{"logs": "vector"}
	one := objects.NewWorkload("Job", "import", namespace, labels)
	cron := objects.NewWorkload("CronJob", "report", namespace, nil)
	world.Create(t, one, cron)
	run := objects.NewWorkload("Job", "report-1", namespace, labels)
	run.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))})
	world.Create(t, run)
	t.Cleanup(func() {
		for _, object := range []client.Object{one, run, cron} {
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object, client.PropagationPolicy(metav1.DeletePropagationBackground))))
		}
	})
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Job", "CronJob").Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "a rejection", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Status.Workloads) == 1 })
	require.Equal(t, v1alpha1.StateBlocked, vs.Status.Workloads[0].State)
	require.Equal(t, "import", vs.Status.Workloads[0].Name)
	require.Equal(t, meta.ReasonTemplateImmutable, vs.Status.Workloads[0].Reason)
	require.EqualValues(t, 1, vs.Status.MatchedWorkloads, "the run of a CronJob does not count")
}

// If spec.workloads does not list the kind of a selected workload, the status reports that workload.
func TestVectorSidecar_ReportsWorkloadsOfOtherKinds(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	object := objects.NewWorkload("StatefulSet", "db", namespace, map[string]string{"logs": "vector"})
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, object, vs)
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
	})
	harness.Until(t, world, vs, "a message about the problem", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "labels match 1 of kind StatefulSet, which spec.workloads does not list")
	})
	world.Get(t, object)
	require.False(t, carriesVector(object))
}

// If two DaemonSets with hostNetwork run on the same nodes, the operator does not inject a sidecar whose ports are
// used.
func TestVectorSidecar_AvoidsHostPortsOfDaemonSets(t *testing.T) {
	t.Parallel()
	hosted := func(name, namespace string) *appsv1.DaemonSet {
		set, _ := objects.NewWorkload("DaemonSet", name, namespace, map[string]string{"logs": "vector"}).(*appsv1.DaemonSet)
		set.Spec.Template.Spec.HostNetwork = true
		set.Spec.Template.Spec.NodeSelector = map[string]string{"example.com/pool": name}
		return set
	}
	namespace, other := world.Namespace(t), world.Namespace(t)
	first, apart, second := hosted("first", namespace), hosted("apart", namespace), hosted("second", other)
	second.Spec.Template.Spec.NodeSelector = nil
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("DaemonSet").WithSoak(0).Build()
	vs.Spec.HostNetwork = v1alpha1.HostNetworkInject
	world.Create(t, first, apart, vs)
	for _, set := range []*appsv1.DaemonSet{first, apart} {
		harness.Until(t, world, client.Object(set), "the sidecar: their nodes differ", carriesVector)
	}

	more := objects.NewVectorSidecar("more", other).Selecting("logs", "vector").For("DaemonSet").WithSoak(0).Build()
	more.Spec.HostNetwork = v1alpha1.HostNetworkInject
	world.Create(t, second, more)
	harness.Until(t, world, more, "the reported conflict", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionStalled) == "True" })
	require.Regexp(t, `Blocked: 1 of 1 DaemonSets cannot get the sidecar: DaemonSet `+other+`/second: port \d+ of the node is used by container "vector" of DaemonSet `+namespace+`/(first|apart), which runs on the same nodes`, message(more, meta.ConditionReady))
	world.Get(t, second)
	require.False(t, carriesVector(second))

	harness.Change(t, world, more, func(vs *v1alpha1.VectorSidecar) {
		metrics, health := int32(19598), int32(18686)
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Metrics: &v1alpha1.MetricsSpec{Port: &metrics}, Health: &v1alpha1.HealthSpec{Port: &health}}
	})
	harness.Until(t, world, client.Object(second), "the sidecar with other ports", carriesVector)
}
