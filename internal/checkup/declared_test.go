// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If the values declare VectorSidecars, the check reports how many of them are applied, and warns about each invalid
// one.
func TestDiagnosis_ReportsDeclaredSidecars(t *testing.T) {
	const item = "{selector: {matchLabels: {logs: vector}}}"
	applied := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	applied.Spec.Rollout = nil
	applied.Labels = map[string]string{meta.LabelDeclaredBy: "vector-system_vso"}
	for name, test := range map[string]struct {
		values          map[string]string
		annotations     map[string]string
		state           State
		message, advice string
	}{
		"not declared":      {nil, nil, "", "", ""},
		"applied":           {map[string]string{declared.Key: "items: {shop/logs: " + item + "}"}, nil, OK, "1 of 1 declared objects are applied", ""},
		"missing namespace": {map[string]string{declared.Key: "items: {shop/logs: " + item + ", later/logs: " + item + "}"}, nil, OK, "1 of 2 declared objects are applied; VectorSidecar later/logs is WaitingForNamespace: namespace later does not exist", ""},
		"invalid":           {map[string]string{declared.Key: "items: {shop/logs: " + item + ", shop/bad: {selectr: {}}}"}, nil, Warning, "1 of 2 declared objects are applied; VectorSidecar shop/bad is Invalid: ", "correct vectorSidecars"},
		"uninstalling":      {map[string]string{declared.Key: "items: {shop/logs: " + item + "}"}, map[string]string{meta.AnnotationUninstalling: "true"}, Warning, "0 of 1 declared objects are applied; VectorSidecar shop/logs is Uninstalling: ", "kubectl annotate configmap values -n vector-system " + meta.AnnotationUninstalling + "-"},
		"not readable":      {map[string]string{declared.Key: "items: {logs: {}}"}, nil, Unknown, "not a valid key", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Diagnosis{Cluster: clusterOf(t, applied.DeepCopy()), Reject: func(context.Context, string, []byte) string { return "" }}
			installation := &source.Installation{Namespace: "vector-system", Name: "vso", LeaderElectionID: "vso", ValuesFrom: "values", Values: test.values, Annotations: test.annotations}
			results := d.checkDeclared(t.Context(), installation)
			if test.state == "" {
				require.Empty(t, results)
				return
			}
			require.Len(t, results, 1)
			require.Equal(t, test.state, results[0].State, results[0].Message)
			require.Contains(t, results[0].Message, test.message)
			require.Contains(t, results[0].Help, test.advice)
		})
	}
}
