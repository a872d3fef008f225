// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap/zapcore"
)

// Options configure the process. ParseOptions fills them in.
type Options struct {
	// Namespace is the operator's own: it holds the lease and the values of
	// the installation.
	Namespace string
	// Environment is the default one.
	Environment string
	// EnvironmentsConfigMap, in Namespace, holds the values that the
	// installation gave, one key ENVIRONMENT.yaml each. Empty for none.
	EnvironmentsConfigMap string
	// Concurrency is how many VectorSidecars are worked on at once.
	Concurrency int
	// LeaderElect makes sure that one of several replicas writes.
	LeaderElect bool
	// LeaderElectionID is the name of the lease.
	LeaderElectionID string
	// MetricsBindAddress serves metrics over HTTPS; "0" for nowhere.
	MetricsBindAddress string
	// HealthProbeBindAddress serves /healthz and /readyz; "0" for nowhere.
	HealthProbeBindAddress string
	// LogLevel is the least level that is logged.
	LogLevel zapcore.Level
}

// ParseOptions reads the command line. What it does not say comes from the
// environment variables that the usage names, else has a default. The error is
// flag.ErrHelp when help was asked for and printed.
func ParseOptions(arguments []string) (Options, error) {
	var options Options
	var level string
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	flags.StringVar(&options.Namespace, "namespace", os.Getenv("POD_NAMESPACE"), "namespace of the operator itself (POD_NAMESPACE)")
	flags.StringVar(&options.Environment, "environment", "development", "environment of VectorSidecars that name none and whose namespace names none")
	flags.StringVar(&options.EnvironmentsConfigMap, "environments-configmap", "", "name of the ConfigMap with the installation's values, a key ENVIRONMENT.yaml for each environment")
	flags.IntVar(&options.Concurrency, "concurrency", 4, "how many VectorSidecars are worked on at once")
	flags.BoolVar(&options.LeaderElect, "leader-elect", false, "elect a leader among several replicas")
	flags.StringVar(&options.LeaderElectionID, "leader-election-id", "vector-sidecar-operator", "name of the lease")
	flags.StringVar(&options.MetricsBindAddress, "metrics-bind-address", env("METRICS_BIND_ADDRESS", "0"), "address of the metrics over HTTPS, 0 for none (METRICS_BIND_ADDRESS)")
	flags.StringVar(&options.HealthProbeBindAddress, "health-probe-bind-address", env("HEALTH_PROBE_BIND_ADDRESS", ":8081"), "address of /healthz and /readyz, 0 for none (HEALTH_PROBE_BIND_ADDRESS)")
	flags.StringVar(&level, "log-level", env("LOG_LEVEL", "INFO"), "DEBUG, INFO, WARN or ERROR (LOG_LEVEL)")
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	if flags.NArg() > 0 {
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := options.complete(level); err != nil {
		return options, err
	}
	return options, nil
}

// complete checks what the flags package cannot.
func (o *Options) complete(level string) error {
	var findings []error
	if err := o.LogLevel.UnmarshalText([]byte(strings.ToLower(level))); err != nil || o.LogLevel > zapcore.ErrorLevel {
		findings = append(findings, fmt.Errorf("--log-level is %q: it must be DEBUG, INFO, WARN or ERROR", level))
	}
	if o.Concurrency < 1 {
		findings = append(findings, fmt.Errorf("--concurrency is %d: it must be at least 1", o.Concurrency))
	}
	if o.Namespace == "" && (o.LeaderElect || o.EnvironmentsConfigMap != "") {
		findings = append(findings, errors.New("--namespace is empty: --leader-elect and --environments-configmap need it"))
	}
	return errors.Join(findings...)
}

func env(name, otherwise string) string {
	if value, ok := os.LookupEnv(name); ok && value != "" {
		return value
	}
	return otherwise
}
