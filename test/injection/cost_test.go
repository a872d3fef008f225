// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// cost is the CEL cost of one policy for one create, in units of the API server's library.
type cost struct {
	// conditions is the cost of all match conditions, limited by RuntimeCELCostBudgetMatchConditions. mutation is the
	// highest cost of one mutation, limited by RuntimeCELCostBudget. Both include the variables that they evaluate
	// first.
	conditions, mutation int64
	// matches is false if a match condition is false, so that nothing is mutated.
	matches bool
}

func (c cost) String() string {
	return fmt.Sprintf("match conditions %d (%.2f %% of %d), mutation %d (%.2f %% of %d)",
		c.conditions, 100*float64(c.conditions)/celconfig.RuntimeCELCostBudgetMatchConditions, celconfig.RuntimeCELCostBudgetMatchConditions,
		c.mutation, 100*float64(c.mutation)/celconfig.RuntimeCELCostBudget, celconfig.RuntimeCELCostBudget)
}

// expression is a CEL expression of a policy.
type expression struct {
	name, text string
	of         *celgo.Type
}

func (e *expression) GetExpression() string      { return e.text }
func (e *expression) GetName() string            { return e.name }
func (e *expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{e.of} }

// costOf returns the CEL cost of the policy for Deployments, for a create in a namespace with its current OverlaySet.
func costOf(t *testing.T, created *appsv1.Deployment) cost {
	t.Helper()
	policy, overlays, namespace := &admissionv1.MutatingAdmissionPolicy{}, &v1alpha1.OverlaySet{}, &corev1.Namespace{}
	get := func(into client.Object, namespace, name string) {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into))
	}
	get(policy, "", harness.AccountNamespace+"."+harness.Account+".deployments")
	get(overlays, created.Namespace, meta.OverlaySet)
	get(namespace, "", created.Namespace)

	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	require.NoError(t, err)
	options := plugincel.OptionalVariableDeclarations{HasParams: true}
	for _, v := range policy.Spec.Variables {
		compiled := compiler.CompileAndStoreVariable(&expression{v.Name, v.Expression, celgo.AnyType}, options, environment.StoredExpressions)
		require.Nil(t, compiled.Error, v.Name)
	}
	var conditions []plugincel.ExpressionAccessor
	for _, c := range policy.Spec.MatchConditions {
		conditions = append(conditions, &expression{c.Name, c.Expression, celgo.BoolType})
	}

	kind, resource := appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithResource("deployments")
	object := created.DeepCopy()
	object.SetGroupVersionKind(kind)
	attributes := admission.NewAttributesRecord(object, nil, kind, object.Namespace, object.Name, resource, "", admission.Create, nil, false, &user.DefaultInfo{Name: "owner"})
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedObject: admission.NewLazyObject(object), VersionedKind: kind}
	request := plugincel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	inputs := plugincel.OptionalVariableBindings{VersionedParams: overlays}

	found := cost{matches: true}
	evaluator := compiler.CompileCondition(conditions, options, environment.StoredExpressions)
	require.Empty(t, evaluator.CompilationErrors())
	ctx := compiler.CreateContext(t.Context())
	results, left, err := evaluator.ForInput(ctx, versioned, request, inputs, namespace, celconfig.RuntimeCELCostBudgetMatchConditions)
	require.NoError(t, err)
	found.conditions = celconfig.RuntimeCELCostBudgetMatchConditions - left
	for i := range results {
		require.NoError(t, results[i].Error)
		isTrue, _ := results[i].EvalResult.Value().(bool)
		found.matches = found.matches && isTrue
	}
	if !found.matches {
		return found
	}
	options.HasPatchTypes = true
	for _, m := range policy.Spec.Mutations {
		of := &expression{"", "", celgo.ListType(celgo.ObjectType("JSONPatch"))}
		if m.JSONPatch != nil {
			of.text = m.JSONPatch.Expression
		} else {
			of.text, of.of = m.ApplyConfiguration.Expression, celgo.ObjectType("Object")
		}
		mutation := compiler.CompileMutatingEvaluator(of, options, environment.StoredExpressions)
		require.Empty(t, mutation.CompilationErrors())
		result, left, err := mutation.ForInput(ctx, versioned, request, inputs, namespace, celconfig.RuntimeCELCostBudget)
		require.NoError(t, err)
		require.NoError(t, result.Error)
		found.mutation = max(found.mutation, celconfig.RuntimeCELCostBudget-left)
	}
	return found
}
