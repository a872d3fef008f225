// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// The installation chart hands its policy over as a whole. Were its defaults not the
// operator's own, another default of the next release would be a policy that somebody
// asked for, with which everything that is rendered differently goes out.
func TestPolicy_EqualsDefaultOfTheChart(t *testing.T) {
	text, err := os.ReadFile("../../chart/values.yaml")
	require.NoError(t, err)
	var values struct {
		Policy map[string]any `json:"policy"`
	}
	require.NoError(t, yaml.Unmarshal(text, &values))
	require.NotEmpty(t, values.Policy)
	text, err = yaml.Marshal(values.Policy)
	require.NoError(t, err)
	given, err := policy.Parse("chart/values.yaml", text)
	require.NoError(t, err)
	require.Equal(t, policy.Default().ExplicitDigest, given.ExplicitDigest)
}
