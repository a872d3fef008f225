// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// matching is a spec that selects the label logs=vector.
const matching = "{selector: {matchLabels: {logs: vector}}}"

// declare sets the VectorSidecars that the installation's values declare.
func declare(t *testing.T, text string) *corev1.ConfigMap {
	t.Helper()
	values := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, declared.Key, text)
	world.SetValues(t, values)
	return values
}

// redeclare changes the VectorSidecars that the installation's values declare.
func redeclare(t *testing.T, values *corev1.ConfigMap, text string) {
	t.Helper()
	harness.Change(t, world, values, func(values *corev1.ConfigMap) { values.Data[declared.Key] = text })
}

func find(t *testing.T, object client.Object) bool {
	t.Helper()
	err := world.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

// awaitEvent waits for an event of a reason on the ConfigMap of values with all texts.
func awaitEvent(t *testing.T, reason string, texts ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprint("event ", reason, texts), func() bool {
		var list eventsv1.EventList
		require.NoError(t, world.Client.List(t.Context(), &list, client.InNamespace(options.Namespace)))
		for i := range list.Items {
			event := &list.Items[i]
			isMatch := event.Reason == reason && event.Regarding.Kind == "ConfigMap" && event.Regarding.Name == options.EnvironmentsConfigMap
			for _, text := range texts {
				isMatch = isMatch && strings.Contains(event.Note, text)
			}
			if isMatch {
				return true
			}
		}
		return false
	})
}

func newSidecar(namespace, name string) *v1alpha1.VectorSidecar {
	return &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func awaitSidecar(t *testing.T, namespace, name string) *v1alpha1.VectorSidecar {
	t.Helper()
	sidecar := newSidecar(namespace, name)
	harness.Eventually(t, "VectorSidecar "+name, func() bool { return find(t, sidecar) })
	return sidecar
}

func awaitGone(t *testing.T, object client.Object) {
	t.Helper()
	harness.Eventually(t, object.GetName()+" to be deleted", func() bool { return !find(t, object) })
}

// The operator creates, changes and deletes VectorSidecars as the installation's values declare them.
func TestDeclaredSidecar_AppliesChangesAndDeletes(t *testing.T) {
	namespace := world.Namespace(t)
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, cart)
	values := declare(t, fmt.Sprintf("items: {%[1]s/logs: %[2]s, %[1]s/other: {selector: {matchLabels: {a: b}}}}", namespace, matching))

	logs := awaitSidecar(t, namespace, "logs")
	require.Equal(t, "vector-system_vector-sidecar-operator", logs.Labels[meta.LabelDeclaredBy])
	harness.Until(t, world, cart, "the sidecar", isInjected)
	awaitEvent(t, meta.ReasonApplied, "created VectorSidecar "+namespace+"/logs")
	other := awaitSidecar(t, namespace, "other")

	redeclare(t, values, fmt.Sprintf("items: {%[1]s/logs: {selector: {matchLabels: {logs: vector}}, sidecar: {logLevel: trace}}, %[1]s/other: {selector: {matchLabels: {a: b}}}}", namespace))
	harness.Until(t, world, cart, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	awaitEvent(t, meta.ReasonApplied, "updated VectorSidecar "+namespace+"/logs")
	version := other.ResourceVersion
	require.NoError(t, world.Client.Delete(t.Context(), other.DeepCopy()))
	harness.Eventually(t, "a deleted object to be created again", func() bool {
		return find(t, other) && other.ResourceVersion != version && other.DeletionTimestamp == nil
	})

	redeclare(t, values, fmt.Sprintf("items: {%s/other: {selector: {matchLabels: {a: b}}}}", namespace))
	awaitGone(t, logs)
	harness.Until(t, world, cart, "removal", isClean)
	awaitEvent(t, meta.ReasonDeleted, "deleted VectorSidecar "+namespace+"/logs, which the values no longer declare")
	require.True(t, find(t, other))
}

func TestDeclaredSidecar_WaitsForNamespace(t *testing.T) {
	const namespace = "declared-later"
	declare(t, fmt.Sprintf("items: {%s/logs: %s}", namespace, matching))
	awaitEvent(t, meta.ReasonWaitingForNamespace, "VectorSidecar "+namespace+"/logs: namespace "+namespace+" does not exist")
	require.True(t, apierrors.IsNotFound(world.Client.Get(t.Context(), types.NamespacedName{Name: namespace}, &corev1.Namespace{})))

	world.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})

	awaitSidecar(t, namespace, "logs")
}

