// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
)

// emptyEnvironment takes away what the machine that tests happens to set.
func emptyEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{"POD_NAMESPACE", "METRICS_BIND_ADDRESS", "HEALTH_PROBE_BIND_ADDRESS", "LOG_LEVEL"} {
		t.Setenv(name, "")
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	emptyEnvironment(t)

	options, err := ParseOptions(nil)

	require.NoError(t, err)
	require.Equal(t, Options{
		Environment: "development", Concurrency: 4, LeaderElectionID: "vector-sidecar-operator",
		MetricsBindAddress: "0", HealthProbeBindAddress: ":8081", LogLevel: zapcore.InfoLevel,
	}, options)
}

func TestOptionsComeFromFlagsThenFromTheEnvironment(t *testing.T) {
	emptyEnvironment(t)
	t.Setenv("POD_NAMESPACE", "vector-system")
	t.Setenv("LOG_LEVEL", "ERROR")
	t.Setenv("METRICS_BIND_ADDRESS", ":8443")

	options, err := ParseOptions([]string{
		"--environment=staging", "--log-level", "debug", "--leader-elect", "--environments-configmap=values",
		"--concurrency=9", "--leader-election-id=mine", "--health-probe-bind-address=0",
	})

	require.NoError(t, err)
	require.Equal(t, Options{
		Namespace: "vector-system", Environment: "staging", EnvironmentsConfigMap: "values", Concurrency: 9,
		LeaderElect: true, LeaderElectionID: "mine", MetricsBindAddress: ":8443", HealthProbeBindAddress: "0",
		LogLevel: zapcore.DebugLevel,
	}, options)
}

func TestOptionsThatCannotWorkAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		variables map[string]string
		names     []string
	}{
		"a level that does not exist":             {arguments: []string{"--log-level=chatty"}, names: []string{"--log-level", `"chatty"`, "WARN"}},
		"a level that ends the process":           {arguments: []string{"--log-level=panic"}, names: []string{"--log-level", `"panic"`}},
		"a level from the environment":            {variables: map[string]string{"LOG_LEVEL": "x"}, names: []string{"--log-level", `"x"`}},
		"nobody to work":                          {arguments: []string{"--concurrency=0"}, names: []string{"--concurrency is 0"}},
		"an election nowhere":                     {arguments: []string{"--leader-elect"}, names: []string{"--namespace is empty"}},
		"values nowhere":                          {arguments: []string{"--environments-configmap=v"}, names: []string{"--namespace is empty"}},
		"several at once":                         {arguments: []string{"--concurrency=-1", "--log-level=x"}, names: []string{"--concurrency is -1", "--log-level"}},
		"an argument that is none":                {arguments: []string{"start"}, names: []string{`"start"`}},
		"a flag that is none":                     {arguments: []string{"--surroundings=x"}, names: []string{"surroundings"}},
		"a number that is none":                   {arguments: []string{"--concurrency=many"}, names: []string{"concurrency", "many"}},
		"a switch with a value of its own colour": {arguments: []string{"--leader-elect=perhaps"}, names: []string{"leader-elect", "perhaps"}},
	} {
		t.Run(name, func(t *testing.T) {
			emptyEnvironment(t)
			for variable, value := range test.variables {
				t.Setenv(variable, value)
			}
			_, err := ParseOptions(test.arguments)
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestHelpIsNoFailure(t *testing.T) {
	_, err := ParseOptions([]string{"--help"})

	require.ErrorIs(t, err, flag.ErrHelp)
}
