// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// pacing sets the rollout rules of the installation.
func pacing(t *testing.T, rules string) *corev1.ConfigMap {
	t.Helper()
	installation := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.RolloutKey, rules)
	world.SetValues(t, installation)
	return installation
}

// awaitRules waits until the operator uses the rollout rules of the installation.
func awaitRules(t *testing.T, installation *corev1.ConfigMap) {
	t.Helper()
	harness.Eventually(t, "the operator to use the rollout rules", func() bool {
		published, err := source.ReadPublication(t.Context(), world.Client, client.ObjectKeyFromObject(installation))
		return err == nil && published != nil && published.RolloutText == installation.Data[desired.RolloutKey]
	})
}

// Six VectorSidecars with many workloads share the four rollout slots of the installation, also if the operator
// restarts.
func TestRollout_SharesSlotsBetweenVectorSidecars(t *testing.T) {
	const sidecars, each, places = 6, 3, 4
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	})
	namespace := world.Namespace(t)
	var deployments []*appsv1.Deployment
	for n := range sidecars {
		for m := range each {
			deployment := objects.NewDeployment(fmt.Sprintf("app-%d-%d", n, m), namespace).Labeled("logs", fmt.Sprint("of-", n)).Build()
			world.Create(t, deployment)
			deployments = append(deployments, deployment)
		}
	}
	for _, deployment := range deployments {
		harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	}
	pacing(t, fmt.Sprintf("maxConcurrent: %d", places))
	watch := newWatchUnfinished(t, namespace)
	var all []*v1alpha1.VectorSidecar
	for n := range sidecars {
		vs := objects.NewVectorSidecar(fmt.Sprint("logs-", n), namespace).Selecting("logs", fmt.Sprint("of-", n)).WithSoak(time.Second).Build()
		world.Create(t, vs)
		all = append(all, vs)
	}
	harness.Eventually(t, "the first sidecar", func() bool { return injectedOf(t, namespace) >= places })
	require.NoError(t, running.Stop())
	metered := options
	metered.MetricsBindAddress = "127.0.0.1:0"
	running = world.RunOperator(metered)
	for _, vs := range all {
		harness.Until(t, world, vs, "the update of all workloads", func(vs *v1alpha1.VectorSidecar) bool {
			return isReady(vs) && vs.Status.Total().Ready == each
		})
	}
	require.LessOrEqual(t, watch.mostAtOnce(), places)
	require.Positive(t, watch.mostAtOnce())

	for _, vs := range all {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
	}
	for _, vs := range all {
		harness.Until(t, world, vs, "the removal from all workloads", func(vs *v1alpha1.VectorSidecar) bool {
			return isReady(vs) && vs.Status.InjectedDeployments == 0
		})
	}
	require.LessOrEqual(t, watch.mostAtOnce(), places, "removal has places of its own, as many")
	harness.Eventually(t, "free rollout slots", func() bool { return metric(t, "vectorsidecar_rollout_slots", "used") == 0 })
	require.InDelta(t, places, metric(t, "vectorsidecar_rollout_slots", "limit"), 0)
}

// No window of rollout.windows is open. Injections and changes wait, and removals do not.
func TestRollout_StartsOnlyInsideWindows(t *testing.T) {
	namespace := world.Namespace(t)
	before := objects.NewDeployment("before", namespace).Labeled("logs", "vector").Build()
	leaving := objects.NewDeployment("leaving", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, before, leaving, vs)
	harness.Until(t, world, vs, "the update of both workloads", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.Total().Ready == 2 })
	// The window opened and closed yesterday, and opens again in six days.
	yesterday := time.Now().UTC().Add(-24 * time.Hour).Weekday().String()[:3]
	rules := pacing(t, "windows: [{days: ["+yesterday+`], from: "00:00", to: "23:00"}]`)
	awaitRules(t, rules)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Waiting == 2
	})
	require.Contains(t, message(vs, meta.ConditionReady), "OutsideWindow: 2 of 2 Deployments are waiting")
	require.Contains(t, message(vs, meta.ConditionReady), "waiting for the rollout window that opens at ")

	late := objects.NewDeployment("late", namespace).Labeled("logs", "vector").Build()
	world.Create(t, late)
	harness.Until(t, world, late, "the sidecar, at once, because it is newer than the last window", isInjected)
	harness.Change(t, world, leaving, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, meta.AnnotationInject, "false")
	})
	harness.Until(t, world, leaving, "removal, for which there is no window", isClean)
	world.Get(t, before)
	require.NotEqual(t, "trace", logLevel(before))

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = `windows: [{from: "00:00", to: "24:00"}]` })
	harness.Until(t, world, before, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
}

// isWaiting reports whether a workload waits for the current spec.
func isWaiting(vs *v1alpha1.VectorSidecar) bool {
	return vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Waiting == 1
}