// The values declare a VectorSidecar that another client has created, or takes over later. The operator does not change
// it.
func TestDeclaredSidecar_KeepsObjectsOfOtherClients(t *testing.T) {
	namespace := world.Namespace(t)
	gitops := objects.NewVectorSidecar("before", namespace).Selecting("logs", "gitops").Build()
	world.Create(t, gitops)
	values := declare(t, fmt.Sprintf("items: {%[1]s/before: %[2]s, %[1]s/after: %[2]s, %[1]s/stays: %[2]s}", namespace, matching))
	awaitEvent(t, meta.ReasonConflict, "VectorSidecar "+namespace+"/before: the existing object does not have the label")
	require.True(t, find(t, gitops))
	require.Equal(t, "gitops", gitops.Spec.Selector.MatchLabels["logs"])
	require.NoError(t, world.Client.Delete(t.Context(), gitops.DeepCopy()))
	harness.Eventually(t, "the declared object in place of the deleted one", func() bool {
		return find(t, gitops) && gitops.Spec.Selector.MatchLabels["logs"] == "vector"
	})

	after := awaitSidecar(t, namespace, "after")
	body := fmt.Sprintf(`{"apiVersion": %q, "kind": "VectorSidecar", "metadata": {"annotations": {"tool": "argocd"}}, "spec": {"sidecar": {"logLevel": "trace"}, "selector": {"matchLabels": {"logs": "gitops"}}}}`, v1alpha1.GroupVersion)
	patch := client.RawPatch(types.ApplyPatchType, []byte(body))
	require.NoError(t, world.Client.Patch(t.Context(), after, patch, client.FieldOwner("argocd-controller"), client.ForceOwnership))
	awaitEvent(t, meta.ReasonConflict, "VectorSidecar "+namespace+"/after: fields of the spec are also owned by field manager argocd-controller")
	require.True(t, find(t, after))
	require.Equal(t, "gitops", after.Spec.Selector.MatchLabels["logs"])

	redeclare(t, values, fmt.Sprintf("items: {%s/stays: %s}", namespace, matching))
	awaitEvent(t, meta.ReasonConflict, "VectorSidecar "+namespace+"/after: the values no longer declare the object, and it stays")
	awaitGone(t, gitops)
	require.True(t, find(t, after))
	require.Nil(t, after.DeletionTimestamp)
}

// The values do not declare any VectorSidecar anymore. The objects are deleted only with allowEmpty.
func TestDeclaredSidecar_KeepsObjectsUnlessEmptyIsAllowed(t *testing.T) {
	namespace := world.Namespace(t)
	values := declare(t, fmt.Sprintf("items: {%s/logs: %s}", namespace, matching))
	logs := awaitSidecar(t, namespace, "logs")

	redeclare(t, values, "items: {}")
	awaitEvent(t, meta.ReasonNotDeleted, "VectorSidecar "+namespace+"/logs: the value vectorSidecars.items is empty")
	require.True(t, find(t, logs))
	require.Nil(t, logs.DeletionTimestamp)

	redeclare(t, values, "{items: {}, allowEmpty: true}")
	awaitGone(t, logs)
}

// The installation's values declare VectorSidecars with invalid specs and an invalid key. The operator reports each in an
// event, and applies the VectorSidecars that are valid.
func TestDeclaredSidecar_ReportsInvalidSpecs(t *testing.T) {
	namespace := world.Namespace(t)
	values := declare(t, fmt.Sprintf("items: {%[1]s/unknown: {selectr: {}}, %[1]s/empty: {selector: {}}}", namespace))
	awaitEvent(t, meta.ReasonInvalid, "VectorSidecar "+namespace+"/unknown: ", "selectr")
	awaitEvent(t, meta.ReasonInvalid, "VectorSidecar "+namespace+"/empty: ", "spec.selector is empty")

	redeclare(t, values, fmt.Sprintf("items: {%[1]s/unknown: %[2]s, %[1]s/empty: {selector: {}}}", namespace, matching))
	awaitSidecar(t, namespace, "unknown")

	redeclare(t, values, "items: {no-namespace: {}}")
	awaitEvent(t, meta.ReasonInvalid, `vectorSidecars.items: "no-namespace" is not a valid key`)
	require.True(t, find(t, newSidecar(namespace, "unknown")))
}

