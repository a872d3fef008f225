// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
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
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// waitingFor returns a VectorSidecar with a mode and without soak.
func waitingFor(namespace string, mode v1alpha1.RolloutMode) *v1alpha1.VectorSidecar {
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").WithSoak(0).Build()
	vs.Spec.Rollout.Mode = mode
	return vs
}

// deferring reports whether the current change is deferred in count workloads, and all others are up to date.
func deferring(count int) func(*v1alpha1.VectorSidecar) bool {
	return func(vs *v1alpha1.VectorSidecar) bool {
		waiting := int32(0)
		if vs.Status.Deferred != nil {
			waiting = vs.Status.Deferred.Workloads
		}
		return isReady(vs) && int(waiting) == count
	}
}

// waitRecord returns the annotation of a workload that records since when it waits.
func waitRecord(d *appsv1.Deployment) string {
	return d.Annotations[meta.AnnotationWaiting("vectorsidecar/logs")]
}

// revisionsOf counts the ReplicaSets of a Deployment.
func revisionsOf(t *testing.T, d *appsv1.Deployment) int {
	t.Helper()
	var all appsv1.ReplicaSetList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(d.Namespace)))
	count := 0
	for i := range all.Items {
		if metav1.IsControlledBy(&all.Items[i], d) {
			count++
		}
	}
	return count
}

// A changed sidecar image waits in each workload for the application's next rollout, and then causes exactly one more
// rollout. Scaling, annotations or another leader do not start it.
func TestModeOnAppRollout_WaitsForApplicationRollout(t *testing.T) {
	const size = 50
	namespace := world.Namespace(t)
	vs := waitingFor(namespace, v1alpha1.ModeOnAppRollout)
	world.Create(t, vs)
	apps := fleet(t, namespace, size, asIs)
	for _, app := range apps {
		harness.Until(t, world, app, "the sidecar, which new workloads get at once", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	}
	harness.Until(t, world, vs, "readiness", deferring(0))
	revisions := map[string]int{}
	for _, app := range apps {
		revisions[app.Name] = revisionsOf(t, app)
	}

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
	harness.Until(t, world, vs, "the waiting change", deferring(size))
	require.Contains(t, message(vs, meta.ConditionReady), "50 are deferred")
	require.Contains(t, vs.Status.Workloads[0].Message, "the sidecar follows in a second rollout")
	require.Equal(t, meta.ReasonWaitingForAppRollout, vs.Status.Workloads[0].Reason)
	for _, app := range apps {
		harness.Until(t, world, app, "the recorded start of the wait", func(d *appsv1.Deployment) bool { return waitRecord(d) != "" })
		require.Equal(t, revisions[app.Name], revisionsOf(t, app), "0 rollouts")
	}

	cart, quiet := apps[0], apps[1]
	harness.Change(t, world, quiet, func(d *appsv1.Deployment) { *d.Spec.Replicas = 2 })
	harness.Change(t, world, quiet, func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, "team", "shop") })
	require.NoError(t, running.Stop())
	harness.Change(t, world, cart, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "registry.example/cart:2" })
	running = world.RunOperator(options)
	harness.Until(t, world, cart, "the sidecar after its owner's change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" && isRolledOut(d) })
	harness.Until(t, world, vs, "the waiting state of the others", deferring(size-1))
	world.Get(t, cart)
	require.Equal(t, revisions[cart.Name]+2, revisionsOf(t, cart), "its owner's change, and one of the sidecar")
	require.Empty(t, waitRecord(cart))
	for _, app := range apps[1:] {
		world.Get(t, app)
		require.NotEqual(t, "warn", logLevel(app))
		require.Equal(t, revisions[app.Name], revisionsOf(t, app))
	}

	run(t, namespace, "kubectl", "rollout", "restart", "deployment/"+apps[2].Name)
	harness.Until(t, world, apps[2], "the sidecar after its owner's restart", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
	for _, app := range apps {
		harness.Until(t, world, app, "the removal without a wait", func(d *appsv1.Deployment) bool { return isClean(d) && waitRecord(d) == "" })
	}
}

