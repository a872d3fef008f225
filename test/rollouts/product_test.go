// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

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

// labeled is a Rollout that VectorSidecar logs selects, with these steps.
func (r *cluster) labeled(t *testing.T, namespace, steps string) *unstructured.Unstructured {
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
	at := slices.IndexFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool { return of.Is("Rollout", "cart") })
	if at < 0 {
		return ""
	}
	return string(vs.Status.Workloads[at].State) + ": " + vs.Status.Workloads[at].Reason
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

// The operator injects the sidecar into a Rollout, updates and removes it, each with one rollout.
func TestOperator_ManagesArgoRollouts(t *testing.T) {
	t.Parallel()
	r := start(t)
	t.Run("a canary is not disturbed", func(t *testing.T) { t.Parallel(); r.leavesStepsAlone(t) })
	t.Run("what an owner's apply takes away comes back", func(t *testing.T) { t.Parallel(); r.comesBack(t) })
	t.Run("two sidecars", func(t *testing.T) { t.Parallel(); r.takesTwo(t) })
	t.Run("drift", func(t *testing.T) { t.Parallel(); r.mendsDrift(t) })
	t.Run("the Deployment that it refers to", func(t *testing.T) { t.Parallel(); r.goesIntoTheDeployment(t) })
	t.Run("a change that waits for its owner", func(t *testing.T) { t.Parallel(); r.waitsForTheOwner(t) })
	t.Run("a sidecar that fails can be taken out", func(t *testing.T) { t.Parallel(); r.goesBackFromAFailure(t) })
}

// The sidecar goes by the Rollout's own steps; what comes in the middle waits, and then goes
// by itself. In the end nothing is left of it.
func (r *cluster) leavesStepsAlone(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labeled(t, namespace, `[{setWeight: 50}, {pause: {}}]`)
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
	harness.Until(t, r.world, vs, "the state PodsOutdated", func(vs *v1alpha1.VectorSidecar) bool {
		return unsettled(vs) == "PodsOutdated: "+meta.ReasonPodsNotReplaced && isReady(vs)
	})
	require.EqualValues(t, 1, vs.Status.Kinds[0].PodsOutdated)

	first := live.GetGeneration()
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = objects.NewVectorSidecar("", "").WithImage("registry.example/vector:2").Build().Spec.Sidecar
	})
	harness.Until(t, r.world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool { return unsettled(vs) == "Waiting: "+meta.ReasonWaitingForSteps })
	r.world.Get(t, live)
	require.Equal(t, first, live.GetGeneration(), "nothing is written in the middle of a canary")

	r.promote(t, live, "the other image in all pods", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "vector") == "registry.example/vector:2" && isRolled(of)
	})
	harness.Until(t, r.world, vs, "a finished rollout", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.ReadyWorkloads == 1 })
	require.Equal(t, first+1, live.GetGeneration(), "one write more")

	r.world.Delete(t, vs)
	r.promote(t, live, "no sidecar", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, before, template(t, live), "byte for byte")
	require.NotContains(t, fmt.Sprint(live.GetAnnotations()), meta.Group)
}

