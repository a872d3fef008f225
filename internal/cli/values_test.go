// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// ownValues is the example of the README, with more keys of the installation.
const ownValues = `replicas: 2
sidecar:
  sinks:
    store:
      type: http
      uri: https://logs.example.com/ingest
environments:
  gone: null
  qa:
    sidecar:
      logLevel: debug
      resources:
        requests:
          cpu: 20m
`

// Keys at the top level are for the environment of the installation, those under environments for
// the others, as with helm install.
func TestRenderReadsValuesAsTheInstallationDoes(t *testing.T) {
	for name, test := range map[string]struct {
		values    string
		arguments []string
		has       []string
		lacks     string
	}{
		"another environment":                        {values: ownValues, arguments: []string{"--environment", "qa"}, has: []string{"value: debug", "cpu: 20m"}, lacks: "logs.example.com"},
		"that of the installation":                   {values: ownValues, arguments: []string{"--environment", "staging"}, has: []string{"logs.example.com"}, lacks: "cpu: 20m"},
		"that of the installation, as the file says": {values: "environment: production\n" + ownValues, has: []string{"logs.example.com", "value: warn"}, lacks: "cpu: 20m"},
		"one that the file is not for":               {values: "environment: production\n" + ownValues, arguments: []string{"--environment", "staging"}, has: []string{"value: info"}, lacks: "logs.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			files := shopFiles(t)
			files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labelled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
			files["logs.yaml"] = text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithLogs("/var/log/app").Build())
			files["values.yaml"] = test.values
			out, err := run(t, files, slices.Concat(renderCart, []string{"--values", "values.yaml"}, test.arguments)...)
			require.NoError(t, err)
			for _, part := range test.has {
				require.Contains(t, out, part)
			}
			require.NotContains(t, out, test.lacks)
		})
	}
}

// Positions are those in the file, although it is read in parts.
func TestRenderNamesTheLineOfAValue(t *testing.T) {
	files := shopFiles(t)
	files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labelled("logs", "vector").Build())
	files["values.yaml"] = ownValues
	arguments := slices.Concat(renderCart, []string{"--values", "values.yaml", "--environment", "qa"})

	out, err := run(t, files, append(arguments, "--explain-values")...)
	require.NoError(t, err)
	require.Regexp(t, `sidecar.logLevel +"debug" +values.yaml qa.yaml:11\n`, out)

	files["values.yaml"] = ownValues + "      imagePullPolice: Always\n"
	_, err = run(t, files, arguments...)
	require.ErrorContains(t, err, "values.yaml qa.yaml:15: sidecar.imagePullPolice: unknown key")
}
