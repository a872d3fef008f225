// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// start runs the operator beside Argo Rollouts, with the rights that the chart gives it.
func start(t *testing.T) *cluster {
	t.Helper()
	r := startRollouts(t)
	kinds := []string{"Deployment", "Rollout"}
	_, err := r.world.RunAsInstalled(t.Context(), r.plane, kinds...)
	require.NoError(t, err)
	r.world.StartOperator(t, operator.Options{WorkloadKinds: kinds})
	return r
}

// labelled is a Rollout that VectorSidecar logs selects, with these steps.
func (r *cluster) labelled(t *testing.T, namespace, steps string) *unstructured.Unstructured {
	t.Helper()
	live, err := r.applyAs(t, owner, namespace, `spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  strategy: {canary: {steps: `+steps+`}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      initContainers: [{name: migrate, image: "registry.example/app:1"}]
      containers: [{name: app, image: "registry.example/app:1", ports: [{containerPort: 8080}]}]
      volumes: [{name: data, emptyDir: {}}]
`)
	require.NoError(t, err)
	harness.Until(t, r.world, live, "its first pods", isRolled)
	harness.Change(t, r.world, live, func(of *unstructured.Unstructured) { of.SetLabels(map[string]string{"logs": "vector"}) })
	return live
}

// promote has a Rollout go on whenever it pauses, until it is as it should be.
func (r *cluster) promote(t *testing.T, live *unstructured.Unstructured, what string, met func(*unstructured.Unstructured) bool) {
	t.Helper()
	harness.Until(t, r.world, live, what, func(of *unstructured.Unstructured) bool {
		if met(of) {
			return true
		}
		if at(of, "phase") == "Paused" {
			onward := client.RawPatch(types.MergePatchType, []byte(`{"status": {"pauseConditions": null}}`))
			_ = r.world.Client.Status().Patch(t.Context(), of.DeepCopy(), onward) // It is tried again.
		}
		return false
	})
}

// imageOf is that of a container of a Rollout, "" if there is no such container.
func imageOf(object *unstructured.Unstructured, list, name string) string {
	items, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", list)
	for _, item := range items {
		if entry, isMap := item.(map[string]any); isMap && entry["name"] == name {
			return fmt.Sprint(entry["image"])
		}
	}
	return ""
}

func isInjected(object *unstructured.Unstructured) bool {
	return imageOf(object, "initContainers", "vector") != ""
}

// unsettled is what the status says of Rollout cart, "STATE: REASON".
func unsettled(vs *v1alpha1.VectorSidecar) string {
	at := slices.IndexFunc(vs.Status.Unsettled, func(of v1alpha1.UnsettledWorkload) bool { return of.Is("Rollout", "cart") })
	if at < 0 {
		return ""
	}
	return string(vs.Status.Unsettled[at].State) + ": " + vs.Status.Unsettled[at].Reason
}

func isReady(vs *v1alpha1.VectorSidecar) bool {
	for _, condition := range vs.Status.Conditions {
		if condition.Type == meta.ConditionReady {
			return condition.Status == "True" && vs.Status.ObservedGeneration == vs.Generation
		}
	}
	return false
}

func selecting(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Rollout").WithSoak(0)
}

func TestTheOperatorAndArgoRollouts(t *testing.T) {
	t.Parallel()
	r := start(t)
	t.Run("a canary is not disturbed", func(t *testing.T) { t.Parallel(); r.leavesStepsAlone(t) })
	t.Run("what an owner's apply takes away comes back", func(t *testing.T) { t.Parallel(); r.comesBack(t) })
	t.Run("two sidecars", func(t *testing.T) { t.Parallel(); r.takesTwo(t) })
	t.Run("drift", func(t *testing.T) { t.Parallel(); r.mendsDrift(t) })
	t.Run("a sidecar that fails can be taken out", func(t *testing.T) { t.Parallel(); r.goesBackFromAFailure(t) })
}