// While a user has paused all rollouts, declared VectorSidecars are not created or changed, but still deleted.
func TestDeclaredSidecar_StopsWithRolloutPause(t *testing.T) {
	namespace := world.Namespace(t)
	values := declare(t, fmt.Sprintf("items: {%[1]s/logs: %[2]s, %[1]s/leaves: %[2]s}", namespace, matching))
	logs, leaves := awaitSidecar(t, namespace, "logs"), awaitSidecar(t, namespace, "leaves")

	harness.Change(t, world, values, func(values *corev1.ConfigMap) {
		values.Annotations = map[string]string{meta.AnnotationStopWrites: "true"}
		values.Data[declared.Key] = fmt.Sprintf("items: {%[1]s/logs: {selector: {matchLabels: {logs: other}}}, %[1]s/new: %[2]s}", namespace, matching)
	})
	awaitEvent(t, meta.ReasonWritesStopped, "VectorSidecar "+namespace+"/new: the object does not exist, and writes are stopped")
	awaitEvent(t, meta.ReasonWritesStopped, "VectorSidecar "+namespace+"/logs: the spec differs from the values, and writes are stopped")
	awaitGone(t, leaves)
	require.False(t, find(t, newSidecar(namespace, "new")))
	require.True(t, find(t, logs))
	require.Equal(t, "vector", logs.Spec.Selector.MatchLabels["logs"])

	harness.Change(t, world, values, func(values *corev1.ConfigMap) { delete(values.Annotations, meta.AnnotationStopWrites) })
	awaitSidecar(t, namespace, "new")
	harness.Until(t, world, logs, "the change", func(vs *v1alpha1.VectorSidecar) bool { return vs.Spec.Selector.MatchLabels["logs"] == "other" })
}

// Before an uninstallation by hand, an annotation stops all writes, so that deleted VectorSidecars are not created
// again.
func TestDeclaredSidecar_StopsForUninstallation(t *testing.T) {
	namespace := world.Namespace(t)
	values := declare(t, fmt.Sprintf("items: {%[1]s/logs: %[2]s, %[1]s/second: %[2]s}", namespace, matching))
	logs, second := awaitSidecar(t, namespace, "logs"), awaitSidecar(t, namespace, "second")

	harness.Change(t, world, values, func(values *corev1.ConfigMap) {
		values.Annotations = map[string]string{meta.AnnotationUninstalling: "true"}
	})
	require.NoError(t, world.Client.Delete(t.Context(), logs))
	awaitEvent(t, meta.ReasonUninstalling, "VectorSidecar "+namespace+"/logs: the annotation "+meta.AnnotationUninstalling)
	awaitGone(t, logs)
	redeclare(t, values, fmt.Sprintf("items: {%s/logs: %s}", namespace, matching))
	require.True(t, find(t, second))
	require.False(t, find(t, logs))

	harness.Change(t, world, values, func(values *corev1.ConfigMap) { delete(values.Annotations, meta.AnnotationUninstalling) })
	awaitSidecar(t, namespace, "logs")
	awaitGone(t, second)
}

func TestDeclaredSidecar_AppliesClusterVectorSidecars(t *testing.T) {
	namespace := world.Namespace(t, "declared", "cluster")
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, cart)
	values := declare(t, "clusterItems: {declared: {namespaceSelector: {matchLabels: {declared: cluster}}, selector: {matchLabels: {logs: vector}}}}")
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "declared"}}
	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.True(t, find(t, cluster))
	awaitEvent(t, meta.ReasonApplied, "created ClusterVectorSidecar declared")

	redeclare(t, values, "{clusterItems: {}, allowEmpty: true}")
	awaitGone(t, cluster)
	harness.Until(t, world, cart, "removal", isClean)
}
