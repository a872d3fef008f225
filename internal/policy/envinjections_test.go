// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestCheckEnvInjections_AllowsListedVariables(t *testing.T) {
	tells := []workload.EnvInjection{{Name: "LOG_ADDRESS"}, {Name: "LD_PRELOAD"}}
	require.NoError(t, Default().CheckEnvInjections(nil))
	require.ErrorContains(t, Default().CheckEnvInjections(tells), "variables not allowed: LOG_ADDRESS, LD_PRELOAD (sidecar.applicationEnv); the platform allows none (policy.applicationEnv)")

	named, err := Parse("policy", []byte("applicationEnv: [LOG_ADDRESS]"))
	require.NoError(t, err)
	require.NoError(t, named.CheckEnvInjections(tells[:1]))
	err = named.CheckEnvInjections(tells)
	require.ErrorContains(t, err, "variables not allowed: LD_PRELOAD (sidecar.applicationEnv); the platform allows LOG_ADDRESS (policy.applicationEnv)")
	require.NotContains(t, err.Error(), "told LOG_ADDRESS")

	_, err = Parse("policy", []byte("applicationEnv: ['A=B']"))
	require.ErrorContains(t, err, "applicationEnv")
	require.ErrorContains(t, named.WithCurrent(Default(), "12").CheckEnvInjections(tells[:1]), "the platform allows none", "the present one has to allow it as well")
}
