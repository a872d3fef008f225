// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// rolloutManifest returns the manifest of a Rollout with all lists into which a sidecar is injected. The application
// owner's tools replace each of these lists.
func rolloutManifest(image string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: cart, labels: {logs: vector}}
spec:
  replicas: 1
  selector: {matchLabels: {app: cart}}
  strategy: {canary: {}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      initContainers: [{name: migrate, image: migrate}]
      containers: [{name: app, image: %q}]
      volumes: [{name: cache, emptyDir: {}}]
`, image)
}

func newRollout(name, namespace string) *unstructured.Unstructured {
	rollout := &unstructured.Unstructured{}
	rollout.SetGroupVersionKind(workload.KindByName("Rollout").GroupVersionKind)
	rollout.SetName(name)
	rollout.SetNamespace(namespace)
	return rollout
}

// settledRollout creates the Rollout of a manifest and waits until the operator has adopted the injected sidecar.
func settledRollout(t *testing.T, vs *v1alpha1.VectorSidecar, deploy deployer) *unstructured.Unstructured {
	t.Helper()
	world.Create(t, vs)
	awaitOverlay(t, vs)
	trial := harness.NewWorkload("Rollout", "any", vs.Namespace, map[string]string{"logs": "vector"})
	untilActive(t, trial, "vector")
	deploy(t, vs.Namespace, rolloutManifest("app:1"))
	rollout := newRollout("cart", vs.Namespace)
	world.Get(t, rollout)
	require.EqualValues(t, 1, rollout.GetGeneration())
	require.True(t, has(rollout, "vector"))
	harness.Until(t, world, vs, "the count", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedWorkloads == 1 })
	return rollout
}

// isRolledOut sets the status of a Rollout to rolled out, because no Argo Rollouts controller runs in this test.
func isRolledOut(t *testing.T, rollout *unstructured.Unstructured) {
	t.Helper()
	is := fmt.Sprintf(`{"status": {"observedGeneration": "%d", "phase": "Healthy", "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "currentPodHash": "a", "stableRS": "a"}}`, rollout.GetGeneration())
	require.NoError(t, world.Client.Status().Patch(t.Context(), rollout, client.RawPatch(types.MergePatchType, []byte(is))))
}

// If an applied manifest of a Rollout replaces its lists, the API server injects the sidecar again in the same
// request. Each changed manifest increases the generation by one. An unchanged manifest does not increase it.
func TestArgoRollout_KeepsOneGenerationForEachDeploy(t *testing.T) {
	t.Parallel()
	for name, deploy := range deployers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vs := objects.NewVectorSidecar("logs", world.Namespace(t)).Selecting("logs", "vector").For("Rollout").Build()
			rollout := settledRollout(t, vs, deploy)
			before := template(rollout).DeepCopy()
			deploy(t, vs.Namespace, rolloutManifest("app:1"))
			world.Get(t, rollout)
			require.EqualValues(t, 1, rollout.GetGeneration(), "the same again changes nothing")
			require.Equal(t, before, template(rollout))

			deploy(t, vs.Namespace, rolloutManifest("app:2"))
			world.Get(t, rollout)
			require.EqualValues(t, 2, rollout.GetGeneration())
			require.Equal(t, []string{"vector", "migrate", "app"}, names(rollout))
			before.Spec.Containers[0].Image = "app:2"
			require.ElementsMatch(t, before.Spec.Volumes, template(rollout).Spec.Volumes)
			require.Equal(t, before.Spec.InitContainers, template(rollout).Spec.InitContainers)
			require.Equal(t, before.Spec.Containers, template(rollout).Spec.Containers)

			world.Delete(t, vs)
			harness.Until(t, world, rollout, "no sidecar", func(r *unstructured.Unstructured) bool { return !has(r, "vector") })
			require.Equal(t, []string{"migrate", "app"}, names(rollout))
			require.Len(t, template(rollout).Spec.Volumes, 1)
			require.Empty(t, template(rollout).Annotations)
			require.EqualValues(t, 3, rollout.GetGeneration(), "what was put back was put back in the owner's requests")
			deploy(t, vs.Namespace, rolloutManifest("app:3"))
			world.Get(t, rollout)
			require.Equal(t, []string{"migrate", "app"}, names(rollout), "what nobody asks for does not come back")
		})
	}
}

