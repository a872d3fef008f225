// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If an earlier CustomResourceDefinition of Rollouts lacks the restartPolicy of init containers, the API server would
// drop the field. The sidecar would be an init container that never ends and blocks the application. So the overlay
// does not apply to Rollouts.
func TestOverlaySet_SkipsDefinitionWithoutRestartPolicy(t *testing.T) {
	t.Parallel()
	w, _ := servingRollouts(t, removeInitRestartPolicy)

	namespace := w.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "Rollout").Build()
	only := objects.NewVectorSidecar("only", namespace).Selecting("only", "vector").For("Rollout").Named("other").Build()
	w.Create(t, vs, only)
	set := &v1alpha1.OverlaySet{}
	harness.Eventually(t, "an overlay of each sidecar", func() bool {
		err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: meta.OverlaySet}, set)
		return err == nil && len(set.Spec.Overlays) == 2
	})
	of := func(name string) v1alpha1.Overlay {
		return set.Spec.Overlays[slices.IndexFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == name })]
	}
	require.Equal(t, []v1alpha1.WorkloadKind{"Deployment"}, of("logs").Kinds)
	require.Empty(t, of("logs").SkipReason)
	require.Equal(t, "the definition of Rollouts, possibly of an earlier version, does not have the field initContainers.restartPolicy", of("only").SkipReason)

	harness.Eventually(t, "a policy that acts on Deployments", func() bool {
		trial := objects.NewDeployment("trial", namespace).Labeled("logs", "vector").Build()
		return w.Client.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial, "vector")
	})
	rollout := harness.NewWorkload("Rollout", "cart", namespace, map[string]string{"logs": "vector"})
	w.Create(t, rollout)
	require.Equal(t, []string{"app"}, names(rollout))
	harness.Until(t, w, vs, "the rejection of the operator", func(vs *v1alpha1.VectorSidecar) bool {
		return slices.ContainsFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool {
			return of.Is("Rollout", "cart") && of.Reason == meta.ReasonApplyRejected
		})
	})

	// With AtAdmission, a workload does not wait for an injection that the definition prevents. The state follows
	// when only the definition changes.
	theirs := objects.NewVectorSidecar("theirs", namespace).Selecting("logs", "theirs").For("Rollout").Named("third").Build()
	theirs.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission
	owned := harness.NewWorkload("Rollout", "orders", namespace, map[string]string{"logs": "theirs"})
	isController := true
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "shop.example/v1", Kind: "Shop", Name: "orders", UID: "0d3b", Controller: &isController}})
	w.Create(t, theirs, owned)
	says := func(state v1alpha1.WorkloadState, text string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return len(vs.Status.Workloads) == 1 && vs.Status.Workloads[0].State == state && strings.Contains(vs.Status.Workloads[0].Message, text)
		}
	}
	lacks := says(v1alpha1.StateSkipped, "the API server does not inject the sidecar: "+of("only").SkipReason)
	harness.Until(t, w, theirs, "the report about the definition", lacks)
	require.NoError(t, w.ServeRollouts())
	harness.Until(t, w, theirs, "the wait for the owner", says(v1alpha1.StateDeferred, "the API server injects the sidecar with the owner's next change"))
	require.NoError(t, w.ServeRollouts(removeInitRestartPolicy))
	harness.Until(t, w, theirs, "the report about the definition", lacks)
}

// removeInitRestartPolicy removes the restartPolicy of init containers from a definition.
func removeInitRestartPolicy(definition *apiextensionsv1.CustomResourceDefinition) {
	for i := range definition.Spec.Versions {
		pod := definition.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["template"].Properties["spec"]
		delete(pod.Properties["initContainers"].Items.Schema.Properties, "restartPolicy")
	}
}

// An API server that has just started may not have read the definition of Rollouts. Until it has, it rejects creates of
// the Rollouts that a VectorSidecar selects, and accepts all others.
func TestOverlaySet_BlocksOnlySelectedRolloutsAtStart(t *testing.T) {
	t.Parallel()
	w, plane := servingRollouts(t)
	namespace := w.Namespace(t)
	w.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Rollout").Build())
	selected := harness.NewWorkload("Rollout", "cart", namespace, map[string]string{"logs": "vector"})
	harness.Eventually(t, "an effective policy", func() bool {
		trial := selected.DeepCopyObject().(client.Object)
		return w.Client.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial, "vector")
	})
	config, err := plane.AddAPIServer()
	require.NoError(t, err)
	started, err := client.New(config, client.Options{Scheme: w.Client.Scheme()})
	require.NoError(t, err)
	refused := 0
	harness.Eventually(t, "the sidecar, by the API server that has started", func() bool {
		other := harness.NewWorkload("Rollout", "other", namespace, map[string]string{"logs": "none"})
		require.NoError(t, started.Create(t.Context(), other, client.DryRunAll))
		trial := selected.DeepCopyObject().(client.Object)
		if err := started.Create(t.Context(), trial, client.DryRunAll); err != nil {
			require.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
			refused++
			return false
		}
		return has(trial, "vector")
	})
	t.Logf("refused %d times: one that gets a sidecar", refused)
}

// servingRollouts starts an API server with a changed definition of Rollouts, and an operator that injects into
// Deployments and Rollouts by admission policies.
func servingRollouts(t *testing.T, changes ...func(*apiextensionsv1.CustomResourceDefinition)) (*harness.World, *controlplane.ControlPlane) {
	t.Helper()
	plane := controlplane.ForTest(t, controlplane.Options{})
	w, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	require.NoError(t, w.ServeRollouts(changes...))
	both := []string{"Deployment", "Rollout"}
	_, err = w.RunAsInstalled(t.Context(), plane, both...)
	require.NoError(t, err)
	_, err = w.InjectAtAdmission(t.Context(), plane, both...)
	require.NoError(t, err)
	w.SetValues(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}})
	with := options
	with.WorkloadKinds = both
	w.StartObserved(t, with, operator.Process{Version: w.Version, PolicyInterval: 200 * time.Millisecond})
	return w, plane
}
