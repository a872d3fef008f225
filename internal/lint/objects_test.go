// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// A value of a wrong type is reported at its position, without the text of a Go error.
func TestLinter_ReportsPositionOfWrongType(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"a string for a map":      {head + "  sidecar:\n    logs: /var/log/app\n", []string{"a.yaml:6:5 VSC007 spec.sidecar.logs: Invalid value"}},
		"a list for a number":     {head + "  rollout: {maxConcurrent: [1]}\n", []string{"a.yaml:5:13 VSC007 "}},
		"a number for a label":    {"kind: VectorSidecar\nmetadata:\n  labels: {a: 1}\nspec: {selector: {matchLabels: {a: b}}}\n", []string{"a.yaml:3:3 VSC002 metadata.labels: got number, want string"}},
		"a quantity":              {head + "  sidecar: {resources: {limits: {cpu: many}}}\n", []string{"a.yaml:5:34 VSC007 "}},
		"a string of a workload":  {deployment + "  replicas: 'two'\n", []string{"a.yaml:5:3 VSC002 spec.replicas: got string, want number"}},
		"a map of a workload":     {deployment + "  template:\n    spec:\n      containers: {name: a}\n", []string{"a.yaml:7:7 VSC002 spec.template.spec.containers: got object, want array"}},
		"values with a key twice": {"sidecar: {}\nsidecar: {}\n", []string{"a.yaml:2 VSC001 duplicate key sidecar, first in line 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := linterFor(t, &desired.Platform{}).Lint(t.Context(), []File{{Name: "a.yaml", Text: []byte(test.file)}})

			require.NoError(t, err)
			require.Len(t, result.Findings, len(test.want), result.Findings)
			for i := range result.Findings {
				require.Contains(t, result.Findings[i].Position()+" "+result.Findings[i].Code+" "+result.Findings[i].Text(), test.want[i])
				require.NotContains(t, result.Findings[i].Text(), "Go struct")
			}
		})
	}
}