// A note since when a Rollout waits is on it, and takes nothing else over.
func (r *cluster) waitsForTheOwner(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labeled(t, namespace, `[]`)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })
	before := template(t, live)
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Rollout.Mode = v1alpha1.ModeOnAppRollout
		vs.Spec.Sidecar = objects.NewVectorSidecar("", "").WithImage("registry.example/vector:2").Build().Spec.Sidecar
	})
	harness.Until(t, r.world, vs, "the waiting state", func(vs *v1alpha1.VectorSidecar) bool {
		return unsettled(vs) == "Deferred: "+meta.ReasonWaitingForAppRollout
	})
	harness.Until(t, r.world, live, "the recorded start of the wait", func(of *unstructured.Unstructured) bool {
		return of.GetAnnotations()[meta.AnnotationWaiting("vectorsidecar/logs")] != ""
	})
	require.Equal(t, before, template(t, live))
	for _, entry := range live.GetManagedFields() {
		require.False(t, meta.IsManager(entry.Manager) && strings.Contains(entry.FieldsV1.GetRawString(), "f:spec"), "the lists are their owner's: %v", entry)
	}

	harness.Change(t, r.world, live, func(of *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(of.Object, "again", "spec", "template", "metadata", "annotations", "restarted"))
	})
	harness.Until(t, r.world, live, "the other image", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "vector") == "registry.example/vector:2" && isRolled(of) && of.GetAnnotations()[meta.AnnotationWaiting("vectorsidecar/logs")] == ""
	})
	require.Equal(t, []string{"vector", "migrate"}, namesAt(t, live, "initContainers"))

	// One that has none and was there before waits, too, and nothing of that stays.
	older := r.labeled(t, r.world.Namespace(t), `[]`)
	late := selecting(older.GetNamespace()).Build()
	late.Spec.Rollout.Mode = v1alpha1.ModeOnAppRollout
	harness.Eventually(t, "another second", func() bool { return time.Since(older.GetCreationTimestamp().Time) > 2*time.Second })
	r.world.Create(t, late)
	isNoted := func(of *unstructured.Unstructured) bool {
		return of.GetAnnotations()[meta.AnnotationWaiting("vectorsidecar/logs")] != ""
	}
	harness.Until(t, r.world, older, "the recorded start of the wait", isNoted)
	require.False(t, isInjected(older))
	r.world.Delete(t, late)
	harness.Until(t, r.world, older, "no field of the operator", func(of *unstructured.Unstructured) bool {
		return !isNoted(of) && !slices.ContainsFunc(of.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return meta.IsManager(e.Manager) })
	})
}

// kubectl apply of a kind that it has no schema of replaces lists as a whole.
func (r *cluster) comesBack(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labeled(t, namespace, `[]`)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })

	apply := func(text string) {
		require.NoError(t, r.world.Client.Patch(t.Context(), live.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)), client.FieldOwner("kubectl-client-side-apply")))
	}
	apply(`{"spec": {"template": {"spec": {"initContainers": null, "containers": [{"name": "app", "image": "registry.example/app:2"}], "volumes": [{"name": "data", "emptyDir": {}}]}}}}`)
	harness.Until(t, r.world, live, "the object again", func(of *unstructured.Unstructured) bool {
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
	live := r.labeled(t, namespace, `[]`)
	before := template(t, live)
	logs := selecting(namespace).Build()
	audit := objects.NewVectorSidecar("audit", namespace).Selecting("logs", "vector").For("Rollout").WithSoak(0).Named("audit").
		Sidecar(func(of *v1alpha1.SidecarSpec) {
			of.Metrics, of.Health = &v1alpha1.MetricsSpec{Port: ptr.To[int32](9599)}, &v1alpha1.HealthSpec{Port: ptr.To[int32](8687)}
		}).Build()
	r.world.Create(t, logs)
	harness.Until(t, r.world, live, "the first sidecar", func(of *unstructured.Unstructured) bool { return isInjected(of) && isRolled(of) })
	one := template(t, live)
	r.world.Create(t, audit)
	harness.Until(t, r.world, live, "the second sidecar", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "audit") != "" && isRolled(of)
	})
	require.True(t, isInjected(live))

	r.world.Delete(t, audit)
	harness.Until(t, r.world, live, "only the first sidecar", func(of *unstructured.Unstructured) bool {
		return imageOf(of, "initContainers", "audit") == "" && isRolled(of)
	})
	require.Equal(t, one, template(t, live))
	require.Equal(t, "true", live.GetAnnotations()[meta.AnnotationInjected])
	harness.Until(t, r.world, logs, "a status from the first operator", isReady)
	r.world.Delete(t, logs)
	harness.Until(t, r.world, live, "no object", func(of *unstructured.Unstructured) bool { return !isInjected(of) && isRolled(of) })
	require.Equal(t, before, template(t, live))
}

