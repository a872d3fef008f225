// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-vectorsidecar is the kubectl plugin of the Vector Sidecar
// Operator: kubectl vectorsidecar.
package main

import (
	"context"
	"io"
	stdlog "log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// version is the version of the plugin. The linker sets it.
var version = "development"

func main() { os.Exit(run()) }

// run runs the plugin and returns its exit code.
func run() int {
	// A command is short-lived: using more memory is cheaper than collecting garbage.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Messages of client libraries contain text from the API server, which must be escaped.
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(humanize.NewWriter(os.Stderr)))))
	stdlog.SetOutput(io.Discard) // Of Helm's code, which writes about values that a schema rejects as well.
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	return cli.Run(ctx, os.Args[1:], streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition, ClusterDefinition: vectorsidecar.ClusterDefinition}, version)
}
