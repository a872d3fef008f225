// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// isOfNext reports whether nextRelease rendered the sidecar of a Deployment.
func isOfNext(d *appsv1.Deployment) bool {
	return d.Spec.Template.Spec.InitContainers[0].TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
}

func hasSidecar(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 1 }

// ownChartAfter makes the operator run with its own chart after a test.
func ownChartAfter(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		world.Chart = nil
		running = world.RunOperator(options)
	})
}

// soaksLong makes the first wave soak, and so block the next one, for the rest of a test.
func soaksLong(t *testing.T, installation *corev1.ConfigMap) {
	t.Helper()
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data[desired.RolloutKey] = strings.ReplaceAll(c.Data[desired.RolloutKey], "soak: 1s", "soak: 1h")
	})
}

// recordOf returns the stored ControllerRevision of a revision.
func recordOf(installation *corev1.ConfigMap, revision string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: installation.Namespace, Name: installation.Name + "-" + revision}}
}

// late creates another Deployment in the namespace of the VectorSidecar.
func (w *inWave) late(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	one := objects.NewDeployment(name, w.vs.Namespace).Labeled("logs", "vector").Build()
	world.Create(t, one)
	return one
}

// A VectorSidecar still waits for, or has reverted from, the built-in templates of an upgraded release. It uses the
// templates of the release before, although that no longer runs.
func TestRevision_KeepsTemplatesOfItsRelease(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	ownChartAfter(t)
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	for _, one := range []*inWave{canary, rest} {
		one.until(t, v1alpha1.RolloutComplete, "")
		harness.Until(t, world, one.vs, "its sidecar", isUpToDate)
		world.Get(t, one.app)
	}
	soaksLong(t, installation)
	before, sidecar := canary.vs.Status.Rollout.Revision, canary.app.Spec.Template

	// After an upgrade alone, the operator renders with the next release's templates, and stores these.
	stored := recordOf(installation, before)
	world.Get(t, stored)
	own := stored.Annotations
	restarts(t, nextRelease(t, ""), canary.vs.Namespace, "upgraded")
	harness.Until(t, world, stored, "the next release's templates", func(r *appsv1.ControllerRevision) bool {
		return r.Annotations[meta.AnnotationBuiltIn] != own[meta.AnnotationBuiltIn] && r.Annotations[meta.AnnotationSamples] != own[meta.AnnotationSamples]
	})
	upgraded := rest.late(t, "upgraded")
	harness.Until(t, world, upgraded, "the sidecar of the release that runs", func(d *appsv1.Deployment) bool { return hasSidecar(d) && isOfNext(d) })

	restarts(t, fs.FS(nil), canary.vs.Namespace, "back")
	harness.Until(t, world, stored, "its own templates", func(r *appsv1.ControllerRevision) bool { return maps.Equal(own, r.Annotations) })
	// The next start of the operator stores a deleted object of the revision again.
	part := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
		Namespace: stored.Namespace, Name: installation.Name + "-part-" + own[meta.AnnotationBuiltIn],
	}}
	world.Delete(t, part)
	restarts(t, fs.FS(nil), canary.vs.Namespace, "again")
	harness.Eventually(t, "its own templates to be stored again", func() bool {
		return world.Client.Get(t.Context(), client.ObjectKeyFromObject(part), part) == nil
	})
	restarts(t, nextRelease(t, "1"), canary.vs.Namespace, "rolled")
	harness.Until(t, world, canary.app, "the new rendering", isOfNext)
	canary.until(t, v1alpha1.RolloutSoaking, "")
	rest.until(t, v1alpha1.RolloutWaiting, before)
	waiting := rest.late(t, "waiting")
	harness.Until(t, world, waiting, "a sidecar", hasSidecar)
	require.False(t, isOfNext(waiting), "its wave has not come")

	given := canary.vs.Status.Rollout.Revision
	require.NotEqual(t, before, given)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, given+"/"+before)
	})
	harness.Until(t, world, canary.app, "the previous sidecar", func(d *appsv1.Deployment) bool { return !isOfNext(d) })
	require.Equal(t, sidecar, canary.app.Spec.Template)
	canary.until(t, v1alpha1.RolloutSoaking, before)
}

// A release would render a stored revision differently than the release that stored it. It writes no workload with that
// revision.
func TestRevision_BlocksWritesIfRenderedDifferently(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	before := canary.vs.Status.Rollout.Revision
	rest.until(t, v1alpha1.RolloutComplete, before)
	soaksLong(t, installation)
	level(t, installation, "warn")
	harness.Until(t, world, canary.vs, "the change instead of the previous sidecar", func(vs *v1alpha1.VectorSidecar) bool {
		is := vs.Status.Rollout
		return is.Revision != before && is.State == v1alpha1.RolloutSoaking
	})
	rest.until(t, v1alpha1.RolloutWaiting, before)

	require.NoError(t, running.Stop())
	stored := recordOf(installation, before)
	world.Get(t, stored)
	require.Contains(t, stored.Annotations[meta.AnnotationSamples], `"default":`)
	harness.Change(t, world, stored, func(r *appsv1.ControllerRevision) {
		r.Annotations[meta.AnnotationSamples] = `{"default":"0123456789abcdef"}`
	})
	running = world.RunOperator(options)

	late := rest.late(t, "late")
	harness.Until(t, world, rest.vs, "the problem of its revision", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.MatchedDeployments == 2 && strings.Contains(message(vs, meta.ConditionReady), "stored revision "+before+": template set ") && strings.Contains(message(vs, meta.ConditionReady), "renders differently in this release")
	})
	looks := func() int { return len(running.Requests.Reads("/controllerrevisions/" + stored.Name)) }
	looked := looks()
	later := rest.late(t, "later")
	harness.Until(t, world, rest.vs, "another reconcile", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.MatchedDeployments == 3 })
	require.Equal(t, looked, looks(), "it is found out once")
	for _, one := range []*appsv1.Deployment{late, later} {
		world.Get(t, one)
		require.False(t, hasSidecar(one))
	}
	world.Get(t, rest.app)
	require.True(t, hasSidecar(rest.app), "what is there stays")

	given := canary.vs.Status.Rollout.Revision
	harness.Change(t, world, rest.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationPromoteRollout, given)
	})
	for _, one := range []*appsv1.Deployment{late, rest.app} {
		harness.Until(t, world, one, "the present revision", func(d *appsv1.Deployment) bool { return hasSidecar(d) && logLevel(d) == "warn" })
	}
}
