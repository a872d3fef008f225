// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func requirement(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func passes[T client.Object](p predicate.Predicate, object T, change func(T)) bool {
	after, _ := object.DeepCopyObject().(T)
	change(after)
	return p.Update(event.UpdateEvent{ObjectOld: object, ObjectNew: after})
}

// A change of a ConfigMap's content starts a reconcile, and a change of its metadata alone does not.
func TestConfigMapChanges_IgnoreMetadata(t *testing.T) {
	object := objects.NewConfigMap("shipping", "shop", "vector.yaml", "x")

	require.False(t, passes(configMapChanges(), object, func(c *corev1.ConfigMap) { c.ResourceVersion, c.Labels = "2", map[string]string{"a": "b"} }))
	require.True(t, passes(configMapChanges(), object, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = "y" }))
	require.True(t, passes(configMapChanges(), object, func(c *corev1.ConfigMap) { c.Data["more"] = "" }))
	require.True(t, passes(configMapChanges(), object, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"geo": {1}} }))
}

// If a namespace's label changes its environment or wave, the VectorSidecars and ClusterVectorSidecars there are
// reconciled.
func TestNamespaces_DetectChangesOfEnvironmentAndWave(t *testing.T) {
	rules := `waves:
- {name: canary, namespaceSelector: {matchLabels: {wave: canary}}}
- {name: early, namespaceSelector: {matchLabels: {tier: a}}, environments: [staging]}`
	api := newMemoryAPI(t, interceptor.Funcs{}, pacing(rules), clusterSidecar("logs", "vector", "shop"))
	before := clusterwide.NewNamespaceMetadata("shop")
	before.Labels = map[string]string{corev1.LabelMetadataName: "shop", "team": "a"}
	changes := api.snapshots.namespaces.changes()
	clusters := &clusterNamespaces{sidecars: api.snapshots.sidecars, namespaces: api.snapshots.namespaces}
	wakes := func(change func(labels map[string]string)) bool {
		after := before.DeepCopy()
		change(after.Labels)
		clusters.eventHandler().Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, api.waiting)
		isWoken := api.waiting.Len() > 0
		for api.waiting.Len() > 0 {
			request, _ := api.waiting.Get()
			require.Equal(t, clusterwide.KeyIn("shop", "logs"), request.NamespacedName)
			api.waiting.Done(request)
		}
		require.Equal(t, isWoken, changes.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}))
		return isWoken
	}
	canary := func(labels map[string]string) { labels["wave"] = "canary" }

	require.False(t, changes.Create(event.CreateEvent{Object: before}))
	require.False(t, changes.Delete(event.DeleteEvent{Object: before}))
	require.False(t, wakes(canary), "there are no waves yet")
	api.load(t)
	require.False(t, wakes(func(labels map[string]string) { labels["team"] = "b" }))
	require.False(t, wakes(func(labels map[string]string) { labels["wave"] = "other" }))
	require.True(t, wakes(func(labels map[string]string) { labels[meta.LabelEnvironment] = "staging" }))
	require.True(t, wakes(canary))
	require.True(t, wakes(func(labels map[string]string) { labels["tier"] = "a" }), "of those in staging")
	canary(before.Labels)
	require.False(t, wakes(func(labels map[string]string) { labels["tier"] = "a" }), "an earlier wave has all of it")
	require.True(t, wakes(func(labels map[string]string) { delete(labels, "wave") }))
}

// Conflicts and rejections have their own reason and are permanent. Other errors have the reason Retrying.
func TestExplainError_SeparatesPermanentErrors(t *testing.T) {
	cause := errors.New("no")
	for name, test := range map[string]struct {
		err       error
		reason    string
		permanent bool
	}{
		"a conflict":      {&apply.ConflictError{Err: cause}, meta.ReasonConflict, true},
		"a refusal":       {&apply.RejectedError{Err: cause}, meta.ReasonApplyRejected, true},
		"a passing error": {cause, meta.ReasonRetrying, false},
	} {
		reason, permanent := explainError(fmt.Errorf("applying: %w", test.err))
		require.Equal(t, test.reason, reason, name)
		require.Equal(t, test.permanent, permanent, name)
	}
}

// An event about many objects names some of them, and states how many more there are.
func TestMostNames_LimitsNamesInEvent(t *testing.T) {
	names := make([]string, 2000)

	require.Contains(t, strings.Join(humanize.TruncateList(names, mostNames, len(names)), ", "), "and 1990 more")
}

// An informer periodically delivers each object again. If the object is unchanged, no reconcile starts.
func TestConfigMapChanges_IgnoreResync(t *testing.T) {
	same := func(client.Object) {}
	cart := workloadcache.New().Reduce(objects.NewDeployment("cart", "shop").Build())
	require.True(t, cart.EquivalentTo(cart))
	require.False(t, passes(configMapChanges(), client.Object(objects.NewConfigMap("vector", "shop", "vector.yaml", "x")), same))
	require.False(t, passes((&namespaces{rules: func() *fleet.Rules { return &fleet.Rules{} }}).changes(), client.Object(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}), same))
	require.False(t, passes(predicate.Predicate(predicate.GenerationChangedPredicate{}), client.Object(objects.NewVectorSidecar("logs", "shop").Build()), same))
}