// A deferred sidecar is injected when the application owner next changes the Rollout, in the same generation.
func TestArgoRollout_AppliesDeferredSidecarWithNextDeploy(t *testing.T) {
	t.Parallel()
	vs := objects.NewVectorSidecar("logs", world.Namespace(t)).Selecting("logs", "vector").For("Rollout").Build()
	vs.Spec.Rollout = &v1alpha1.RolloutSpec{Mode: v1alpha1.ModeOnAppRollout}
	rollout := settledRollout(t, vs, byApply)
	isRolledOut(t, rollout)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} })
	harness.Until(t, world, vs, "the waiting change", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Deferred != nil && vs.Status.Deferred.Workloads == 1
	})
	world.Get(t, rollout)
	require.EqualValues(t, 1, rollout.GetGeneration())
	overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool {
		return o.SkipReason == "" && o.Hash != rollout.GetAnnotations()[meta.AnnotationInjectedHash]
	})
	harness.Eventually(t, "a policy with the changed sidecar", func() bool {
		trial := harness.NewWorkload("Rollout", "trial", vs.Namespace, map[string]string{"logs": "vector"})
		return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && logLevel(trial) == "error"
	})

	byApply(t, vs.Namespace, rolloutManifest("app:2"))
	world.Get(t, rollout)
	require.EqualValues(t, 2, rollout.GetGeneration())
	require.Equal(t, []string{"vector", "migrate", "app"}, names(rollout))
	require.Equal(t, "error", logLevel(rollout))
	harness.Until(t, world, vs, "no waiting workload", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Deferred == nil })
	world.Get(t, rollout)
	require.EqualValues(t, 2, rollout.GetGeneration(), "the operator only notes it")
}

// The API server does not inject into a Rollout with workloadRef, because the referenced workload has the pod
// template.
func TestArgoRollout_IgnoresWorkloadRef(t *testing.T) {
	t.Parallel()
	vs := objects.NewVectorSidecar("logs", world.Namespace(t)).Selecting("logs", "vector").For("Rollout").Build()
	settledRollout(t, vs, byApply)
	byApply(t, vs.Namespace, `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: other, labels: {logs: vector}}
spec:
  replicas: 1
  selector: {matchLabels: {app: other}}
  strategy: {canary: {}}
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: other}
`)
	other := newRollout("other", vs.Namespace)
	world.Get(t, other)
	require.Empty(t, names(other))
	require.Empty(t, other.GetAnnotations()[meta.AnnotationInjectedHash])
}

// The definition of Rollouts accepts pod templates that the operator cannot decode. The operator lists all Rollouts
// in one request. It reports such a Rollout as blocked and does not write to it, but still updates all other
// Rollouts.
func TestArgoRollout_IsolatesUndecodableRollout(t *testing.T) {
	t.Parallel()
	vs := objects.NewVectorSidecar("logs", world.Namespace(t)).Selecting("logs", "vector").For("Rollout").WithSoak(0).Build()
	good := settledRollout(t, vs, byApply)
	isRolledOut(t, good)
	manifest := func(cpu string) string {
		return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: bad, labels: {logs: vector}}
spec:
  selector: {matchLabels: {app: bad}}
  strategy: {canary: {}}
  template:
    metadata: {labels: {app: bad}}
    spec: {containers: [{name: app, image: app, resources: {limits: {cpu: %s}}}]}
`, cpu)
	}
	byApply(t, vs.Namespace, manifest("one"))
	bad := newRollout("bad", vs.Namespace)
	tells := func(text string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return slices.ContainsFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool {
				return of.Is("Rollout", "bad") && of.State == v1alpha1.StateBlocked && strings.HasPrefix(of.Message, text+"spec.template.spec.containers[0].resources.limits.cpu cannot be read: quantities must")
			})
		}
	}
	harness.Until(t, world, vs, "the reported problem", tells(""))
	world.Get(t, bad)
	require.NotEmpty(t, template(bad).Annotations, "the API server has put the sidecar in all the same")
	before := bad.DeepCopyObject()

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} })
	harness.Until(t, world, good, "the change", func(r *unstructured.Unstructured) bool { return logLevel(r) == "error" })
	isRolledOut(t, good)
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, good, "no sidecar", func(r *unstructured.Unstructured) bool { return !has(r, "vector") })
	harness.Until(t, world, vs, "a message about the blocked removal", tells("the sidecar cannot be removed: "))
	world.Get(t, bad)
	require.Equal(t, before, bad.DeepCopyObject(), "nothing is written to it")

	operations := `[{"op": "replace", "path": "/spec/template/spec/containers/0/resources/limits/cpu", "value": "1"}]`
	require.NoError(t, world.Client.Patch(t.Context(), bad, client.RawPatch(types.JSONPatchType, []byte(operations))))
	harness.Until(t, world, bad, "no sidecar", func(r *unstructured.Unstructured) bool {
		return slices.Equal([]string{"app"}, names(r)) && len(template(r).Annotations) == 0
	})
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	})
}
