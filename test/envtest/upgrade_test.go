// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// nextRelease is the built-in chart of harness.NextRelease.
func nextRelease(t *testing.T, roll string) fs.FS {
	t.Helper()
	next, err := harness.NextRelease(roll)
	require.NoError(t, err)
	return next
}

// restarts runs the operator with another built-in chart, nil for its own, until it has reconciled everything in a
// namespace.
func restarts(t *testing.T, chart fs.FS, namespace, marker string) {
	t.Helper()
	require.NoError(t, running.Stop())
	vs := objects.NewVectorSidecar(marker, namespace).Selecting("logs", "nothing").Build()
	world.Create(t, vs)
	world.Chart = chart
	running = world.RunOperator(options)
	harness.Until(t, world, vs, "a status from the new operator", isReady)
}

// After an upgrade, each sidecar keeps its rendering until the next change of its input.
func TestOperator_UpgradesWithoutWrites(t *testing.T) {
	namespace := world.Namespace(t)
	own := objects.NewConfigMap("own", namespace, "vector.yaml", objects.VectorConfig("x"))
	world.Create(t, own)
	sidecars := []*v1alpha1.VectorSidecar{
		objects.NewVectorSidecar("rendered", namespace).Selecting("logs", "rendered").Build(),
		objects.NewVectorSidecar("live", namespace).Selecting("logs", "live").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build(),
		objects.NewVectorSidecar("mounted", namespace).Selecting("logs", "mounted").WithLogs("/var/log/app").
			Sidecar(func(s *v1alpha1.SidecarSpec) { s.Logs.Containers = []string{"*"} }).Build(),
		objects.NewVectorSidecar("referenced", namespace).Selecting("logs", "referenced").WithConfigMap("own", "").Build(),
		objects.NewVectorSidecar("second", namespace).Selecting("logs", "rendered").Named("audit").
			Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: ptr.To[int32](9599)}, &v1alpha1.HealthSpec{Port: ptr.To[int32](8687)}
			}).Build(),
	}
	deployments := map[string]*appsv1.Deployment{}
	for _, vs := range sidecars {
		if vs.Name != "second" {
			deployments[vs.Name] = objects.NewDeployment(vs.Name, namespace).Labeled("logs", vs.Name).WithReplicas(0).Build()
			world.Create(t, deployments[vs.Name])
		}
		world.Create(t, vs)
		harness.Until(t, world, vs, "its sidecar", isUpToDate)
	}
	hashes := map[string]string{}
	for _, vs := range sidecars {
		hashes[vs.Name] = vs.Status.InjectedHash
	}
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		world.Chart = nil
		running = world.RunOperator(options)
	})

	restarts(t, nextRelease(t, ""), namespace, "first")
	for _, vs := range sidecars {
		harness.Until(t, world, vs, "a message about a newer rendering", func(vs *v1alpha1.VectorSidecar) bool {
			return isUpToDate(vs) && strings.Contains(message(vs, meta.ConditionReady), "have a sidecar rendered by an earlier release")
		})
		require.Equal(t, hashes[vs.Name], vs.Status.InjectedHash)
	}
	isStatus := func(r harness.Request) bool { return strings.HasSuffix(r.Path, "/status") }
	require.Empty(t, slices.DeleteFunc(running.Requests.Writes("/namespaces/"+namespace+"/"), isStatus))
	require.Empty(t, slices.DeleteFunc(running.Requests.Reads("/namespaces/"+namespace+"/"), func(r harness.Request) bool { return strings.HasSuffix(r.Path, "/configmaps/own") }))

	t.Run("what another release brings comes with a change", func(t *testing.T) {
		harness.Change(t, world, sidecars[0], func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
		harness.Until(t, world, deployments["rendered"], "the new rendering", func(d *appsv1.Deployment) bool {
			return slices.ContainsFunc(d.Spec.Template.Spec.InitContainers, func(c corev1.Container) bool {
				return c.Name == "vector" && c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
			})
		})
		require.False(t, slices.ContainsFunc(deployments["rendered"].Spec.Template.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == "audit" && c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
		}), "the other one has not changed")
	})
	t.Run("what somebody changes by hand is mended", func(t *testing.T) {
		harness.Change(t, world, deployments["mounted"], func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].VolumeMounts = nil })
		harness.Until(t, world, deployments["mounted"], "the mount", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Containers[0].VolumeMounts) == 1 })
	})
	t.Run("it goes when it is to go", func(t *testing.T) {
		require.NoError(t, world.Client.Delete(t.Context(), sidecars[1]))
		harness.Until(t, world, deployments["live"], "the sidecar to be gone", isClean)
		for key := range deployments["live"].Annotations {
			require.False(t, strings.HasPrefix(key, meta.Group+"/"), key)
		}
	})
}

