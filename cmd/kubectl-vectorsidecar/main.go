// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-vectorsidecar is the kubectl plugin of the Vector Sidecar
// Operator: kubectl vectorsidecar.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

// version is set by the linker.
var version = "development"

func main() { os.Exit(run()) }

func run() int {
	// A command runs for a moment: memory costs it less than collecting it.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	return cli.Run(ctx, os.Args[1:], streams, vectorsidecar.FS, version)
}
