// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// open is the scenario whose author has the API on all addresses.
const open = "inline-yaml"

// The check has no findings in the rendered configurations of all scenarios, because users ignore warnings that
// everybody gets.
func TestRender_ProducesNoFindings(t *testing.T) {
	for _, s := range scenarios(t) {
		if _, ok := s.file(wantYAML); !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			given, _ := s.file("workload.yaml")
			decided, err := decision.Decide(t.Context(), s.snapshot(t, deployments(t, given)), nil)
			require.NoError(t, err)
			if s.name == open {
				require.Len(t, decided.Findings, 1)
				require.Equal(t, vectorconfig.Code("VSC511"), decided.Findings[0].Code)
				return
			}
			require.Empty(t, decided.Findings)
		})
	}
}
