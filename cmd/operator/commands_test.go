// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/removal"
)

// The uninstall Job gets its own arguments and, after --, those of the operator, such as the watched namespaces.
func TestParseUninstalling_ReadsOperatorArguments(t *testing.T) {
	options, err := parseUninstalling([]string{"--job=j", "--", "--namespace=vector-system", "--watch-namespaces=shop,pay", "--leader-elect", "--leader-election-id=vso", "--environments-configmap=values", "--metrics-bind-address=:8443"})

	require.NoError(t, err)
	require.Equal(t, removal.Operator{Namespace: "vector-system", WatchNamespaces: []string{"shop", "pay"}, ValuesConfigMap: "values", Lease: "vso"}, options.removal.Operator)
	require.Equal(t, "0", options.operator.MetricsBindAddress, "the operator being uninstalled may still listen there")
	require.Equal(t, "0", options.operator.HealthProbeBindAddress)
}

// The operator runs without leader election, so the uninstall Job deletes no Lease.
func TestParseUninstalling_OmitsLeaseWithoutElection(t *testing.T) {
	options, err := parseUninstalling([]string{"--job=j", "--", "--leader-elect=false"})

	require.NoError(t, err)
	require.Empty(t, options.removal.Operator.Lease)
}

func TestParseUninstalling_RejectsInvalidOperatorArguments(t *testing.T) {
	_, err := parseUninstalling([]string{"--job=j", "--", "--concurrency=0"})

	require.ErrorContains(t, err, "--concurrency is 0")
}