// The sidecar goes by the Rollout's own steps; what comes in the middle waits, and then goes
// by itself. In the end nothing is left of it.
func (r *cluster) leavesStepsAlone(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labelled(t, namespace, `[{setWeight: 50}, {pause: {}}]`)
	before := template(t, live)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)

	harness.Until(t, r.world, live, "the sidecar in half of the pods", func(of *unstructured.Unstructured) bool {
		return isInjected(of) && at(of, "phase") == "Paused" && at(of, "updatedReplicas") == "1"
	})
	require.Equal(t, []string{"vector", "migrate"}, namesAt(t, live, "initContainers"), "it is the first")
	for _, entry := range live.GetManagedFields() {
		require.False(t, meta.IsManager(entry.Manager), "the owner of the lists can apply them again: %v", entry)
	}
	harness.Until(t, r.world, vs, "that it is held", func(vs *v1alpha1.VectorSidecar) bool {
		return unsettled(vs) == "Held: "+meta.ReasonRolloutHeld && isReady(vs)
	})
	require.EqualValues(t, 1, vs.Status.Kinds[0].Held)

	first := live.GetGeneration()
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = objects.NewVectorSidecar("", "").WithImage("registry.example/vector:2").Build().Spec.Sidecar
	})
	harness.Until(t, r.world, vs, "that it waits", func(vs *v1alpha1.VectorSidecar) bool { return unsettled(vs) == "Waiting: "+meta.ReasonWaitingForSteps })
	r.world.Get(t, live)
	require.Equal(t, first, live.GetGeneration(), "nothing is written in the middle of a canary")

	r.promote(t, live, "the other image in all pods", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "vector") == "registry.example/vector:2" && isRolled(of)
	})
	harness.Until(t, r.world, vs, "that it is done", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.ReadyWorkloads == 1 })
	require.Equal(t, first+1, live.GetGeneration(), "one write more")

	r.world.Delete(t, vs)
	r.promote(t, live, "no sidecar", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, before, template(t, live), "byte for byte")
	require.NotContains(t, fmt.Sprint(live.GetAnnotations()), meta.Group)
}

// kubectl apply of a kind that it has no schema of replaces lists as a whole.
func (r *cluster) comesBack(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labelled(t, namespace, `[]`)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })

	apply := func(text string) {
		require.NoError(t, r.world.Client.Patch(t.Context(), live.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)), client.FieldOwner("kubectl-client-side-apply")))
	}
	apply(`{"spec": {"template": {"spec": {"initContainers": null, "containers": [{"name": "app", "image": "registry.example/app:2"}], "volumes": [{"name": "data", "emptyDir": {}}]}}}}`)
	harness.Until(t, r.world, live, "it again", func(of *unstructured.Unstructured) bool {
		return isInjected(of) && imageOf(of, "containers", "app") == "registry.example/app:2" && isRolled(of)
	})
	require.Contains(t, namesAt(t, live, "volumes"), "data")
	apply(`{"spec": {"template": {"spec": {"volumes": [{"name": "data", "emptyDir": {}}, {"name": "more", "emptyDir": {}}]}}}}`)
	harness.Until(t, r.world, live, "its volumes again", func(of *unstructured.Unstructured) bool {
		names := namesAt(t, of, "volumes")
		return slices.Contains(names, "more") && len(names) > 2 && isRolled(of)
	})

	r.world.Delete(t, vs)
	harness.Until(t, r.world, live, "no sidecar", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, []string{"data", "more"}, namesAt(t, live, "volumes"))
	_, isThere, err := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "initContainers")
	require.NoError(t, err)
	require.False(t, isThere, "the list had gone with the owner's apply")
}

func (r *cluster) takesTwo(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labelled(t, namespace, `[]`)
	before := template(t, live)
	logs := selecting(namespace).Build()
	audit := objects.NewVectorSidecar("audit", namespace).Selecting("logs", "vector").For("Rollout").WithSoak(0).Named("audit").
		Sidecar(func(of *v1alpha1.SidecarSpec) {
			of.Metrics, of.Health = &v1alpha1.MetricsSpec{Port: ptr.To[int32](9599)}, &v1alpha1.HealthSpec{Port: ptr.To[int32](8687)}
		}).Build()
	r.world.Create(t, logs)
	harness.Until(t, r.world, live, "the first", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })
	one := template(t, live)
	r.world.Create(t, audit)
	harness.Until(t, r.world, live, "the second", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "audit") != "" && isRolled(of)
	})
	require.True(t, isInjected(live))

	r.world.Delete(t, audit)
	harness.Until(t, r.world, live, "the first alone", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "audit") == "" && isRolled(of)
	})
	require.Equal(t, one, template(t, live))
	require.Equal(t, "true", live.GetAnnotations()[meta.AnnotationInjected])
	harness.Until(t, r.world, logs, "a status of the first", isReady)
	r.world.Delete(t, logs)
	harness.Until(t, r.world, live, "none", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, before, template(t, live))
}

