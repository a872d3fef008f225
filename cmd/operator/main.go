// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command operator is the Vector Sidecar Operator.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
)

// version is set by the linker.
var version = "development"

func main() { os.Exit(run()) }

func run() int {
	options, err := operator.ParseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 2
	}
	ctrl.SetLogger(zap.New(zap.Level(options.LogLevel)))
	log := ctrl.Log.WithName("main")
	config, err := ctrl.GetConfig()
	if err != nil {
		log.Error(err, "finding the cluster")
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.Info("starting", "version", version, "environment", options.Environment)
	if err := operator.Run(ctx, config, vectorsidecar.FS, options); err != nil {
		log.Error(err, "running the operator")
		return 1
	}
	return 0
}
