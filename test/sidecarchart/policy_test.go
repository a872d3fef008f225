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

// The chart sets each policy key to the built-in default. Otherwise, a changed default in the next release would count
// as a setting of the user and change all sidecars.
func TestPolicy_EqualsDefaultOfChart(t *testing.T) {
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
