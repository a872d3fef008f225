// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If an admission policy rejects Deployments with the sidecar, the operator detects this with a dry run and withdraws
// the overlay. Creates of application owners are then accepted without the sidecar.
func TestOperator_WithdrawsOverlayAfterRejection(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-vector-" + namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}},
			},
			Validations: []admissionv1.Validation{{
				Expression: "!object.spec.template.spec.?initContainers.orValue([]).exists(c, c.name == 'vector')", Message: "no Vector here",
			}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	world.Create(t, policy, binding)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, world.Client.Delete(ctx, binding))
		require.NoError(t, world.Client.Delete(ctx, policy))
	})
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment) // Before there is a VectorSidecar.
	harness.Eventually(t, "an effective policy", func() bool {
		trial := objects.NewDeployment("trial", namespace).WithInitContainer("vector").Build()
		return world.Client.Create(t.Context(), trial, client.DryRunAll) != nil
	})
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	require.Contains(t, awaitSkipReason(t, vs), "no Vector here")
	harness.Eventually(t, "an owner's create to be accepted", func() bool {
		return world.Client.Create(t.Context(), objects.NewDeployment("search", namespace).Labeled("logs", "vector").Build(), client.DryRunAll) == nil
	})
	var found appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	require.Len(t, found.Items, 1)
}
