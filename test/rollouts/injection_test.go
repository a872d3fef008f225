// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// With admission injection, a Rollout has the sidecar in its first ReplicaSet. Each deploy of its application owner
// adds one ReplicaSet and follows the Rollout's steps: the API server injects the sidecar again in the same request, if
// the owner's manifest removes it. The test counts ReplicaSets and not generations, because the Rollout controller also
// increases the generation.
func TestOverlaySet_InjectsIntoArgoRollouts(t *testing.T) {
	t.Parallel()
	r := startRollouts(t)
	kinds := []string{"Rollout"}
	_, err := r.world.RunAsInstalled(t.Context(), r.plane, kinds...)
	require.NoError(t, err)
	_, err = r.world.InjectAtAdmission(t.Context(), r.plane, kinds...)
	require.NoError(t, err)
	r.world.StartOperator(t, operator.Options{WorkloadKinds: kinds, AdmissionInjection: true})

	namespace := r.world.Namespace(t)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	made := func(name string) *unstructured.Unstructured {
		one := rollout(namespace)
		require.NoError(t, yaml.Unmarshal([]byte(canary), &one.Object))
		one.SetGroupVersionKind(rollout(namespace).GroupVersionKind())
		one.SetNamespace(namespace)
		one.SetName(name)
		one.SetLabels(map[string]string{"logs": "vector"})
		return one
	}
	harness.Eventually(t, "an effective policy", func() bool {
		trial := made("trial")
		return r.world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && isInjected(trial)
	})
	live := made("cart")
	r.world.Create(t, live)
	require.True(t, isInjected(live))
	replicaSets := func() int {
		var found appsv1.ReplicaSetList
		require.NoError(t, r.world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
		return len(found.Items)
	}
	harness.Until(t, r.world, live, "its first pods", isRolled)
	harness.Until(t, r.world, vs, "the end of the work", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.InjectedWorkloads == 1 })
	require.Equal(t, 1, replicaSets())

	deploy := func(image string) {
		lists := `{"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "` + image + `"}], "volumes": [{"name": "data", "emptyDir": {}}]}}}}`
		require.NoError(t, r.world.Client.Patch(t.Context(), live, client.RawPatch(types.MergePatchType, []byte(lists))))
		require.True(t, isInjected(live))
		require.Len(t, namesAt(t, live, "volumes"), 3)
	}
	deploy("registry.example/app:1")
	harness.Until(t, r.world, live, "the object in the controller's cache", isRolled)
	require.Equal(t, 1, replicaSets(), "the same again changes nothing")
	deploy("registry.example/app:2")
	harness.Until(t, r.world, live, "the pause of its steps", func(of *unstructured.Unstructured) bool { return at(of, "phase") == "Paused" })
	require.Equal(t, 2, replicaSets())
	deploy("registry.example/app:2")
	r.promote(t, live, "the end of its steps", isRolled)
	require.Equal(t, 2, replicaSets(), "nothing was written in the middle")

	// A sidecar that was changed goes by the Rollout's steps, and joins the owner's next deploy.
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout = &v1alpha1.RolloutSpec{Mode: v1alpha1.ModeOnAppRollout}
	})
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = selecting("").WithImage("registry.example/vector:2").Build().Spec.Sidecar
	})
	harness.Until(t, r.world, vs, "the waiting change", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Deferred != nil })
	harness.Eventually(t, "a policy with the change", func() bool {
		trial := made("trial")
		return r.world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && imageOf(trial, "initContainers", "vector") == "registry.example/vector:2"
	})
	r.world.Get(t, live)
	before := live.GetAnnotations()[meta.AnnotationInjectedHash]
	deploy("registry.example/app:3")
	require.Equal(t, "registry.example/vector:2", imageOf(live, "initContainers", "vector"))
	harness.Until(t, r.world, live, "the record during the pause of the steps", func(of *unstructured.Unstructured) bool {
		return at(of, "phase") == "Paused" && of.GetAnnotations()[meta.AnnotationInjectedHash] != before
	})
	r.promote(t, live, "the end of its steps", isRolled)
	harness.Until(t, r.world, vs, "the end of the work", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.Deferred == nil })
	r.world.Get(t, live)
	require.Equal(t, 3, replicaSets())

	r.world.Delete(t, vs)
	r.promote(t, live, "no sidecar", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, []string{"data"}, namesAt(t, live, "volumes"))
	require.Empty(t, namesAt(t, live, "initContainers"))
	require.LessOrEqual(t, replicaSets(), 4)
}
