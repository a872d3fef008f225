// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// levels counts, from its start, how often workloads of a namespace got each log level.
type levels struct {
	mu   sync.Mutex
	last map[string]string
	got  map[string]int
}

func watchLevels(t *testing.T, namespace string) *levels {
	t.Helper()
	l := &levels{last: map[string]string{}, got: map[string]int{}}
	world.Watch(t, &appsv1.DeploymentList{}, func(object client.Object) {
		if d, ok := object.(*appsv1.Deployment); ok {
			l.mu.Lock()
			if is := logLevel(d); l.last[d.Name] != is {
				l.last[d.Name] = is
				l.got[is]++
			}
			l.mu.Unlock()
		}
	}, client.InNamespace(namespace))
	return l
}

func (l *levels) of(level string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got[level]
}

// goingBack creates a VectorSidecar that finished its spec, and reverts to that if another spec fails.
func goingBack(t *testing.T, workloads int, onFailure v1alpha1.OnFailure) ([]*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace := world.Namespace(t)
	apps := fleet(t, namespace, workloads, asIs)
	two := intstr.FromInt32(2)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	vs.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: onFailure, MaxConcurrent: &two, Soak: &metav1.Duration{Duration: time.Second}}
	vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	world.Create(t, vs)
	harness.Until(t, world, vs, "the end of the rollout", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Ready == int32(workloads)
	})
	return apps, vs
}

// requestReconcile requests a reconcile of a VectorSidecar, and waits until it has finished.
func requestReconcile(t *testing.T, vs *v1alpha1.VectorSidecar, as string) {
	t.Helper()
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, as)
	})
	harness.Until(t, world, vs, "a handled request", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == as })
}

func crash(vs *v1alpha1.VectorSidecar) {
	vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn", Image: "registry.example/vector:crashes"}
}

func isSpecReverted(vs *v1alpha1.VectorSidecar) bool {
	return vs.Status.Reverted != nil && strings.HasPrefix(message(vs, meta.ConditionReady), "Reverted: the spec of generation ")
}

// plugin runs the plugin in a namespace.
func plugin(t *testing.T, namespace string, arguments ...string) string {
	t.Helper()
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	arguments = append(arguments, "-n", namespace, "--operator-namespace", options.Namespace, "--kubeconfig", kubeconfig)
	cli.Run(context.WithoutCancel(t.Context()), arguments, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	return out.String()
}

// With onFailure Revert, workloads that fail with a changed spec return to the last known good spec.
func TestOnFailureRevert_RestoresLastKnownGood(t *testing.T) {
	apps, vs := goingBack(t, 4, v1alpha1.OnFailureRevert)
	good := vs.Status.LastKnownGood
	require.NotNil(t, good)
	require.Contains(t, good.Spec, `"logLevel":"info"`)
	seen := watchLevels(t, vs.Namespace)
	harness.Eventually(t, "the watch", func() bool { return seen.of("info") == 4 })

	harness.Change(t, world, vs, crash)
	bad := vs.Generation
	harness.Until(t, world, vs, "reason Reverted", isSpecReverted)
	require.LessOrEqual(t, seen.of("warn"), 2, "no more than maxConcurrent have had it")
	require.Positive(t, seen.of("warn"))
	require.Equal(t, good, vs.Status.LastKnownGood)
	require.Equal(t, bad, vs.Status.Reverted.Generation)
	require.Equal(t, bad, vs.Generation)
	require.Equal(t, "warn", vs.Spec.Sidecar.LogLevel, "the spec is its owner's")
	require.Equal(t, "True", condition(vs, meta.ConditionStalled))
	require.Contains(t, message(vs, meta.ConditionReady), "4 of 4 Deployments run the current sidecar")
	requireRecorded(t, "reverted", vs, "Stalled=True Reverted")
	for _, app := range apps {
		world.Get(t, app)
		require.Equal(t, "info", logLevel(app))
	}
	requireEvent(t, vs, "failed with the spec of generation 2: Deployment "+vs.Namespace+"/app-0")
	tried := seen.of("warn")

	restart(t)
	requestReconcile(t, vs, "again")
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout.Soak = &metav1.Duration{} })
	added := objects.NewDeployment("app-new", vs.Namespace).Labeled("logs", "vector").Build()
	world.Create(t, added)
	harness.Until(t, world, added, "the last known good sidecar, from another leader", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" && isRolledOut(d) })
	harness.Until(t, world, vs, "the reverted state", func(vs *v1alpha1.VectorSidecar) bool {
		return isSpecReverted(vs) && vs.Status.Total().Ready == 5 && vs.Status.ObservedGeneration == vs.Generation
	})
	require.Equal(t, tried, seen.of("warn"), "it is not tried again")
	require.Contains(t, explained(t, added), "reverted      the spec of generation 2")
	requirePreviews(t, vs)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationRetryRollout, "now")
	})
	harness.Until(t, world, vs, "the failure of the retry", func(vs *v1alpha1.VectorSidecar) bool {
		return isSpecReverted(vs) && vs.Status.Reverted.LastHandledRetry != ""
	})
	require.Greater(t, seen.of("warn"), tried)
	require.LessOrEqual(t, seen.of("warn"), tried+2)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} })
	harness.Until(t, world, vs, "the next spec", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Reverted == nil && vs.Status.LastKnownGood.Digest != good.Digest
	})
	require.Equal(t, vs.Generation, vs.Status.LastKnownGood.Generation)
	for _, app := range apps {
		world.Get(t, app)
		require.Equal(t, "error", logLevel(app))
	}
	harness.Eventually(t, "an event for each end", func() bool { return eventsOf(t, vs, meta.ReasonRevertEnded) == 2 })
	require.Equal(t, 2, eventsOf(t, vs, meta.ReasonReverted))
}

