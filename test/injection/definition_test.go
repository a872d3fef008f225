// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A definition of an earlier release lacks the restartPolicy of init containers. The API server would drop it, and
// the sidecar would be an init container that the application waits for in vain: so it is not put in there.
func TestASidecarThatADefinitionDoesNotKnowIsNotPutIn(t *testing.T) {
	t.Parallel()
	old := controlplane.ForTest(t, controlplane.Options{})
	w, err := harness.NewWorld(old.Config())
	require.NoError(t, err)
	require.NoError(t, w.ServeRollouts(func(definition *apiextensionsv1.CustomResourceDefinition) {
		for i := range definition.Spec.Versions {
			pod := definition.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["template"].Properties["spec"]
			delete(pod.Properties["initContainers"].Items.Schema.Properties, "restartPolicy")
		}
	}))
	both := []string{"Deployment", "Rollout"}
	_, err = w.RunAsInstalled(t.Context(), old, both...)
	require.NoError(t, err)
	_, err = w.InjectAtAdmission(t.Context(), old, both...)
	require.NoError(t, err)
	with := options
	with.WorkloadKinds = both
	w.StartOperator(t, with)

	namespace := w.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "Rollout").Build()
	only := objects.NewVectorSidecar("only", namespace).Selecting("only", "vector").For("Rollout").Named("other").Build()
	w.Create(t, vs, only)
	set := &v1alpha1.OverlaySet{}
	harness.Eventually(t, "the overlay of each", func() bool {
		err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: meta.OverlaySet}, set)
		return err == nil && len(set.Spec.Overlays) == 2
	})
	of := func(name string) v1alpha1.Overlay {
		return set.Spec.Overlays[slices.IndexFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == name })]
	}
	require.Equal(t, []v1alpha1.WorkloadKind{"Deployment"}, of("logs").Kinds)
	require.Empty(t, of("logs").Left)
	require.Equal(t, "the definition of Rollouts, of an earlier release perhaps, does not have initContainers.restartPolicy", of("only").Left)

	harness.Eventually(t, "the policy to act on Deployments", func() bool {
		trial := objects.NewDeployment("trial", namespace).Labelled("logs", "vector").Build()
		return w.Client.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial, "vector")
	})
	// Until then the API server answers with 503, which failurePolicy does not cover: it looks for definitions every 5 s.
	harness.Eventually(t, "the policies to know the definition of Rollouts", func() bool {
		trial := harness.NewWorkload("Rollout", "trial", namespace, map[string]string{"logs": "vector"})
		return w.Client.Create(t.Context(), trial, client.DryRunAll) == nil
	})
	rollout := harness.NewWorkload("Rollout", "cart", namespace, map[string]string{"logs": "vector"})
	w.Create(t, rollout)
	require.Equal(t, []string{"app"}, names(rollout))
	harness.Until(t, w, vs, "the operator to be refused, too", func(vs *v1alpha1.VectorSidecar) bool {
		return slices.ContainsFunc(vs.Status.Unsettled, func(of v1alpha1.UnsettledWorkload) bool {
			return of.Is("Rollout", "cart") && of.Reason == meta.ReasonApplyRefused
		})
	})
}