// A changed policy does not change the sidecar. The operator records the new input in annotations, without new pods and
// without an event.
func TestVectorSidecar_RecordsInputWithoutNewPods(t *testing.T) {
	namespace := world.Namespace(t)
	var deployments []*appsv1.Deployment
	for _, name := range []string{"cart", "basket"} {
		deployments = append(deployments, objects.NewDeployment(name, namespace).Labeled("logs", "vector").WithReplicas(0).Build())
		world.Create(t, deployments[len(deployments)-1])
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("1").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "the sidecars", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == 2
	})
	var before []*appsv1.Deployment
	for _, deployment := range deployments {
		world.Get(t, deployment)
		before = append(before, deployment.DeepCopy())
	}

	world.SetValues(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey, "users: {min: 1000}"))

	for i, deployment := range deployments {
		harness.Until(t, world, deployment, "the recorded wait", func(d *appsv1.Deployment) bool {
			return d.Annotations[meta.AnnotationInputHash] != before[i].Annotations[meta.AnnotationInputHash]
		})
		require.Equal(t, before[i].Spec.Template, deployment.Spec.Template)
		require.Equal(t, before[i].Annotations[meta.AnnotationAppliedHash], deployment.Annotations[meta.AnnotationAppliedHash])
		require.Equal(t, 0, eventsOf(t, deployment, meta.ReasonUpdated))
	}
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), 4, "two injections, two notes")
}

// An upgrade alone is no revision, so that no wave starts. An upgrade to a release that rolls out its changes is one.
func TestWave_AppliesToUpgradeThatRollsOut(t *testing.T) {
	wavesOf(t, "3s", "")
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		world.Chart = nil
		running = world.RunOperator(options)
	})
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	for _, one := range []*inWave{canary, rest} {
		one.until(t, v1alpha1.RolloutComplete, "")
		harness.Until(t, world, one.vs, "its sidecar", isUpToDate)
	}
	before := canary.vs.Status.Rollout.Revision
	writes := func(of *inWave) []harness.Request {
		return slices.DeleteFunc(running.Requests.Writes("/namespaces/"+of.vs.Namespace+"/"), func(r harness.Request) bool { return strings.HasSuffix(r.Path, "/status") })
	}
	isNew := func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.InitContainers[0].TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
	}

	restarts(t, nextRelease(t, ""), canary.vs.Namespace, "upgraded")
	for _, one := range []*inWave{canary, rest} {
		harness.Until(t, world, one.vs, "a message about a newer rendering", func(vs *v1alpha1.VectorSidecar) bool {
			return isUpToDate(vs) && strings.Contains(message(vs, meta.ConditionReady), "have a sidecar rendered by an earlier release")
		})
		require.Equal(t, before, one.vs.Status.Rollout.Revision)
		require.Empty(t, writes(one))
	}

	restarts(t, nextRelease(t, "1"), canary.vs.Namespace, "rolled")
	harness.Until(t, world, canary.app, "the new rendering", isNew)
	canary.until(t, v1alpha1.RolloutSoaking, "")
	rest.until(t, v1alpha1.RolloutWaiting, before)
	require.Empty(t, writes(rest), "the wave before soaks")
	harness.Until(t, world, rest.app, "the new rendering", isNew)
	rest.until(t, v1alpha1.RolloutComplete, canary.vs.Status.Rollout.Revision)
	require.NotEqual(t, before, canary.vs.Status.Rollout.Revision)
	require.GreaterOrEqual(t, rest.vs.Status.Rollout.StartTime.Sub(canary.vs.Status.Rollout.CompletionTime.Time), 3*time.Second)
	t.Logf("an upgrade: 0 writes; one that rolls: canary %d, rest %d", len(writes(canary)), len(writes(rest)))
	for _, one := range []*inWave{canary, rest} {
		require.Len(t, slices.DeleteFunc(writes(one), func(r harness.Request) bool { return !strings.Contains(r.Path, "/deployments/") }), 1)
	}

	// The previous release does not have that change, so it is reverted in waves.
	restarts(t, nextRelease(t, ""), canary.vs.Namespace, "back")
	rest.until(t, v1alpha1.RolloutComplete, before)
}
