// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The sidecar needs a patch of an application container, such as a mount. The dry run uses the same patch.
func TestPreflight_UsesSamePatchAsWrite(t *testing.T) {
	t.Parallel()
	shares := func(s *v1alpha1.SidecarSpec) {
		s.Logs = &v1alpha1.LogsSpec{Path: "/var/log/app", Containers: []string{"app"}}
	}
	namespace := world.Namespace(t)
	limit := quota(t, namespace, "40Mi")
	deployment, vs := cart(namespace).Build(), logs(namespace).Sidecar(shares).Build()
	world.Create(t, deployment, vs)
	require.Contains(t, awaitRejection(t, vs), "exceeded quota: compute")
	requireUnchanged(t, deployment)

	widen(t, limit)
	requestReconcile(t, vs, "now")
	harness.Until(t, world, deployment, "the sidecar", has)
	require.EqualValues(t, 2, deployment.Generation)
	require.Len(t, deployment.Spec.Template.Spec.Containers[0].VolumeMounts, 1)

	// The next revision changes a sidecar that is injected already.
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "trace" })
	harness.Until(t, world, deployment, "the next revision", func(d *appsv1.Deployment) bool { return d.Generation == 3 })
	tried, _ := countRequests(running, namespace, "pods")
	require.Equal(t, 4, tried, "two that were refused, and one for each revision")
}

// The lists of a Rollout are atomic, so the operator patches their items. The dry run uses the same patch.
func TestPreflight_UsesSamePatchForArgoRollouts(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	limit := quota(t, namespace, "40Mi")
	rollout := asRollout(t, cart(namespace).Build())
	vs := logs(namespace).For("Rollout").Build()
	world.Create(t, rollout, vs)
	require.Contains(t, awaitRejection(t, vs), "exceeded quota: compute")
	world.Get(t, rollout)
	require.EqualValues(t, 1, rollout.GetGeneration())

	widen(t, limit)
	requestReconcile(t, vs, "now")
	harness.Until(t, world, rollout, "the sidecar", func(r *unstructured.Unstructured) bool {
		all, _, _ := unstructured.NestedSlice(r.Object, "spec", "template", "spec", "initContainers")
		return len(all) == 1
	})
	require.EqualValues(t, 2, rollout.GetGeneration())
	tried, written := countRequests(running, namespace, "pods")
	require.Equal(t, []int{3, 0}, []int{tried, written})
}

// asRollout returns a Rollout with the spec of a Deployment.
func asRollout(t *testing.T, like *appsv1.Deployment) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(like)
	require.NoError(t, err)
	rollout := &unstructured.Unstructured{Object: fields}
	rollout.SetAPIVersion("argoproj.io/v1alpha1")
	rollout.SetKind("Rollout")
	unstructured.RemoveNestedField(rollout.Object, "status")
	require.NoError(t, unstructured.SetNestedMap(rollout.Object, map[string]any{"canary": map[string]any{}}, "spec", "strategy"))
	return rollout
}
