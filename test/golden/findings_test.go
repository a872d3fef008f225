// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// What the chart renders is clean: a warning that everybody has is read by nobody.
func TestWhatIsRenderedIsFreeOfFindings(t *testing.T) {
	for _, s := range scenarios(t) {
		if _, ok := s.file(wantYAML); !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			given, _ := s.file("workload.yaml")
			decided, err := decision.Decide(t.Context(), s.snapshot(t, deployments(t, given)), nil)
			require.NoError(t, err)
			require.Empty(t, decided.Findings)
		})
	}
}
