// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// stay installs the operator again and leaves everything to the person until
// Ctrl-C.
func (d *demo) stay(ctx context.Context) error {
	d.title("It stays up for you to try")
	if err := d.install(ctx); err != nil {
		return err
	}
	if err := d.runOperator(ctx); err != nil {
		return err
	}
	d.title("In another terminal, in this folder")
	d.suggest(d.suggestions())
	d.line("the operator logs to %s", shellWord(d.operator.log))
	d.line("Ctrl-C ends everything that was started here")
	select {
	case <-ctx.Done():
		d.line("")
		return nil
	case <-d.operator.ended:
		return fmt.Errorf("running until Ctrl-C: the operator has ended by itself: %w", d.operator.end())
	}
}

// suggestions are commands to try.
func (d *demo) suggestions() []string {
	return []string{
		"export KUBECONFIG=" + shellWord(d.plane.Kubeconfig()),
		"bin/kubectl apply -f " + logsFile,
		"bin/kubectl label deployment cart -n shop logs=vector",
		"bin/kubectl get vectorsidecars,deployments,pods -n shop",
		"bin/kubectl get deployment cart -n shop -o yaml",
		"bin/kubectl get events -n shop",
		"bin/kubectl delete vectorsidecars.observability.kontroloop.ai logs -n shop",
	}
}

func (d *demo) suggest(commands []string) {
	for _, line := range commands {
		d.line("%s", d.paint(cyan, line))
	}
	d.line("")
	d.line("more VectorSidecars to try are in docs/samples")
}
