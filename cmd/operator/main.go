// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command operator is the Vector Sidecar Operator. The chart also calls it as
// "operator uninstall" and "operator test".
package main

import (
	"context"
	"errors"
	"flag"
	stdlog "log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// version is the version of the operator. The linker sets it.
var version = "development"

// exportTimeout limits how long sending the last spans and reports may take at exit.
const exportTimeout = 2 * time.Second

func main() { os.Exit(run()) }

// run runs the operator or a subcommand, and returns the exit code.
func run() int {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "uninstall":
			return runCommand(os.Args[2:], parseUninstalling, prepareUninstall)
		case "test":
			return runCommand(os.Args[2:], checkup.ParseTestOptions, runTest)
		}
	}
	options, err := operator.ParseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_ = humanize.Fprintf(os.Stderr, "%s\n", err)
		return 2
	}
	level := zap.NewAtomicLevelAt(options.LogLevel)
	log := telemetry.NewLogger(os.Stderr, level, options.LogFormat)
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("client-go"))
	stdlog.SetFlags(0)
	stdlog.SetOutput(telemetry.LineWriter(log.WithName("go")))
	log = log.WithName("main")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runOperator(ctx, log, options, operator.Process{Version: version, Level: level}); err != nil {
		log.Error(err, "running the operator")
		return 1
	}
	log.Info("stopped")
	return 0
}

// runOperator runs the operator with tracing and error reports, as the environment variables configure them.
func runOperator(ctx context.Context, log logr.Logger, options operator.Options, process operator.Process) error {
	config, err := loadConfig()
	if err != nil {
		return err
	}
	tracer, stopTracing, err := telemetry.NewTracer(ctx, version, log)
	if err != nil {
		return err
	}
	reports, err := telemetry.NewReporter(version, time.Now)
	if err != nil {
		return err
	}
	process.Tracer, process.Reports = tracer, reports
	log.Info("starting", "version", version, "environment", options.Environment, "tracing", tracer != telemetry.Tracer{}, "sentry", reports.IsEnabled())
	err = operator.Run(ctx, config, vectorsidecar.FS, options, process)
	reports.Flush(exportTimeout)
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
	defer cancel()
	if failure := stopTracing(sending); failure != nil {
		log.Error(failure, "sending the last spans")
	}
	return err
}
