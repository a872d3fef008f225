// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// labeled is a workload with a label, "" for none.
func labeled(name, logs string) *workloadcache.Record {
	view := workload.View{Ref: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: name}}
	if logs != "" {
		view.Labels = map[string]string{"logs": logs}
	}
	return workloadcache.NewRecordWithView(view)
}

func names(records []*workloadcache.Record) (names []string) {
	for _, record := range records {
		names = append(names, record.Name)
	}
	return names
}

// Each case has the selector of a VectorSidecar, the labels of a workload, and whether it is selected.
func TestMatch_SelectsByLabels(t *testing.T) {
	selecting := func(requirements ...metav1.LabelSelectorRequirement) metav1.LabelSelector {
		return metav1.LabelSelector{MatchExpressions: requirements}
	}
	shared := metav1.LabelSelectorRequirement{Key: "logs", Operator: metav1.LabelSelectorOpIn, Values: []string{"vector", "other"}}
	for name, test := range map[string]struct {
		change  func(*v1alpha1.VectorSidecar)
		matched []string
		invalid string
	}{
		"a label":                {change: func(*v1alpha1.VectorSidecar) {}, matched: []string{"cart"}},
		"another label":          {change: func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels["logs"] = "none" }},
		"an expression":          {change: func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector = selecting(shared) }, matched: []string{"basket", "cart"}},
		"everything, by mistake": {change: func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector = metav1.LabelSelector{} }, invalid: "matchAll"},
		"everything":             {change: func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector, vs.Spec.MatchAll = metav1.LabelSelector{}, true }, matched: []string{"basket", "cart", "plain"}},
		"an operator that does not exist": {change: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Selector = selecting(metav1.LabelSelectorRequirement{Key: "a", Operator: "Like"})
		}, invalid: "spec.selector"},
		"In of nothing": {change: func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Selector = selecting(metav1.LabelSelectorRequirement{Key: "a", Operator: "In"})
		}, invalid: "spec.selector"},
	} {
		t.Run(name, func(t *testing.T) {
			vs := logs()
			test.change(vs)

			inject, remove, matched, invalid := match(&Input{Inputs: desired.Inputs{Sidecar: vs}, Workloads: []*workloadcache.Record{labeled("cart", "vector"), labeled("basket", "other"), labeled("plain", "")}})

			if test.invalid == "" {
				require.Nil(t, invalid)
				require.Equal(t, test.matched, names(inject), "in the order of their names")
				require.Len(t, test.matched, matched.Total())
				require.Len(t, remove, 3-matched.Total())
				return
			}
			require.Empty(t, append(inject, remove...))
			require.Equal(t, meta.ReasonInvalidSelector, invalid.Reason)
			require.Contains(t, invalid.Message, "VectorSidecar shop/logs")
			require.Contains(t, invalid.Message, test.invalid)
		})
	}
}

// Disabled or deleted VectorSidecars, and those without a common workload, are not returned.
func TestPrecedingSidecars_ReturnPrecedingVectorSidecars(t *testing.T) {
	newCandidate := func(name string, second int64, change func(*v1alpha1.VectorSidecar)) v1alpha1.VectorSidecar {
		vs := objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector").Build()
		vs.CreationTimestamp = metav1.NewTime(time.Unix(second, 0))
		change(vs)
		return *vs
	}
	asIs := func(*v1alpha1.VectorSidecar) {}
	now := metav1.Now()
	sidecar := newCandidate("logs", 5, asIs)

	var found []string
	others := []v1alpha1.VectorSidecar{
		newCandidate("second", 2, asIs), newCandidate("first", 1, asIs), newCandidate("at the same time", 5, asIs), newCandidate("of a later name", 5, func(vs *v1alpha1.VectorSidecar) { vs.Name = "z" }),
		newCandidate("younger", 6, asIs),
		newCandidate("disabled", 1, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) }),
		newCandidate("deleted", 1, func(vs *v1alpha1.VectorSidecar) { vs.DeletionTimestamp = &now }),
		newCandidate("of others", 1, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels["logs"] = "none" }),
		newCandidate("of everything, by mistake", 1, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector = metav1.LabelSelector{} }),
		newCandidate("too large", 1, func(vs *v1alpha1.VectorSidecar) { vs.Annotations = map[string]string{"a": strings.Repeat("x", 1<<20)} }),
	}
	for _, preceding := range precedingSidecars(&Input{Inputs: desired.Inputs{Sidecar: &sidecar}, Others: others}, []*workloadcache.Record{labeled("cart", "vector")}) {
		found = append(found, preceding.Name)
	}
	require.Equal(t, []string{"first", "second", "at the same time"}, found)
}

// Two ClusterVectorSidecars and a VectorSidecar take precedence over each other in a cycle. Their order does not depend
// on the order of the input.
func TestPrecedingSidecars_HaveFixedOrderInCycles(t *testing.T) {
	newCandidate := func(name string, second int64) v1alpha1.VectorSidecar {
		vs := objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector").Build()
		vs.CreationTimestamp = metav1.NewTime(time.Unix(second, 0))
		return *vs
	}
	lastName, laxName, strictName := meta.ClusterSidecarName("last"), meta.ClusterSidecarName("lax"), meta.ClusterSidecarName("strict")
	sidecar := newCandidate(lastName, 9)
	scopes := desired.ParentScopes{strictName: {ClusterScope: v1alpha1.ClusterScope{TakesPrecedenceOver: []string{"refused"}}}}
	refused, lax, strict := newCandidate("refused", 1), newCandidate(laxName, 2), newCandidate(strictName, 3)
	for _, others := range [][]v1alpha1.VectorSidecar{
		{refused, lax, strict}, {refused, strict, lax}, {lax, refused, strict}, {lax, strict, refused}, {strict, refused, lax}, {strict, lax, refused},
	} {
		var found []string
		for _, preceding := range precedingSidecars(&Input{Inputs: desired.Inputs{Sidecar: &sidecar, Scopes: scopes}, Others: others}, []*workloadcache.Record{labeled("cart", "vector")}) {
			found = append(found, preceding.Name)
		}
		require.Equal(t, []string{laxName, strictName, "refused"}, found)
	}
}
