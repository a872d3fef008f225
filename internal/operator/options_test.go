// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// emptyEnvironment unsets variables that the test machine may have set.
func emptyEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range variables {
		t.Setenv(name, "")
	}
}

// noWebhook is the default.
var noWebhook = WebhookOptions{BindAddress: "0", Duration: 90 * 24 * time.Hour, ShutdownDelay: 5 * time.Second}

func TestParseOptions_SetsDefaults(t *testing.T) {
	emptyEnvironment(t)

	options, err := ParseOptions(nil)

	require.NoError(t, err)
	options.arguments = nil
	require.Equal(t, Options{
		WorkloadKinds: []string{"Deployment"},
		Environment:   "development", Concurrency: 8, LeaderElectionID: "vector-sidecar-operator",
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		MetricsBindAddress: "0", HealthProbeBindAddress: ":8081", PprofBindAddress: "0", Webhook: noWebhook, ReconcileInterval: 30 * time.Minute, LogLevel: zapcore.InfoLevel, LogFormat: telemetry.FormatJSON,
	}, options)
}

func TestParseOptions_PrefersFlagsOverEnvironment(t *testing.T) {
	emptyEnvironment(t)
	t.Setenv("POD_NAMESPACE", "vector-system")
	t.Setenv("LOG_LEVEL", "ERROR")
	t.Setenv("METRICS_BIND_ADDRESS", ":8443")

	options, err := ParseOptions([]string{
		"--environment=staging", "--log-level", "debug", "--log-format=TEXT", "--leader-elect", "--environments-configmap=values",
		"--concurrency=9", "--leader-election-id=mine", "--health-probe-bind-address=0",
		"--leader-election-lease-duration=4s", "--leader-election-renew-deadline=3s", "--leader-election-retry-period=500ms",
		"--watch-namespaces=shop, warehouse,shop", "--metrics-cert-dir=/certs",
	})

	require.NoError(t, err)
	options.arguments = nil
	require.Equal(t, Options{
		WorkloadKinds: []string{"Deployment"},
		Namespace:     "vector-system", Environment: "staging", EnvironmentsConfigMap: "values", Concurrency: 9,
		LeaderElect: true, LeaderElectionID: "mine", MetricsBindAddress: ":8443", HealthProbeBindAddress: "0", PprofBindAddress: "0", Webhook: noWebhook, ReconcileInterval: 30 * time.Minute,
		LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond,
		WatchNamespaces: []string{"shop", "warehouse"}, MetricsCertDir: "/certs", LogLevel: zapcore.DebugLevel, LogFormat: telemetry.FormatText,
	}, options)
}

func TestParseOptions_PrefersFlagThenVariableThenFile(t *testing.T) {
	emptyEnvironment(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`
environment: staging
concurrency: 7
leader-election-lease-duration: 20s
watch-namespaces: [shop, warehouse]
log-level: WARN
log-format: text
metrics-bind-address: ":9443"
leader-elect: false
metrics-cert-dir: null
`), 0o600))
	t.Setenv("LOG_LEVEL", "ERROR")
	t.Setenv("METRICS_BIND_ADDRESS", ":8443")

	options, err := ParseOptions([]string{"--config", path, "--environment=production", "--metrics-bind-address=0"})

	require.NoError(t, err)
	options.arguments = nil
	require.Equal(t, Options{
		WorkloadKinds: []string{"Deployment"},
		Config:        path, Environment: "production", Concurrency: 7, LeaderElectionID: "vector-sidecar-operator",
		LeaseDuration: 20 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		MetricsBindAddress: "0", HealthProbeBindAddress: ":8081", PprofBindAddress: "0", Webhook: noWebhook, ReconcileInterval: 30 * time.Minute, LogLevel: zapcore.ErrorLevel, LogFormat: telemetry.FormatText,
		WatchNamespaces: []string{"shop", "warehouse"},
	}, options)
}