// Somebody's change of the sidecar is undone, and one beside it is left alone.
func (r *cluster) mendsDrift(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	live := r.labeled(t, namespace, `[]`)
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
	live := r.labeled(t, namespace, `[{setWeight: 50}, {pause: {}}]`)
	stable, before := at(live, "stableRS"), template(t, live)
	vs := selecting(namespace).Build()
	r.world.Create(t, vs)
	harness.Until(t, r.world, live, "the sidecar in half of the pods", func(of *unstructured.Unstructured) bool {
		return isInjected(of) && at(of, "phase") == "Paused" && at(of, "updatedReplicas") == "1"
	})
	abort := client.RawPatch(types.MergePatchType, []byte(`{"status": {"abort": true}}`))
	require.NoError(t, r.world.Client.Status().Patch(t.Context(), live.DeepCopy(), abort))
	harness.Until(t, r.world, vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool { return unsettled(vs) == "Failed: "+meta.ReasonRolloutFailed })

	r.world.Delete(t, vs)
	harness.Until(t, r.world, live, "the stable template", func(of *unstructured.Unstructured) bool {
		return !isInjected(of) && isRolled(of) && at(of, "stableRS") == stable
	})
	require.Equal(t, before, template(t, live))
}

// Argo Rollouts is installed after the operator, which watches Rollouts within a minute. If Argo Rollouts is
// uninstalled, the operator continues without them.
func TestOperator_WatchesArgoRolloutsInstalledLater(t *testing.T) {
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
	harness.Until(t, r.world, vs, "missing objects", reason(meta.ReasonKindMissing))

	r.install(t)
	r.within(t, vs, "that there are some", reason(meta.ReasonNoMatch))
	live, err := r.applyAs(t, owner, namespace, canary)
	require.NoError(t, err)
	harness.Change(t, r.world, live, func(of *unstructured.Unstructured) { of.SetLabels(map[string]string{"logs": "vector"}) })
	harness.Until(t, r.world, live, "the sidecar", isInjected)
	r.refusesWhatIsNotKnown(t, namespace)

	r.uninstall(t)
	r.within(t, vs, "that there are none any more", reason(meta.ReasonKindMissing))
}

// A definition of an earlier release does not know the restartPolicy of a container, and the API
// server would drop it: the sidecar would keep the pods from starting.
func (r *cluster) refusesWhatIsNotKnown(t *testing.T, namespace string) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "rollouts.argoproj.io"}}
	harness.Change(t, r.world, definition, func(of *apiextensionsv1.CustomResourceDefinition) {
		schema := of.Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, field := range []string{"spec", "template", "spec"} {
			below := schema.Properties[field]
			schema = &below
		}
		delete(schema.Properties["initContainers"].Items.Schema.Properties, "restartPolicy")
	})
	later := rollout(namespace)
	require.NoError(t, yaml.Unmarshal([]byte(canary), &later.Object))
	later.SetGroupVersionKind(rollout(namespace).GroupVersionKind())
	later.SetName("later")
	later.SetNamespace(namespace)
	later.SetLabels(map[string]string{"later": "vector"})
	vs := objects.NewVectorSidecar("later", namespace).Selecting("later", "vector").For("Rollout").Named("later").Build()
	harness.Eventually(t, "an effective definition", func() bool {
		probe := later.DeepCopy()
		probe.SetName("probe")
		require.NoError(t, unstructured.SetNestedSlice(probe.Object, []any{map[string]any{"name": "a", "restartPolicy": "Always"}}, "spec", "template", "spec", "initContainers"))
		return client.WithFieldValidation(r.world.Client, metav1.FieldValidationStrict).Create(t.Context(), probe, client.DryRunAll) != nil
	})
	r.world.Create(t, later, vs)
	harness.Until(t, r.world, vs, "the rejection", func(vs *v1alpha1.VectorSidecar) bool {
		return slices.ContainsFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool {
			return of.Is("Rollout", "later") && of.Reason == meta.ReasonApplyRejected && strings.Contains(of.Message, "restartPolicy")
		})
	})
	r.world.Get(t, later)
	require.Empty(t, imageOf(later, "initContainers", "later"))
}

