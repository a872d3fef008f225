// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarcache

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func requirement(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

// The index finds the VectorSidecar for every workload that its selector matches.
func TestSelectorKeys_CoversEachMatch(t *testing.T) {
	workloads := []map[string]string{
		nil, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "2"}, {"a": "", "c": "x=y"}, {"*": "*"},
	}
	for name, selector := range map[string]metav1.LabelSelector{
		"everything":             {},
		"a label":                {MatchLabels: map[string]string{"a": "1"}},
		"two labels":             {MatchLabels: map[string]string{"b": "2", "a": "1"}},
		"an empty value":         {MatchLabels: map[string]string{"a": ""}},
		"one of two values":      {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("a", "In", "1", "2")}},
		"none of two values":     {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("a", "NotIn", "1", "2")}},
		"a key":                  {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("a", "Exists")}},
		"no such key":            {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("a", "DoesNotExist")}},
		"no such key, but a one": {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("c", "DoesNotExist"), requirement("b", "In", "2")}},
		"a label and a key":      {MatchLabels: map[string]string{"a": "1"}, MatchExpressions: []metav1.LabelSelectorRequirement{requirement("b", "Exists")}},
	} {
		vs := objects.NewVectorSidecar("logs", "shop").Build()
		vs.Spec.Selector = selector
		matcher, err := metav1.LabelSelectorAsSelector(&selector)
		require.NoError(t, err)
		keys := SelectorKeys(vs)
		require.NotEmpty(t, keys, name)
		for _, has := range workloads {
			live := objects.NewDeployment("cart", "shop").Build()
			live.Labels = has
			held := workloadcache.New().Reduce(live).Labels()
			require.Equal(t, matcher.Matches(labels.Set(has)), matcher.Matches(held), "%s and %v", name, has)
			if matcher.Matches(held) {
				found := map[string]bool{workloadcache.AnyLabels: true}
				addPairs(found, held)
				isFound := func(key string) bool { return found[key] }
				require.True(t, slices.ContainsFunc(keys, isFound), "%s matches %v and is not found", name, has)
			}
		}
	}
}

// A workload is indexed by the field managers in its managedFields and in its annotations.
func TestIndexManager_FindsWorkloadsByFieldManager(t *testing.T) {
	deployment := objects.NewDeployment("cart", "shop").Build()
	for _, manager := range []string{"kubectl", meta.Manager("logs"), meta.Operator, meta.Manager("audit"), meta.Manager("logs")} {
		deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"),
		})
	}
	deployment.Spec.Template.Annotations = map[string]string{
		meta.AnnotationInjectedItems(meta.Manager("old")): `{"manager":"vectorsidecar/old"}`,
		meta.AnnotationInjectedItems(meta.Manager("odd")): `{"manager":"vectorsidecar/another"}`, // The annotation is removed together with its VectorSidecar.
	}

	require.Equal(t, []string{meta.Manager("audit"), meta.Manager("logs"), meta.Manager("odd"), meta.Manager("old")}, workloadcache.New().Reduce(deployment).Managers())
	require.Empty(t, workloadcache.New().Reduce(objects.NewDeployment("cart", "shop").Build()).Managers())
}
