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

	"go.uber.org/zap"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// command runs what is done once, for a hook of the chart. It returns the exit
// code: 2 for arguments that cannot be read, 1 for a failure, and says why.
func command[Options any](arguments []string, parse func([]string) (Options, error), do func(context.Context, *rest.Config, Options) error) int {
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
	config, err := cluster()
	if err == nil {
		err = do(ctx, config, options)
	}
	if err != nil {
		_ = humanize.Fprintf(os.Stderr, "%s\n", err)
		return 1
	}
	return 0
}

// cluster is the API server that the operator is to talk to, to which it gives its name
// and version.
func cluster() (*rest.Config, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config.UserAgent = meta.UserAgent(meta.Operator, version)
	return config, nil
}

// uninstalling is what to do before a release is uninstalled, and the operator that goes.
type uninstalling struct {
	removal  removal.Options
	operator operator.Options
}

func parseUninstalling(arguments []string) (uninstalling, error) {
	options, ofOperator, err := removal.ParseOptions(arguments)
	if err != nil {
		return uninstalling{}, err
	}
	gone, err := operator.ParseOptions(ofOperator)
	// It serves nothing: the operator that goes may be listening here still.
	gone.MetricsBindAddress, gone.HealthProbeBindAddress = "0", "0"
	options.Operator = removal.Operator{
		Namespace: gone.Namespace, WatchNamespaces: gone.WatchNamespaces, ValuesConfigMap: gone.EnvironmentsConfigMap,
	}
	if gone.LeaderElect {
		options.Operator.Lease = gone.LeaderElectionID
	}
	return uninstalling{options, gone}, err
}

func beforeUninstalling(ctx context.Context, config *rest.Config, options uninstalling) error {
	ctrl.SetLogger(telemetry.NewLogger(os.Stderr, zap.NewAtomicLevelAt(options.operator.LogLevel)))
	options.removal.Operator.Run = func(ctx context.Context) error {
		return operator.Run(ctx, config, vectorsidecar.FS, options.operator, operator.Process{})
	}
	return removal.BeforeUninstall(ctx, config, options.removal, humanize.NewWriter(os.Stdout))
}

func lookAt(ctx context.Context, config *rest.Config, options checkup.TestOptions) error {
	return checkup.Test(ctx, config, options, humanize.NewWriter(os.Stdout))
}