// The error names the configuration file and the invalid key.
func TestParseOptions_NamesFileAndKeyOfFault(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
	}{
		"a slip":                       {"concurency: 3", []string{`"concurency"`, `did you mean "concurrency"?`}},
		"no flag at all":               {"color: blue", []string{`"color"`, "name of a flag"}},
		"itself":                       {"config: other.yaml", []string{`"config"`}},
		"a value of another type":      {"concurrency: many", []string{"concurrency", "many"}},
		"a level that does not exist":  {"log-level: chatty", []string{"log-level", "chatty", "WARN"}},
		"a format that does not exist": {"log-format: xml", []string{"log-format", "json or text"}},
		"a map":                        {"concurrency: {a: 1}", []string{"concurrency", "map"}},
		"a key that stands twice":      {"concurrency: 1\nconcurrency: 2", []string{"concurrency"}},
		"no YAML":                      {"a: [", []string{"yaml"}},
		"what flags could not be":      {"concurrency: 0", []string{"concurrency is 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			emptyEnvironment(t)
			path := filepath.Join(t.TempDir(), "config.yaml")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))

			_, err := ParseOptions([]string{"--config=" + path})

			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
	_, err := ParseOptions([]string{"--config=/nowhere/config.yaml"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestParseOptions_RejectsInvalidOptions(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		variables map[string]string
		names     []string
	}{
		"a level that does not exist":            {arguments: []string{"--log-level=chatty"}, names: []string{"log-level", `"chatty"`, "WARN"}},
		"a level that ends the process":          {arguments: []string{"--log-level=panic"}, names: []string{"log-level", `"panic"`}},
		"a level from the environment":           {variables: map[string]string{"LOG_LEVEL": "x"}, names: []string{"LOG_LEVEL", `"x"`}},
		"nobody to work":                         {arguments: []string{"--concurrency=0"}, names: []string{"--concurrency is 0"}},
		"an election nowhere":                    {arguments: []string{"--leader-elect"}, names: []string{"--namespace is empty"}},
		"values nowhere":                         {arguments: []string{"--environments-configmap=v"}, names: []string{"--namespace is empty"}},
		"several at once":                        {arguments: []string{"--concurrency=-1", "--leader-elect"}, names: []string{"--concurrency is -1", "--namespace"}},
		"a namespace that cannot be one":         {arguments: []string{"--watch-namespaces=shop,Ware_house"}, names: []string{"--watch-namespaces", `"Ware_house"`}},
		"a deadline after the end":               {arguments: []string{"--leader-election-renew-deadline=15s"}, names: []string{"renew-deadline is 15s", "15s"}},
		"a period after the deadline":            {arguments: []string{"--leader-election-retry-period=9s"}, names: []string{"retry-period is 9s", "10s"}},
		"a webhook at no port":                   {arguments: []string{"--webhook-bind-address=localhost"}, names: []string{`--webhook-bind-address is "localhost"`, "HOST:PORT"}},
		"a webhook without a certificate":        {arguments: []string{"--webhook-bind-address=:9443", "--namespace=a"}, names: []string{"--webhook-certificate-secret"}},
		"a certificate for no name":              {arguments: []string{"--webhook-bind-address=:9443", "--webhook-configuration=c"}, names: []string{"--webhook-configuration needs --webhook-service"}},
		"a certificate that is over at once":     {arguments: []string{"--webhook-bind-address=:9443", "--webhook-certificate-duration=1s"}, names: []string{"--webhook-certificate-duration is 1s"}},
		"a certificate for as long as its CA":    {arguments: []string{"--webhook-bind-address=:9443", "--webhook-certificate-duration=87600h"}, names: []string{"--webhook-certificate-duration is 87600h0m0s", "43800h0m0s"}},
		"a delay longer than a pod has":          {arguments: []string{"--webhook-bind-address=:9443", "--webhook-shutdown-delay=30s"}, names: []string{"--webhook-shutdown-delay is 30s", "20s"}},
		"no period":                              {arguments: []string{"--leader-election-retry-period=0s"}, names: []string{"retry-period is 0s"}},
		"a lease that is over at once":           {arguments: []string{"--leader-election-lease-duration=10ms"}, names: []string{"lease-duration is 10ms"}},
		"an argument that is none":               {arguments: []string{"start"}, names: []string{`"start"`}},
		"a flag that is none":                    {arguments: []string{"--surroundings=x"}, names: []string{"surroundings"}},
		"a number that is none":                  {arguments: []string{"--concurrency=many"}, names: []string{"concurrency", "many"}},
		"a switch with a value of its own color": {arguments: []string{"--leader-elect=perhaps"}, names: []string{"leader-elect", "perhaps"}},
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

func TestParseOptions_ReturnsErrHelp(t *testing.T) {
	_, err := ParseOptions([]string{"--help"})

	require.ErrorIs(t, err, flag.ErrHelp)
}

// ClusterVectorSidecars need access to the whole cluster, so their flag cannot be combined with --watch-namespaces.
func TestParseOptions_RejectsClusterSidecarsWithNamespaces(t *testing.T) {
	emptyEnvironment(t)
	_, err := ParseOptions([]string{"--cluster-sidecars", "--watch-namespaces=shop"})
	require.ErrorContains(t, err, "--cluster-sidecars is set with --watch-namespaces")

	options, err := ParseOptions([]string{"--cluster-sidecars"})
	require.NoError(t, err)
	require.True(t, options.ClusterSidecars)
}
