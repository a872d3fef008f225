// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// Two DaemonSets share no node if their node selectors or required affinities need different values of a label.
func TestView_SharesNodesUnlessSelectorsDiffer(t *testing.T) {
	t.Parallel()
	term := func(key, operator, values string) string {
		return "{matchExpressions: [{key: " + key + ", operator: " + operator + ", values: [" + values + "]}]}"
	}
	affinity := func(terms string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
	}
	const selector = "nodeSelector: {pool: a}"
	for name, test := range map[string]struct {
		pod, other string
		want       bool
	}{
		"nothing":                       {"{}", "{}", true},
		"the same selector":             {selector, selector, true},
		"selectors of two values":       {selector, "nodeSelector: {pool: b}", false},
		"selector and affinity":         {selector, affinity(term("pool", "In", "b")), false},
		"affinity of two values":        {affinity(term("pool", "In", "a")), affinity(term("pool", "In", "b")), false},
		"affinity of another label":     {affinity(term("pool", "In", "a")), affinity(term("zone", "In", "b")), true},
		"affinity of several values":    {selector, affinity(term("pool", "In", "a, b")), true},
		"affinity NotIn":                {selector, affinity(term("pool", "NotIn", "b")), true},
		"two terms of one value":        {selector, affinity(term("pool", "In", "b") + ", " + term("pool", "In", "b")), false},
		"two terms, one of any pool":    {selector, affinity(term("pool", "In", "b") + ", " + term("zone", "In", "c")), true},
		"a term that matches no node":   {selector, affinity(term("pool", "In", "b") + ", {}"), false},
		"selector and affinity in both": {selector, "nodeSelector: {zone: c}\n" + affinity(term("pool", "In", "b")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			views := [2]View{}
			for i, text := range []string{test.pod, test.other} {
				daemonSet := &appsv1.DaemonSet{}
				require.NoError(t, yaml.UnmarshalStrict([]byte(text), &daemonSet.Spec.Template.Spec))
				views[i] = NewView(daemonSet)
			}
			require.Equal(t, test.want, views[0].SharesNodes(&views[1]))
			require.Equal(t, test.want, views[1].SharesNodes(&views[0]))
		})
	}
}

// A manifest may name the ServiceAccount only in the deprecated field.
func TestView_ReadsDeprecatedServiceAccountField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}": "default", "serviceAccountName: a": "a", "serviceAccount: b": "b", "serviceAccountName: a\nserviceAccount: b": "a",
	} {
		deployment := &appsv1.Deployment{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &deployment.Spec.Template.Spec))
		require.Equal(t, want, NewView(deployment).ServiceAccount, text)
	}
}
