// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// runbookCommands are the commands of the plugin in the runbook of the alert about a halt, in their order.
func runbookCommands(t *testing.T) (commands []string) {
	t.Helper()
	all, err := runbook.Read("../..")
	require.NoError(t, err)
	for _, command := range all {
		if command.Alert == "VectorSidecarRolloutHalted" {
			commands = append(commands, strings.TrimPrefix(command.Text, "kubectl vectorsidecar "))
		}
	}
	return commands
}

// rolloutPlugin runs the kubectl plugin for the operator of all tests.
func rolloutPlugin(t *testing.T, arguments ...string) (out, notes string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &stdout, ErrOut: &stderr}
	builtin := cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition, ClusterDefinition: vectorsidecar.ClusterDefinition}
	code = cli.Run(t.Context(), append(arguments, "--kubeconfig", kubeconfig), streams, builtin, "test")
	return stdout.String(), stderr.String(), code
}

// deployOperator creates the Deployment by which the plugin finds the operator.
func deployOperator(t *testing.T) {
	t.Helper()
	operator := objects.NewDeployment("vso", options.Namespace).WithReplicas(0).Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=" + options.EnvironmentsConfigMap, "--environment=development"}
	world.Create(t, operator)
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), operator)))
	})
}

// An image fails in the first wave and is halted, and the fix fails, too. An engineer follows the runbook. All
// VectorSidecars have the image before both, and other waves never got another one.
func TestUndo_RestoresRevisionBeforeTwoFailures(t *testing.T) {
	deployOperator(t)
	installation := pacing(t, "waves: [{name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: 8s}, {name: early, namespaceSelector: {matchLabels: {wave: early}}, soak: 1s}]\nhalt: {}")
	level(t, installation, "info")
	canaries, others := []*inWave{newInWave(t, "canary"), newInWave(t, "canary")}, []*inWave{newInWave(t, "early"), newInWave(t, "early"), newInWave(t, "other")}
	first := ""
	for _, one := range append(canaries, others...) {
		one.until(t, v1alpha1.RolloutComplete, first)
		first = one.vs.Status.Rollout.Revision
		harness.Until(t, world, one.app, "its rollout", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" && isRolledOut(d) })
	}
	fail := func(level, before string) (revision string) {
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
			c.Data["development.yaml"] = "sidecar: {logLevel: " + level + ", image: registry.example/vector:dies}"
		})
		for _, one := range canaries {
			harness.Until(t, world, one.vs, "the halt", func(vs *v1alpha1.VectorSidecar) bool {
				is := vs.Status.Rollout
				return is.State == v1alpha1.RolloutHalted && is.Revision != before
			})
			revision = one.vs.Status.Rollout.Revision
		}
		harness.Eventually(t, "the mark of the failed revision", func() bool {
			for _, stored := range storedRevisions(t) {
				if stored.Labels[meta.LabelRevision] == revision {
					return strings.HasPrefix(stored.Annotations[meta.AnnotationFailed], "Halted ")
				}
			}
			return false
		})
		return revision
	}
	second := fail("warn", first)
	third := fail("error", second)

	commands := runbookCommands(t)
	require.Contains(t, commands, "rollout undo --yes")
	for _, command := range commands {
		if strings.HasPrefix(command, "rollout retry") {
			continue // That is the other way.
		}
		out, notes, code := rolloutPlugin(t, strings.Fields(strings.ReplaceAll(command, "REVISION", second))...)
		require.Less(t, code, 2, "%s: %s", command, notes)
		if strings.HasPrefix(command, "rollout undo") {
			require.Contains(t, out, "2 VectorSidecars: from revision "+third+" to "+first+"\n", command)
			require.Contains(t, out, "3 other VectorSidecars stay unchanged\n", command)
		}
	}
	hasFirst := func() {
		t.Helper()
		for _, one := range canaries {
			one.until(t, v1alpha1.RolloutReverted, first)
			harness.Until(t, world, one.app, "the first image", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" && isRolledOut(d) })
		}
		for _, one := range others {
			one.until(t, v1alpha1.RolloutHalted, first)
			generation := one.app.Generation
			world.Get(t, one.app)
			require.Equal(t, generation, one.app.Generation, "it was never changed")
		}
	}
	hasFirst()

	undo := func() string {
		world.Get(t, installation)
		return installation.Annotations[meta.AnnotationUndoRollout]
	}
	before := undo()
	out, notes, code := rolloutPlugin(t, "rollout", "undo", "--yes")
	require.Zero(t, code, notes)
	require.Equal(t, "revision "+third+" is already undone; nothing changes\n", out)
	require.Equal(t, before, undo())
	restart(t)
	late := newInWave(t, "canary")
	late.until(t, v1alpha1.RolloutHalted, first)
	harness.Until(t, world, late.app, "the first image", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	hasFirst()
	_, notes, code = rolloutPlugin(t, "rollout", "promote", "canary")
	require.Equal(t, 2, code)
	require.Contains(t, notes, "revision "+third+" is undone")

	level(t, installation, "debug")
	for _, one := range append(canaries, others...) {
		harness.Until(t, world, one.app, "the correction", func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" && isRolledOut(d) })
	}
	history, _, _ := rolloutPlugin(t, "rollout", "history")
	require.Regexp(t, second+` .* failed \(Halted since .*\)\n`, history)
	require.Regexp(t, third+` .* failed \(Halted since .*\)\n`, history)
	require.Regexp(t, first+` .*[0-9] *\n`, history)
}

// engineer grants a user the permissions for an undo, which are none for VectorSidecars, and returns flags to act
// as that user.
func engineer(t *testing.T, name string) []string {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments", "controllerrevisions"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "patch"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	world.Create(t, role, binding)
	return []string{"--as", name, "--operator-namespace", options.Namespace}
}

// A revision of ClusterVectorSidecars and a VectorSidecar fails. A user without permission to read them undoes it.
// Objects that are created later do not get it.
func TestUndo_RevertsClusterVectorSidecars(t *testing.T) {
	deployOperator(t)
	installation := wavesOf(t, "8s", "halt: {}")
	level(t, installation, "info")
	second := clusterOf(t)
	second.Name += "-2"
	second.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": second.Name}
	clusters, alone := []*inWaves{newInWaves(t), inWavesOf(t, second)}, newInWave(t, "canary")
	first := clusters[0].before
	alone.until(t, v1alpha1.RolloutComplete, first)
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	for _, in := range clusters {
		untilPart(t, in.cluster, "canary", v1alpha1.RolloutHalted, "")
		untilPart(t, in.cluster, "default", v1alpha1.RolloutHalted, first)
	}
	out, notes, code := rolloutPlugin(t, "rollout", "undo", "--dry-run")
	require.Zero(t, code, notes)
	require.Contains(t, out, "3 VectorSidecars: from revision ")
	require.Contains(t, out, "2 other VectorSidecars stay unchanged\n")

	flags := engineer(t, "undoes")
	out, notes, code = rolloutPlugin(t, append(flags, "rollout", "undo")...)
	require.Equal(t, 2, code)
	require.Equal(t, "VectorSidecars not read\n", out)
	require.Contains(t, notes, "confirm with --yes")
	_, notes, code = rolloutPlugin(t, append(flags, "rollout", "undo", "--yes")...)
	require.Zero(t, code, notes)
	for _, in := range clusters {
		untilPart(t, in.cluster, "canary", v1alpha1.RolloutReverted, first)
		untilPart(t, in.cluster, "default", v1alpha1.RolloutHalted, first)
		harness.Until(t, world, in.canary, "the revert", has("info"))
	}
	alone.until(t, v1alpha1.RolloutReverted, first)

	restart(t)
	late := []*appsv1.Deployment{
		newInWave(t, "canary").app,
		labeled("late", world.Namespace(t, "team", clusters[0].cluster.Name, "wave", "canary")),
		labeled("late", clusters[1].others),
	}
	world.Create(t, late[1], late[2])
	for _, app := range late {
		harness.Until(t, world, app, "the first image", has("info"))
	}
	for _, in := range clusters {
		world.Get(t, in.rest)
		require.Equal(t, "info", logLevel(in.rest))
	}

	level(t, installation, "debug")
	for _, app := range append(late, clusters[0].canary, clusters[0].rest, clusters[1].canary, clusters[1].rest, alone.app) {
		harness.Until(t, world, app, "the correction", has("debug"))
	}
}

// A retry of an undone revision ends the undo. When the revision is finished, it is no longer marked as failed.
func TestUndo_EndsWithRetryOfRevision(t *testing.T) {
	deployOperator(t)
	installation := wavesOf(t, "1s", "halt: {}")
	level(t, installation, "info")
	canary, rest := newInWave(t, "canary"), newInWave(t, "other")
	canary.until(t, v1alpha1.RolloutComplete, "")
	first := canary.vs.Status.Rollout.Revision
	rest.until(t, v1alpha1.RolloutComplete, first)
	level(t, installation, "warn")
	harness.Until(t, world, rest.vs, "the second revision", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Rollout.State == v1alpha1.RolloutComplete && vs.Status.Rollout.Revision != first
	})
	second := rest.vs.Status.Rollout.Revision
	mark := func() string {
		for _, stored := range storedRevisions(t) {
			if stored.Labels[meta.LabelRevision] == second {
				return stored.Annotations[meta.AnnotationFailed]
			}
		}
		return ""
	}

	_, notes, code := rolloutPlugin(t, "rollout", "undo", "--yes")
	require.Zero(t, code, notes)
	for _, one := range []*inWave{canary, rest} {
		one.until(t, v1alpha1.RolloutReverted, first)
		harness.Until(t, world, one.app, "the previous sidecar", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	}
	harness.Eventually(t, "the mark", func() bool { return strings.HasPrefix(mark(), "Undone ") })
	_, notes, code = rolloutPlugin(t, "rollout", "retry")
	require.Zero(t, code, notes)
	for _, one := range []*inWave{canary, rest} {
		one.until(t, v1alpha1.RolloutComplete, second)
	}
	harness.Eventually(t, "no mark", func() bool { return mark() == "" })
}
