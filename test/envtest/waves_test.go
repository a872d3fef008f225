// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// inWave is a workload with its VectorSidecar, in a namespace of one wave.
type inWave struct {
	app *appsv1.Deployment
	vs  *v1alpha1.VectorSidecar
}

func newInWave(t *testing.T, wave string) *inWave {
	t.Helper()
	namespace := world.Namespace(t)
	in := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	harness.Change(t, world, in, func(n *corev1.Namespace) { metav1.SetMetaDataLabel(&n.ObjectMeta, "wave", wave) })
	one := &inWave{
		app: objects.NewDeployment("app", namespace).Labeled("logs", "vector").Build(),
		vs:  objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build(),
	}
	world.Create(t, one.app, one.vs)
	return one
}

func (w *inWave) until(t *testing.T, state v1alpha1.RolloutState, revision string) {
	t.Helper()
	harness.Until(t, world, w.vs, "state "+string(state), func(vs *v1alpha1.VectorSidecar) bool {
		is := vs.Status.Rollout
		return is != nil && is.State == state && (revision == "" || is.Revision == revision)
	})
}

// wavesOf sets rollout rules with two waves.
func wavesOf(t *testing.T, soak, rules string) *corev1.ConfigMap {
	t.Helper()
	return pacing(t, "waves: [{name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: "+soak+"}]\n"+rules)
}

// level changes the log level of all sidecars in the installation's values.
func level(t *testing.T, installation *corev1.ConfigMap, to string) {
	t.Helper()
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: " + to + "}"
	})
}

// The default wave receives a change only after the canary wave has finished and soaked.
func TestWave_RollsOutInstallationChange(t *testing.T) {
	installation := wavesOf(t, "2s", "")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, canary.vs.Status.Rollout.Revision)
	before := canary.vs.Status.Rollout.Revision
	require.Equal(t, "canary", canary.vs.Status.Rollout.Wave)
	require.Equal(t, "default", rest.vs.Status.Rollout.Wave)

	level(t, installation, "warn")
	rest.until(t, v1alpha1.RolloutWaiting, before)
	harness.Until(t, world, rest.vs, "its own revision", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), "1 of 1 Deployments run the current sidecar; with revision "+before+" of the installation's templates and values: ")
	})
	harness.Until(t, world, canary.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	canary.until(t, v1alpha1.RolloutSoaking, "")
	world.Get(t, rest.app)
	require.NotEqual(t, "warn", logLevel(rest.app))
	finished := canary.vs.Status.Rollout.CompletionTime.Time
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)

	harness.Until(t, world, rest.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	rest.until(t, v1alpha1.RolloutComplete, "")
	require.GreaterOrEqual(t, rest.vs.Status.Rollout.StartTime.Sub(finished), 2*time.Second, "the wave before has soaked")

	// A change of a VectorSidecar's spec does not wait for waves.
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, rest.app, "its own change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = "" })
	harness.Until(t, world, rest.vs, "no waves", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Rollout == nil })
}

// The label of a namespace changes its wave. The operator reconciles the VectorSidecar at once, not only after the
// soak.
func TestWave_FollowsNamespaceLabel(t *testing.T) {
	installation := wavesOf(t, "0s", "")
	canary := newInWave(t, "canary")
	moves := &inWave{vs: objects.NewVectorSidecar("logs", world.Namespace(t, "wave", "other")).Selecting("logs", "vector").Build()}
	world.Create(t, moves.vs)
	harness.Until(t, world, canary.vs, "readiness", isUpToDate)
	before := canary.vs.Status.Rollout.Revision
	moves.until(t, v1alpha1.RolloutComplete, before)

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn}"
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 0s", "soak: 10m", 1)
	})
	harness.Until(t, world, moves.vs, "the soak of the first wave", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(vs.Status.Rollout.Message, "wave canary soaks until ")
	})
	canary.until(t, v1alpha1.RolloutSoaking, "")
	in := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: moves.vs.Namespace}}
	harness.Change(t, world, in, func(n *corev1.Namespace) { metav1.SetMetaDataLabel(&n.ObjectMeta, "wave", "canary") })

	moves.until(t, v1alpha1.RolloutComplete, canary.vs.Status.Rollout.Revision)
	require.Equal(t, "canary", moves.vs.Status.Rollout.Wave)
}