// A user has stopped all writes. The operator injects nothing, and still removes sidecars.
func TestOperator_WritesOnlyRemovalsWhileStopped(t *testing.T) {
	rules := pacing(t, "")
	namespace := world.Namespace(t)
	staying, going := objects.NewDeployment("staying", namespace).Labeled("logs", "staying").Build(), objects.NewDeployment("going", namespace).Labeled("logs", "going").Build()
	stays := objects.NewVectorSidecar("stays", namespace).Selecting("logs", "staying").WithSoak(0).Build()
	goes := objects.NewVectorSidecar("goes", namespace).Selecting("logs", "going").WithSoak(0).Build()
	world.Create(t, staying, going, stays, goes)
	harness.Until(t, world, stays, "readiness", isUpToDate)
	harness.Until(t, world, goes, "readiness", isUpToDate)
	marked := objects.NewDeployment("marked", namespace).Build()
	world.Create(t, marked)
	copyMarks(t, marked, map[string]string{meta.AnnotationInjected: "true", meta.AnnotationSidecarName: "copied"}, nil)
	copied := objects.NewVectorSidecar("copied", namespace).Selecting("logs", "none").Build()
	world.Create(t, copied)
	harness.Until(t, world, copied, "the finalizer", func(vs *v1alpha1.VectorSidecar) bool { return len(vs.Finalizers) > 0 })

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationStopWrites, "true")
	})
	harness.Eventually(t, "the operator to use the annotation", func() bool {
		harness.Change(t, world, goes, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: []string{"debug", "trace"}[vs.Generation%2]}
		})
		harness.Until(t, world, goes, "the reconcile of the change", func(vs *v1alpha1.VectorSidecar) bool { return isUpToDate(vs) || isWaiting(vs) })
		return isWaiting(goes)
	})
	harness.Change(t, world, stays, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, stays, "the stop of writes", isWaiting)
	require.Contains(t, message(stays, meta.ConditionReady), "WritesStopped: 1 of 1 Deployments are waiting: Deployment "+namespace+"/staying: the annotation "+meta.AnnotationStopWrites)
	require.NoError(t, world.Client.Delete(t.Context(), goes))
	harness.Until(t, world, going, "removal", isClean)
	require.NoError(t, world.Client.Delete(t.Context(), copied))
	harness.Eventually(t, "the VectorSidecar with copied marks to be gone", func() bool { return isGone(t, copied) })
	world.Get(t, marked)
	require.False(t, hasMarks(marked), "marks are removed before the VectorSidecar is gone")
	world.Get(t, staying)
	require.NotEqual(t, "trace", logLevel(staying))

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) { delete(c.Annotations, meta.AnnotationStopWrites) })
	harness.Until(t, world, staying, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
}

// A change is being written to many workloads. A user stops all writes by an annotation. The operator stops as soon as
// it has read it.
func TestOperator_StopsFanOutWithinSecond(t *testing.T) {
	rules := pacing(t, "")
	namespace := world.Namespace(t)
	const count = 400
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").WithSoak(0).Build()
	for n := range count {
		world.Create(t, objects.NewDeployment(fmt.Sprint("app-", n), namespace).WithReplicas(0).Labeled("logs", "vector").Build())
	}
	writes := func() []harness.Request { return running.Requests.Writes("/namespaces/" + namespace + "/deployments") }
	world.Create(t, vs)
	harness.Eventually(t, "the first writes", func() bool { return len(writes()) > 0 })

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationStopWrites, "true")
	})
	stopped := time.Now()
	harness.Until(t, world, vs, "the stop of writes", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "WritesStopped")
	})
	all := writes()
	last := all[len(all)-1].At.Sub(stopped)
	t.Logf("%d of %d were written, the last %s after the stop", len(all), count, last)
	require.Less(t, len(all), count)
	require.Less(t, last, time.Second)
	harness.Change(t, world, rules, func(c *corev1.ConfigMap) { delete(c.Annotations, meta.AnnotationStopWrites) })
	harness.Eventually(t, "the write of all workloads", func() bool { return len(writes()) == count })
}

// Invalid rollout rules of the installation are reported, and the last known good ones stay in use.
func TestRules_KeepLastKnownGoodVersion(t *testing.T) {
	yesterday := time.Now().UTC().Add(-24 * time.Hour).Weekday().String()[:3]
	rules := pacing(t, "windows: [{days: ["+yesterday+`], from: "00:00", to: "23:00"}]`)
	deployment, vs := injected(t)

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = "window: []" })
	harness.Until(t, world, vs, "the reason", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "InvalidRollout: ConfigMap vector-system/environments rollout:1: window: unknown key; did you mean windows? (the last known good version stays in use)"))
	harness.Eventually(t, "an event about the ConfigMap", func() bool { return eventsOf(t, rules, meta.ReasonInvalidRollout) == 1 })
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.ObservedGeneration == vs.Generation && vs.Status.Total().Waiting == 1
	})

	harness.Change(t, world, rules, func(c *corev1.ConfigMap) { delete(c.Data, desired.RolloutKey) })
	harness.Until(t, world, deployment, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	harness.Eventually(t, "an event about the version in use", func() bool {
		var found eventsv1.EventList
		require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(rules.Namespace)))
		return slices.ContainsFunc(found.Items, func(e eventsv1.Event) bool {
			return e.Reason == meta.ReasonRolloutLoaded && e.Regarding.ResourceVersion == rules.ResourceVersion
		})
	})
}