// requirePreviews requires that the plugin previews no writes now, and all writes for another spec.
func requirePreviews(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	plan := plugin(t, vs.Namespace, "plan")
	require.Contains(t, plan, "the spec of generation 2")
	require.NotContains(t, plan, "Update")
	next := objects.NewVectorSidecar(vs.Name, vs.Namespace).Build()
	next.Spec = *vs.Spec.DeepCopy()
	next.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
	text, err := yaml.Marshal(next)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "next.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	plan = plugin(t, vs.Namespace, "plan", "--sidecar", file)
	require.NotContains(t, plan, "the spec of generation 2")
	require.Contains(t, plan, "Update")
}

// The last known good spec fails, too. The operator does not revert again.
func TestOnFailureRevert_StopsAfterFailedRevert(t *testing.T) {
	namespace := world.Namespace(t)
	apps := fleet(t, namespace, 2, asIs)
	one := intstr.FromInt32(1)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	vs.Spec.Rollout.OnFailure, vs.Spec.Rollout.MaxConcurrent = v1alpha1.OnFailureRevert, &one
	vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info", Image: "registry.example/vector:dies"}
	world.Create(t, vs)
	harness.Until(t, world, vs, "a crash after readiness counts as success without a soak", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.LastKnownGood != nil
	})
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		crash(vs)
		vs.Spec.Rollout.Soak = &metav1.Duration{Duration: time.Minute}
	})
	harness.Until(t, world, vs, "a failure during the revert", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Reverted != nil && strings.HasPrefix(message(vs, meta.ConditionReady), "RolloutFailed: ")
	})
	require.Contains(t, message(vs, meta.ConditionReady), "the workloads run the spec of generation 1")
	failed := vs.Status.Reverted
	requestReconcile(t, vs, "again")
	require.Equal(t, failed, vs.Status.Reverted, "there is no second way back")
	for _, app := range apps {
		world.Get(t, app)
		require.Equal(t, "info", logLevel(app))
	}
	harness.Eventually(t, "an event", func() bool { return eventsOf(t, vs, meta.ReasonReverted) == 1 })
}

// Unless onFailure is Revert, the status has no lastKnownGood.
func TestVectorSidecar_StoresNoLastKnownGoodWithoutRevert(t *testing.T) {
	_, vs := goingBack(t, 1, "")
	require.Nil(t, vs.Status.LastKnownGood)
	harness.Change(t, world, vs, crash)
	harness.Until(t, world, vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionReady), "RolloutFailed: ")
	})
	requestReconcile(t, vs, "again")
	require.Nil(t, vs.Status.Reverted)
	require.Nil(t, vs.Status.LastKnownGood)
	require.True(t, strings.HasPrefix(message(vs, meta.ConditionReady), "RolloutFailed: "), message(vs, meta.ConditionReady))
}

// With waves, a failed spec is reverted, and later revisions of the installation do not start it again. A revision that
// fails with the last known good spec is halted.
func TestOnFailureRevert_SeparatesSpecAndRevision(t *testing.T) {
	installation := wavesOf(t, "1s", "halt: {}\nonFailure: Revert")
	level(t, installation, "info")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	rest.until(t, v1alpha1.RolloutComplete, "")
	harness.Until(t, world, canary.vs, "its last known good spec", func(vs *v1alpha1.VectorSidecar) bool { return isUpToDate(vs) && vs.Status.LastKnownGood != nil })
	first := canary.vs.Status.Rollout.Revision
	image := func(d *appsv1.Deployment) string { return d.Spec.Template.Spec.InitContainers[0].Image }
	good := func() string { world.Get(t, canary.app); return image(canary.app) }()

	harness.Change(t, world, canary.vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "registry.example/vector:crashes"}
	})
	harness.Until(t, world, canary.vs, "its own revert", isSpecReverted)
	require.Equal(t, v1alpha1.RolloutComplete, canary.vs.Status.Rollout.State, "the installation is not at fault")
	require.Equal(t, first, canary.vs.Status.Rollout.Revision)

	level(t, installation, "debug")
	harness.Until(t, world, canary.app, "the next revision with the last known good spec", func(d *appsv1.Deployment) bool {
		return logLevel(d) == "debug" && image(d) == good
	})
	harness.Until(t, world, rest.app, "the next wave without a wait", func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" })
	harness.Until(t, world, canary.vs, "the reverted state", func(vs *v1alpha1.VectorSidecar) bool {
		return isSpecReverted(vs) && vs.Status.Rollout.State == v1alpha1.RolloutComplete && vs.Status.Rollout.Revision != first
	})
	second := canary.vs.Status.Rollout.Revision

	// If a revision fails with the last known good spec, the operator reverts the revision.
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: trace, image: registry.example/vector:crashes}"
	})
	canary.until(t, v1alpha1.RolloutReverted, second)
	rest.until(t, v1alpha1.RolloutHalted, second)
	harness.Until(t, world, canary.app, "the previous revision", func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" && image(d) == good })
}