// within is Until for what is looked for once a minute.
func (r *cluster) within(t *testing.T, vs *v1alpha1.VectorSidecar, what string, met func(*v1alpha1.VectorSidecar) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		r.world.Get(t, vs)
		return met(vs)
	}, 2*time.Minute, 100*time.Millisecond, what)
}

// The Deployment of a Rollout with workloadRef gets the sidecar, also at 0 replicas, and is as far as
// the Rollout is.
func (r *cluster) goesIntoTheDeployment(t *testing.T) {
	t.Helper()
	namespace := r.world.Namespace(t)
	deployment := objects.NewDeployment("web", namespace).WithReplicas(0).Build()
	r.world.Create(t, deployment)
	live := rollout(namespace)
	live.SetLabels(map[string]string{"logs": "vector"})
	live.Object["spec"] = map[string]any{
		"replicas": int64(2), "workloadRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
		"strategy": map[string]any{"canary": map[string]any{"steps": []any{map[string]any{"setWeight": int64(50)}, map[string]any{"pause": map[string]any{}}}}},
	}
	r.world.Create(t, live)
	harness.Until(t, r.world, live, "its first pods", isRolled)
	r.world.Get(t, deployment)
	before := *deployment.Spec.Template.DeepCopy()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "Rollout").WithSoak(0).Build()
	r.world.Create(t, vs)

	hasVector := func(of *appsv1.Deployment) bool { return len(of.Spec.Template.Spec.InitContainers) > 0 }
	harness.Until(t, r.world, deployment, "the sidecar", hasVector)
	harness.Until(t, r.world, live, "the pause step", func(of *unstructured.Unstructured) bool {
		return at(of, "phase") == "Paused" && at(of, "updatedReplicas") == "1"
	})
	state := func(kind, name, is string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return slices.ContainsFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool {
				return of.Is(kind, name) && string(of.State)+": "+of.Reason == is
			})
		}
	}
	harness.Until(t, r.world, vs, "the state PodsOutdated", state("Deployment", "web", "PodsOutdated: "+meta.ReasonPodsNotReplaced))
	require.True(t, state("Rollout", "cart", "Skipped: "+meta.ReasonTemplateInWorkloadRef)(vs), "%v", vs.Status.Workloads)

	r.world.Get(t, deployment)
	first := deployment.GetGeneration()
	harness.Change(t, r.world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = objects.NewVectorSidecar("", "").WithImage("registry.example/vector:2").Build().Spec.Sidecar
	})
	harness.Until(t, r.world, vs, "the waiting state", state("Deployment", "web", "Waiting: "+meta.ReasonWaitingForSteps))
	r.world.Get(t, deployment)
	require.Equal(t, first, deployment.GetGeneration(), "nothing is written in the middle of a canary")
	r.promote(t, live, "the other image in all pods", func(of *unstructured.Unstructured) bool {
		r.world.Get(t, deployment)
		return deployment.Spec.Template.Spec.InitContainers[0].Image == "registry.example/vector:2" && isRolled(of) &&
			at(of, "workloadObservedGeneration") == fmt.Sprint(deployment.Generation)
	})
	harness.Until(t, r.world, vs, "a finished rollout", func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.ReadyWorkloads == 1 })

	r.world.Delete(t, vs)
	r.promote(t, live, "no sidecar", func(of *unstructured.Unstructured) bool {
		r.world.Get(t, deployment)
		return !hasVector(deployment) && isRolled(of)
	})
	require.Equal(t, before, deployment.Spec.Template)
	require.EqualValues(t, 0, *deployment.Spec.Replicas)
}
