// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	fleetrules "kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// reconciled waits until the operator has reconciled a VectorSidecar after everything that was written before.
func (w *inWave) reconciled(t *testing.T, mark string) {
	t.Helper()
	harness.Change(t, world, w.vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, mark)
	})
	harness.Until(t, world, w.vs, "a reconcile", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == mark })
}

// An upgrade writes values and a template set one after the other. The operator publishes both as one revision, also if
// it restarts in between.
func TestSettling_PublishesUpgradeAsOneRevision(t *testing.T) {
	installation, canary, rest, first := waiting(t, "")
	stored := storedRevisions(t)
	set := objects.NewConfigMap("release-default", options.Namespace, "NOTES.txt", "two\n")
	set.Labels = map[string]string{meta.LabelTemplateSet: "default"}
	digest := fleetrules.Files{Data: set.Data}.Checksum()

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn}"
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationTemplateSets, fmt.Sprintf(`{%q: %q}`, set.Name, digest))
	})
	for _, mark := range []string{"after the values", "after a restart"} {
		canary.reconciled(t, mark)
		require.Equal(t, first, canary.vs.Status.Rollout.Revision)
		world.Get(t, canary.app)
		require.Equal(t, "info", logLevel(canary.app))
		restart(t)
	}
	added := newInWave(t, "canary")
	added.until(t, v1alpha1.RolloutSoaking, first)

	addTemplateSet(t, set)
	harness.Until(t, world, canary.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	rest.until(t, v1alpha1.RolloutWaiting, first)
	require.Len(t, storedSince(t, stored), 1)
}

// ConfigMaps that no chart manages change quickly. They are published together, when they have not changed for some
// seconds.
func TestSettling_PublishesQuickChangesAsOneRevision(t *testing.T) {
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	world.StartObserved(t, options, operator.Process{Quiet: 3 * time.Second})
	installation, canary, _, first := waiting(t, "")
	stored := storedRevisions(t)
	for n := range 3 {
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
			c.Data["development.yaml"] = fmt.Sprintf("sidecar: {logLevel: warn}\nvalues: {n: %d}", n)
		})
	}
	harness.Until(t, world, canary.app, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	world.Get(t, canary.vs)
	require.NotEqual(t, first, canary.vs.Status.Rollout.Revision)
	require.Len(t, storedSince(t, stored), 1)
}

// At the first installation, the ConfigMaps do not belong together yet. Until they do, only removals are written.
func TestSettling_WaitsForCompleteFirstRevision(t *testing.T) {
	installation := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "development.yaml", "sidecar: {logLevel: warn}")
	set := objects.NewConfigMap("release-default", options.Namespace, "NOTES.txt", "two\n")
	set.Labels = map[string]string{meta.LabelTemplateSet: desired.DefaultTemplateSet}
	metav1.SetMetaDataAnnotation(&installation.ObjectMeta, meta.AnnotationTemplateSets,
		fmt.Sprintf(`{%q: %q}`, set.Name, fleetrules.Files{Data: set.Data}.Checksum()))
	removed := newInWave(t, "removed")
	harness.Until(t, world, removed.app, "its sidecar", isInjected)
	require.NoError(t, running.Stop())
	world.SetValues(t, installation)
	running = world.RunOperator(options)

	added := newInWave(t, "added")
	harness.Until(t, world, added.vs, "the reason", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionReady), meta.ReasonRevisionIncomplete)
	})
	require.Contains(t, message(added.vs, meta.ConditionReady), "ConfigMap "+options.Namespace+"/release-default does not exist")
	world.Delete(t, removed.vs)
	harness.Until(t, world, removed.app, "the removal", isClean)
	world.Get(t, added.app)
	require.False(t, isInjected(added.app))

	addTemplateSet(t, set)
	harness.Until(t, world, added.app, "the sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
}

// The ConfigMap of the values is deleted. No sidecar changes, also after a restart. The status and the command check
// name the ConfigMap.
func TestSettling_KeepsSidecarsIfValuesAreDeleted(t *testing.T) {
	deployOperator(t)
	installation := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "development.yaml", "sidecar: {logLevel: warn}")
	world.SetValues(t, installation)
	carrier := newInWave(t, "any")
	harness.Until(t, world, carrier.app, "its rollout", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" && isRolledOut(d) })

	require.NoError(t, world.Client.Delete(t.Context(), installation.DeepCopy()))
	missing := "ConfigMap " + options.Namespace + "/" + options.EnvironmentsConfigMap + " does not exist"
	carrier.reconciled(t, "after the deletion")
	added := newInWave(t, "any")
	harness.Until(t, world, added.app, "the last published values", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	out, notes, code := rolloutPlugin(t, "check")
	require.Equal(t, 1, code, notes)
	require.Contains(t, out, missing)

	restart(t)
	carrier.reconciled(t, "after a restart")
	late := newInWave(t, "any")
	harness.Until(t, world, late.vs, "the reason", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(message(vs, meta.ConditionReady), meta.ReasonRevisionIncomplete)
	})
	require.Contains(t, message(late.vs, meta.ConditionReady), missing)
	world.Get(t, late.app)
	require.False(t, isInjected(late.app), "without values")
	before := carrier.app.Generation
	world.Get(t, carrier.app)
	require.Equal(t, before, carrier.app.Generation)

	require.NoError(t, world.ApplyValues(t.Context(), installation))
	harness.Until(t, world, late.app, "the values", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	world.Get(t, carrier.app)
	require.Equal(t, before, carrier.app.Generation)
}