// The halt of a revision survives a restart of the operator.
func TestHalt_BlocksRevisionInLaterWaves(t *testing.T) {
	installation := wavesOf(t, "8s", "halt: {failedWorkloads: 1}")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	before := rest.vs.Status.Rollout.Revision

	harness.Until(t, world, canary.app, "its rollout", isRolledOut)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	canary.until(t, v1alpha1.RolloutHalted, "")
	rest.until(t, v1alpha1.RolloutHalted, before)
	require.Contains(t, rest.vs.Status.Rollout.Message, "1 workloads failed with revision "+canary.vs.Status.Rollout.Revision)
	require.Equal(t, int32(1), canary.vs.Status.Rollout.FailedWorkloads)
	requireRecorded(t, "halted", canary.vs, "Stalled=True CrashLoopBackOff")
	requireRecorded(t, "halted-before-its-wave", rest.vs, "Ready=True UpToDate")
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, "again")
	})
	harness.Until(t, world, rest.vs, "a handled request", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == "again" })
	world.Get(t, rest.app)
	require.NotEqual(t, "warn", logLevel(rest.app), "a halt outlasts a restart")

	failed := canary.vs.Status.Rollout.Revision
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: error, image: registry.example/vector:dies}"
	})
	harness.Until(t, world, canary.vs, "another bad revision to be halted as well", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutHalted && vs.Status.Rollout.Revision != failed
	})
	rest.until(t, v1alpha1.RolloutHalted, before)
	level(t, installation, "info")
	harness.Until(t, world, canary.app, "another change", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
}

// Pods are not read, so the cause of a missed progress deadline is unknown. The VectorSidecar stops, but the revision
// is not halted.
func TestHalt_IgnoresFailureOfUnknownCause(t *testing.T) {
	blind := options
	blind.ReadPods = false
	require.NoError(t, running.Stop())
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	})
	running = world.RunOperator(blind)
	installation := wavesOf(t, "0s", "halt: {failedWorkloads: 1}")
	stuck, good := newInWave(t, "canary"), newInWave(t, "canary")
	stuck.until(t, v1alpha1.RolloutComplete, "")
	good.until(t, v1alpha1.RolloutComplete, "")
	const blindHalt = "rollout.halt does not detect the causes of failures: pods are not read (rbac.optional.pods)"
	require.Contains(t, message(good.vs, meta.ConditionReady), blindHalt)
	harness.Change(t, world, stuck.app, func(d *appsv1.Deployment) {
		d.Spec.ProgressDeadlineSeconds = ptr.To[int32](3)
	})
	before := stuck.vs.Status.Rollout.Revision

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: " + crashes + "}"
	})
	harness.Until(t, world, stuck.vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Failed == 1 })
	require.Contains(t, message(stuck.vs, meta.ConditionReady), "cause unknown, because pods are not read")
	harness.Until(t, world, good.app, "the revision", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	world.Get(t, stuck.vs)
	is := stuck.vs.Status.Rollout
	require.NotEqual(t, before, is.Revision)
	require.Empty(t, is.FailedRevision)
	require.Nil(t, is.CompletionTime)
	require.Equal(t, v1alpha1.RolloutProgressing, is.State)
}

// A sidecar restarts repeatedly and is ready in between, so that no workload fails. The revision is halted.
func TestHalt_CountsSidecarRestarts(t *testing.T) {
	installation := wavesOf(t, "0s", "")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	before := rest.vs.Status.Rollout.Revision
	harness.Until(t, world, canary.app, "its rollout", isRolledOut)
	reads := func() int { return len(running.Requests.Reads("/namespaces/" + canary.vs.Namespace + "/pods")) }
	readBefore := reads()

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {image: registry.example/vector:restarts}"
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 0s", "soak: 5m", 1) + "halt: {sidecarRestarts: 3}"
	})
	canary.until(t, v1alpha1.RolloutHalted, "")
	rest.until(t, v1alpha1.RolloutHalted, before)
	told := canary.vs.Status.Workloads
	require.Len(t, told, 1)
	require.Equal(t, v1alpha1.StateFailed, told[0].State)
	require.Equal(t, meta.ReasonSidecarRestarts, told[0].Reason)
	require.Contains(t, told[0].Message, "container vector of pod app-")
	require.Contains(t, told[0].Message, "was restarted 3 times")
	require.LessOrEqual(t, reads()-readBefore, 3)
	failed := canary.vs.Status.Rollout.Revision

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationRetryRollout, time.Now().Add(time.Minute).UTC().Format(time.RFC3339))
	})
	canary.until(t, v1alpha1.RolloutSoaking, failed)
	harness.Until(t, world, canary.vs, "a restart before the retry that does not count as a failure", func(vs *v1alpha1.VectorSidecar) bool {
		return len(vs.Status.Workloads) == 0
	})
}

