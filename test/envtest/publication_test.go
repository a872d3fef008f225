// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	rollouts "kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// published waits until the operator's publication meets a condition.
func published(t *testing.T, what string, says func(*rollouts.Publication) bool) *rollouts.Publication {
	t.Helper()
	var found *rollouts.Publication
	harness.Eventually(t, what, func() bool {
		var err error
		found, err = source.ReadPublication(t.Context(), world.Client, installationName())
		require.NoError(t, err)
		return found != nil && says(found)
	})
	return found
}

// A template set or the policy of the installation cannot be loaded. The publication keeps the revision that
// VectorSidecars have, also after a restart.
func TestPublication_KeepsRevisionIfPartIsInvalid(t *testing.T) {
	installation := wavesOf(t, "1s", "halt: {}")
	set := templateSet("own", "NOTES.txt", "own")
	addTemplateSet(t, set)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "templateSet: own\nsidecar: {logLevel: info}"
	})
	one := newInWave(t, "other")
	harness.Until(t, world, one.app, "its sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	one.until(t, v1alpha1.RolloutComplete, "")
	revision := one.vs.Status.Rollout.Revision
	first := published(t, "the revision", func(p *rollouts.Publication) bool { return p.Revision == revision && len(p.TemplateSets) == 1 })
	require.Equal(t, rollouts.PartLoaded, first.TemplateSets[0].State)
	require.Empty(t, first.Faults())

	harness.Change(t, world, set, func(c *corev1.ConfigMap) { c.Data = map[string]string{"_x.tpl": definedTwice} })
	broken := published(t, "the broken set", func(p *rollouts.Publication) bool { return p.TemplateSets[0].State == rollouts.PartLastKnownGood })
	require.Equal(t, revision, broken.Revision)
	require.Equal(t, first.Since, broken.Since, "it is the same revision")
	require.Contains(t, broken.TemplateSets[0].Message, "_x.tpl")

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = "wavess: []" })
	restart(t)
	again := published(t, "the broken rules", func(p *rollouts.Publication) bool { return p.Rollout.State == rollouts.PartLastKnownGood })
	require.Equal(t, revision, again.Revision)
	require.Equal(t, broken.TemplateSets, again.TemplateSets)
	require.Contains(t, again.RolloutText, "canary")
	harness.Change(t, world, one.vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, one.app, "its own change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	world.Get(t, one.vs)
	require.NotNil(t, one.vs.Status.Rollout, "another leader still has the waves")
	require.Equal(t, revision, one.vs.Status.Rollout.Revision)

	harness.Change(t, world, set, func(c *corev1.ConfigMap) { c.Data = map[string]string{"NOTES.txt": "other"} })
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data[desired.RolloutKey] = strings.Replace(again.RolloutText, "soak: 1s", "soak: 2s", 1)
	})
	next := published(t, "the next revision", func(p *rollouts.Publication) bool { return len(p.Faults()) == 0 && p.Revision != revision })
	harness.Until(t, world, one.vs, "the same state", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Rollout.Revision == next.Revision })
}
