// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// runCommand runs a one-off subcommand for a hook of the chart. It prints errors and returns
// the exit code: 2 if the arguments cannot be parsed, 1 if the command fails.
func runCommand[Options any](arguments []string, parse func([]string) (Options, error), do func(context.Context, *rest.Config, Options) error) int {
	options, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_ = humanize.Fprintf(os.Stderr, "%s\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := loadConfig()
	if err == nil {
		err = do(ctx, config, options)
	}
	if err != nil {
		_ = humanize.Fprintf(os.Stderr, "%s\n", err)
		return 1
	}
	return 0
}

// loadConfig returns the configuration for the API server, with the operator's name and version
// as user agent.
func loadConfig() (*rest.Config, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config.UserAgent = meta.UserAgent(meta.Operator, version)
	return config, nil
}

// uninstalling has the options of the steps before a release is uninstalled, and the options of the operator in that
// release.
type uninstalling struct {
	removal  removal.Options
	operator operator.Options
}

// parseUninstalling parses the arguments of "operator uninstall": the options of the steps, and then the arguments of
// the operator.
func parseUninstalling(arguments []string) (uninstalling, error) {
	options, operatorArguments, err := removal.ParseOptions(arguments)
	if err != nil {
		return uninstalling{}, err
	}
	leaving, err := operator.ParseOptions(operatorArguments)
	// Serve nothing: the operator being uninstalled may still be listening on these ports.
	leaving.MetricsBindAddress, leaving.HealthProbeBindAddress = "0", "0"
	options.Operator = removal.Operator{
		Namespace: leaving.Namespace, WatchNamespaces: leaving.WatchNamespaces, ClusterSidecars: leaving.ClusterSidecars, ValuesConfigMap: leaving.EnvironmentsConfigMap,
	}
	if leaving.LeaderElect {
		options.Operator.Lease = leaving.LeaderElectionID
	}
	return uninstalling{options, leaving}, err
}

// prepareUninstall runs the steps before a release is uninstalled. They run the operator for the removal of sidecars.
func prepareUninstall(ctx context.Context, config *rest.Config, options uninstalling) error {
	ctrl.SetLogger(telemetry.NewLogger(os.Stderr, options.operator.LogLevel, options.operator.LogFormat))
	options.removal.Pager = livelist.NewPager()
	options.removal.Operator.Run = func(ctx context.Context) error {
		return operator.Run(ctx, config, vectorsidecar.FS, options.operator, operator.Process{Pager: options.removal.Pager})
	}
	return removal.BeforeUninstall(ctx, config, options.removal, humanize.NewWriter(os.Stdout))
}

// runTest runs the checks of "operator test" and prints the results.
func runTest(ctx context.Context, config *rest.Config, options checkup.TestOptions) error {
	return checkup.Test(ctx, config, options, humanize.NewWriter(os.Stdout))
}