// A workload that is older than the VectorSidecar waits for the application's rollout. If it is deselected, the
// annotation of the wait is removed.
func TestModeOnAppRollout_WaitsInExistingWorkloads(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	older := objects.NewDeployment("older", namespace).Labeled("logs", "vector").Build()
	world.Create(t, older)
	harness.Until(t, world, older, "its first rollout", isRolledOut)
	before := older.DeepCopy()
	now := time.Now().Truncate(time.Second)
	harness.Eventually(t, "another second", func() bool { return time.Now().Truncate(time.Second).After(now) })
	vs := waitingFor(namespace, v1alpha1.ModeOnAppRollout)
	world.Create(t, vs)
	harness.Until(t, world, older, "the recorded start of the wait", func(d *appsv1.Deployment) bool { return waitRecord(d) != "" })
	harness.Until(t, world, vs, "the waiting state", deferring(1))
	requireRecorded(t, "deferred", vs, "Ready=True UpToDate")
	require.True(t, isClean(older))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels["logs"] = "nobody" })
	isOurs := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == "vectorsidecar/logs" }
	harness.Until(t, world, older, "no field of the operator", func(d *appsv1.Deployment) bool {
		return waitRecord(d) == "" && !slices.ContainsFunc(d.ManagedFields, isOurs)
	})
	require.Equal(t, before.Spec, older.Spec)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels["logs"] = "vector" })
	harness.Until(t, world, vs, "the waiting state again", deferring(1))
	harness.Change(t, world, older, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "registry.example/cart:2" })
	harness.Until(t, world, older, "the sidecar", isInjected)
	world.Delete(t, vs)
	harness.Until(t, world, older, "no sidecar", func(d *appsv1.Deployment) bool { return isClean(d) && waitRecord(d) == "" })
}

// A change that has waited for maxAge starts, also if no operator ran at that time. Corrections of a changed sidecar do
// not wait.
func TestModeOnAppRollout_StartsAfterMaxAge(t *testing.T) {
	namespace := world.Namespace(t)
	vs := waitingFor(namespace, v1alpha1.ModeOnAppRollout)
	world.Create(t, vs)
	apps := fleet(t, namespace, 3, asIs)
	for _, app := range apps {
		harness.Until(t, world, app, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	}
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout.MaxAge = &metav1.Duration{Duration: 5 * time.Second}
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"}
	})
	harness.Until(t, world, vs, "the waiting change", deferring(3))
	require.Contains(t, vs.Status.Workloads[0].Message, "(spec.rollout.maxAge)")
	since := vs.Status.Deferred.Since.Time
	require.NoError(t, running.Stop())
	harness.Eventually(t, "a wait beyond the limit", func() bool { return time.Since(since) > 7*time.Second })
	for _, app := range apps {
		world.Get(t, app)
		require.NotEqual(t, "warn", logLevel(app))
	}
	running = world.RunOperator(options)
	for _, app := range apps {
		harness.Until(t, world, app, "the pending change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" && waitRecord(d) == "" })
	}

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout.MaxAge, vs.Spec.Sidecar.LogLevel = nil, "error"
	})
	harness.Until(t, world, vs, "the waiting next change", deferring(3))
	run(t, namespace, "kubectl", "set", "image", "deployment/"+apps[0].Name, "vector=registry.example/mine:1")
	harness.Until(t, world, apps[0], "the correction", func(d *appsv1.Deployment) bool {
		return logLevel(d) == "error" && !strings.Contains(d.Spec.Template.Spec.InitContainers[0].Image, "mine")
	})
	world.Get(t, apps[1])
	require.Equal(t, "warn", logLevel(apps[1]))
}

// A change waits until a user promotes it. The next change waits again.
func TestModeManual_WaitsForApproval(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	vs := waitingFor(namespace, v1alpha1.ModeManual)
	world.Create(t, vs)
	apps := fleet(t, namespace, 3, asIs)
	harness.Until(t, world, vs, "the waiting workloads", deferring(3))
	require.Equal(t, meta.ReasonWaitingForPromotion, vs.Status.Workloads[0].Reason)
	promote := func() {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationPromoteRollout, vs.Status.Deferred.Change)
		})
	}
	promote()
	for _, app := range apps {
		harness.Until(t, world, app, "the sidecar", isInjected)
	}
	harness.Until(t, world, vs, "readiness", deferring(0))

	fresh := objects.NewDeployment("fresh", namespace).Labeled("logs", "vector").Build()
	world.Create(t, fresh)
	harness.Until(t, world, fresh, "the sidecar of the others", isInjected)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
	harness.Until(t, world, vs, "the waiting next change", deferring(4))
	promote()
	for _, app := range append(apps, fresh) {
		harness.Until(t, world, app, "the next change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	}
}

func TestRolloutSpec_RejectsMaxAgeWithoutMode(t *testing.T) {
	for want, rollout := range map[string]*v1alpha1.RolloutSpec{
		"maxAge has no effect without mode": {MaxAge: &metav1.Duration{Duration: time.Hour}},
		"must be at most 8784h":             {Mode: v1alpha1.ModeManual, MaxAge: &metav1.Duration{Duration: 9000 * time.Hour}},
		"Unsupported value: \"Never\"":      {Mode: "Never"},
	} {
		vs := waitingFor(world.Namespace(t), "")
		vs.Spec.Rollout = rollout
		require.ErrorContains(t, world.Client.Create(t.Context(), vs), want)
	}
}
