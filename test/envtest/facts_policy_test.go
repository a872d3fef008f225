// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// Fact about the API server: if a mutating policy injects the sidecar at creation, and the operator applies the same
// sidecar, the generation stays 1.
func TestInject_KeepsGenerationOneWithMutatingPolicy(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	mutate(t, namespace, `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
		containers: [Object.spec.template.spec.containers{name: "vector", image: "registry.example/vector:1"}]}}}}`)
	// A policy takes effect a moment after its creation.
	harness.Eventually(t, "an effective policy", func() bool {
		answer, err := applyAs(t, owner, namespace, whole(`{containers: [`+app+`]}`), client.DryRunAll)
		return err == nil && len(containers(answer)) == 2
	})

	created := mustApply(t, owner, namespace, whole(`{containers: [`+app+`]}`))
	require.EqualValues(t, 1, created.Generation)
	require.ElementsMatch(t, []string{"app", "vector"}, containers(created))

	adopted := mustApply(t, ours, namespace, part(`{containers: [`+vector+`]}`))
	require.EqualValues(t, 1, adopted.Generation, "adoption starts no rollout")

	removed := mustApply(t, ours, namespace, nothing)
	require.ElementsMatch(t, []string{"app", "vector"}, containers(removed), "the policy puts it back in the same request")
}

// mutate creates a policy that changes the Deployments of one namespace.
func mutate(t *testing.T, namespace, expression string) {
	t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   deploymentsOf(namespace),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: expression},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: namespace},
	}
	world.Create(t, policy, binding)
	t.Cleanup(func() { remove(t, binding, policy) })
}

// deny creates a policy that rejects changes of the Deployments in one namespace, and waits until it is active.
// allow deletes the policy.
func deny(t *testing.T, deployment *appsv1.Deployment, reason metav1.StatusReason) (allow func()) {
	t.Helper()
	name := deployment.Namespace
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: deploymentsOf(name),
			// Metadata may change, so that a test can show that the operator reconciled the Deployment.
			Validations: []admissionv1.Validation{{
				Expression: "oldObject == null || object.spec.template == oldObject.spec.template", Message: "templates are frozen", Reason: &reason,
			}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	world.Create(t, policy, binding)
	try := func() error {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"metadata":{"labels":{"frozen":"no"}}}}}`))
		return world.Client.Patch(t.Context(), deployment.DeepCopy(), patch, client.DryRunAll)
	}
	harness.Eventually(t, "an effective policy", func() bool { return try() != nil })
	t.Cleanup(func() { remove(t, binding, policy) })
	return func() {
		remove(t, binding, policy)
		harness.Eventually(t, "the deletion of the policy", func() bool { return try() == nil })
	}
}

func remove(t *testing.T, all ...client.Object) {
	t.Helper()
	for _, object := range all {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
	}
}

func deploymentsOf(namespace string) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule: admissionv1.Rule{
				APIGroups: []string{appsv1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{"deployments"},
			},
		}}},
	}
}

// Pod Security, quotas and limits reject a pod in a dry run with the same message as without it.
func TestDryRun_ReportsRejectionOfPods(t *testing.T) {
	t.Parallel()
	root := int64(0)
	for name, test := range map[string]struct {
		limit   func(t *testing.T, namespace string)
		pod     corev1.PodSpec
		refusal string
	}{
		"Pod Security": {
			func(t *testing.T, namespace string) {
				t.Helper()
				harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, func(n *corev1.Namespace) {
					n.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
				})
			},
			corev1.PodSpec{Containers: []corev1.Container{{Name: "vector", Image: "x", SecurityContext: &corev1.SecurityContext{RunAsUser: &root}}}},
			"violates PodSecurity",
		},
		"a quota": {
			func(t *testing.T, namespace string) {
				t.Helper()
				quota := &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Name: "quota", Namespace: namespace},
					Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("100m")}},
				}
				world.Create(t, quota)
				harness.Until(t, world, quota, "the status", func(q *corev1.ResourceQuota) bool { return len(q.Status.Hard) > 0 })
			},
			corev1.PodSpec{Containers: []corev1.Container{{Name: "vector", Image: "x", Resources: *resources("1")}}},
			"exceeded quota",
		},
		"a limit": {
			func(t *testing.T, namespace string) {
				t.Helper()
				world.Create(t, &corev1.LimitRange{
					ObjectMeta: metav1.ObjectMeta{Name: "limit", Namespace: namespace},
					Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
						Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
					}}},
				})
			},
			corev1.PodSpec{Containers: []corev1.Container{{Name: "vector", Image: "x", Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}}},
			"maximum cpu usage per Container",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			harness.Eventually(t, "the namespace's ServiceAccount", func() bool {
				key := client.ObjectKey{Namespace: namespace, Name: "default"}
				return world.Client.Get(t.Context(), key, &corev1.ServiceAccount{}) == nil
			})
			test.limit(t, namespace)
			var err error
			harness.Eventually(t, "a rejection", func() bool {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: namespace}, Spec: test.pod}
				err = world.Client.Create(t.Context(), pod, client.DryRunAll)
				return err != nil
			})

			require.ErrorContains(t, err, test.refusal)
			var pods corev1.PodList
			require.NoError(t, world.Client.List(t.Context(), &pods, client.InNamespace(namespace)))
			require.Empty(t, pods.Items)
		})
	}
}
