// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-vectorsidecar is the kubectl plugin of the Vector Sidecar
// Operator: kubectl vectorsidecar.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

// version is set by the linker.
var version = "development"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cli.New(vectorsidecar.FS, version).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		return 1
	}
	return 0
}