// During a soak, pods are deleted, as by a node drain. That is no failure, and the revision is not halted.
func TestHalt_IgnoresDrainedNodes(t *testing.T) {
	installation := wavesOf(t, "6s", "halt: {sidecarRestarts: 1}")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	harness.Change(t, world, canary.app, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "starts-after", "2s")
	})
	harness.Until(t, world, canary.app, "its owner's rollout", isRolledOut)

	level(t, installation, "warn")
	canary.until(t, v1alpha1.RolloutSoaking, "")
	revision := canary.vs.Status.Rollout.Revision
	require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(canary.vs.Namespace)))
	harness.Until(t, world, canary.app, "losing its pods", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 0 })

	rest.until(t, v1alpha1.RolloutComplete, revision)
	world.Get(t, canary.vs)
	require.Zero(t, canary.vs.Status.Rollout.FailedWorkloads)
	require.NotEqual(t, v1alpha1.RolloutHalted, canary.vs.Status.Rollout.State)
}

// A VectorSidecar is deleted during its wave. Later waves do not wait for it.
func TestWave_IgnoresDeletedVectorSidecar(t *testing.T) {
	installation := wavesOf(t, "0s", "")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	before := rest.vs.Status.Rollout.Revision

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:missing}"
	})
	canary.until(t, v1alpha1.RolloutProgressing, "")
	rest.until(t, v1alpha1.RolloutWaiting, before)
	require.NoError(t, world.Client.Delete(t.Context(), canary.vs))

	harness.Until(t, world, rest.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	harness.Until(t, world, canary.app, "removal", isClean)
}

// A newer revision starts in the first wave while the second wave has the previous one. A VectorSidecar that was paused
// before it wrote the previous revision never writes it.
func TestWave_StartsNewerRevisionInFirstWave(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	harness.Until(t, world, rest.app, "its sidecar", isInjected)
	first := canary.vs.Status.Rollout.Revision

	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout.Paused = true })
	level(t, installation, "warn")
	harness.Until(t, world, canary.vs, "the second revision", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutComplete && vs.Status.Rollout.Revision != first
	})
	second := canary.vs.Status.Rollout.Revision
	rest.until(t, v1alpha1.RolloutPaused, second)

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: error}"
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 1s", "soak: 5m", 1)
	})
	canary.until(t, v1alpha1.RolloutSoaking, "")
	rest.until(t, v1alpha1.RolloutWaiting, second)
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout.Paused = false })
	harness.Until(t, world, rest.vs, "a reconcile", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.ObservedGeneration == vs.Generation })
	require.Contains(t, message(rest.vs, meta.ConditionReady), meta.ReasonWaitingForWave)
	requireRecorded(t, "waiting-for-wave", rest.vs, "Reconciling=True WaitingForWave")
	world.Get(t, rest.app)
	require.NotEqual(t, "warn", logLevel(rest.app))

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 5m", "soak: 0s", 1)
	})
	harness.Until(t, world, rest.app, "the last change", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	rest.until(t, v1alpha1.RolloutComplete, canary.vs.Status.Rollout.Revision)
}

// A user retries a halted revision for one VectorSidecar. It continues, and the revision stays halted for others.
func TestHalt_AllowsRetryOfOneVectorSidecar(t *testing.T) {
	installation := wavesOf(t, "1s", "halt: {failedWorkloads: 1}")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	second := objects.NewDeployment("second", canary.vs.Namespace).Labeled("logs", "vector").Build()
	world.Create(t, second)
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	harness.Until(t, world, second, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	one := intstr.FromInt32(1)
	harness.Change(t, world, canary.vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout.MaxConcurrent, vs.Spec.Rollout.Soak = &one, &metav1.Duration{Duration: 20 * time.Second}
	})
	harness.Until(t, world, canary.vs, "the rollout rules in use", isReady)

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	canary.until(t, v1alpha1.RolloutHalted, "")
	world.Get(t, second)
	require.NotEqual(t, "warn", logLevel(second), "nothing more is written")

	harness.Change(t, world, canary.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationRetryRollout, "now")
	})
	harness.Until(t, world, second, "its rollout", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	rest.until(t, v1alpha1.RolloutHalted, "")
	world.Get(t, rest.app)
	require.NotEqual(t, "warn", logLevel(rest.app), "for others the halt stays")
	harness.Until(t, world, canary.vs, "another failure to halt it again", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutHalted && vs.Status.Rollout.FailedWorkloads == 2
	})
}