// Somebody's change of the sidecar is undone, and one beside it is left alone.
func (r *cluster) mendsDrift(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labelled(t, namespace, `[]`)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })
	image := imageOf(live, "initContainers", "vector")
	edit := `[{"op": "replace", "path": "/spec/template/spec/initContainers/0/image", "value": "registry.example/other:1"}, {"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "A", "value": "1"}]}]`
	require.NoError(t, r.world.Client.Patch(t.Context(), live.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(edit)), client.FieldOwner("kubectl-edit")))
	harness.Until(t, r.world, live, "its image again", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "vector") == image && isRolled(of)
	})
	require.Contains(t, template(t, live), `"env":[{"name":"A","value":"1"}]`)
	harness.Until(t, r.world, vs, "a status", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.ReadyWorkloads == 1 })
}

// A Rollout that was aborted on the way to its sidecar is as it was when the sidecar goes.
func (r *cluster) goesBackFromAFailure(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labelled(t, namespace, `[{setWeight: 50}, {pause: {}}]`)
	stable, before := at(live, "stableRS"), template(t, live)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar in half of the pods", func(of *unstructured.Unstructured) bool {
		return isInjected(of) && at(of, "phase") == "Paused" && at(of, "updatedReplicas") == "1"
	})
	abort := client.RawPatch(types.MergePatchType, []byte(`{"status": {"abort": true}}`))
	require.NoError(t, r.world.Client.Status().Patch(t.Context(), live.DeepCopy(), abort))
	harness.Until(t, r.world, vs, "that it failed", func(vs *v1alpha1.VectorSidecar) bool { return unsettled(vs) == "Failed: "+meta.ReasonRolloutFailed })

	r.world.Delete(t, vs)
	harness.Until(t, r.world, live, "the stable template", func(of *unstructured.Unstructured) bool {
		return !isInjected(of) && isRolled(of) && at(of, "stableRS") == stable
	})
	require.Equal(t, before, template(t, live))
}

// Where the cluster gets Argo Rollouts later, they are watched within a minute, and where it
// goes, the operator works on.
func TestArgoRolloutsThatComeAndGo(t *testing.T) {
	t.Parallel()
	r := startPlane(t)
	kinds := []string{"Deployment", "Rollout"}
	_, err := r.world.RunAsInstalled(t.Context(), r.plane, kinds...)
	require.NoError(t, err)
	r.world.StartOperator(t, operator.Options{WorkloadKinds: kinds})
	namespace := r.world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Rollout").Build()
	r.world.Create(t, vs)
	reason := func(of string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return isReady(vs) && slices.ContainsFunc(vs.Status.Conditions, func(c metav1.Condition) bool { return c.Type == meta.ConditionReady && c.Reason == of })
		}
	}
	harness.Until(t, r.world, vs, "that there are none", reason(meta.ReasonKindMissing))

	r.install(t)
	r.within(t, vs, "that there are some", reason(meta.ReasonNoMatch))
	live, err := r.applyAs(t, owner, namespace, canary)
	require.NoError(t, err)
	harness.Change(t, r.world, live, func(of *unstructured.Unstructured) { of.SetLabels(map[string]string{"logs": "vector"}) })
	harness.Until(t, r.world, live, "the sidecar", isInjected)

	r.uninstall(t)
	r.within(t, vs, "that there are none any more", reason(meta.ReasonKindMissing))
}

// within is Until for what is looked for once a minute.
func (r *cluster) within(t *testing.T, vs *v1alpha1.VectorSidecar, what string, met func(*v1alpha1.VectorSidecar) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		r.world.Get(t, vs)
		return met(vs)
	}, 2*time.Minute, 100*time.Millisecond, what)
}
