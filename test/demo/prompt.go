// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/wait"
)

// stay installs the operator again, and waits for Ctrl-C while the user works with it.
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
	uninstalled := make(chan struct{})
	go func() {
		defer close(uninstalled)
		_ = wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
			found, err := d.deploymentIsGone(ctx)
			return err == nil && found.done, nil
		})
	}()
	select {
	case <-uninstalled: // Or interrupted.
	case <-d.operator.ended:
		return fmt.Errorf("running until Ctrl-C: the operator has ended by itself: %w", d.operator.end())
	}
	if ctx.Err() == nil {
		if err := d.operator.stop(); err != nil {
			return err
		}
		d.line("the release is uninstalled, and the operator has ended, as its pod would")
		<-ctx.Done()
	}
	d.line("")
	return nil
}

// suggestions returns commands to try.
func (d *demo) suggestions() []string {
	return []string{
		"export KUBECONFIG=" + shellWord(d.plane.Kubeconfig()) + ` PATH="$PWD/bin:$PATH"`,
		"kubectl apply -f " + logsFile,
		"kubectl label deployment cart -n shop logs=vector",
		"kubectl get vectorsidecars,deployments,pods -n shop",
		"kubectl get deployment cart -n shop -o yaml",
		"kubectl get events -n shop",
		"kubectl vectorsidecar explain cart -n shop",
		"helm test " + release + " -n " + namespace,
		"helm uninstall " + release + " -n " + namespace,
	}
}

func (d *demo) suggest(commands []string) {
	for _, line := range commands {
		d.line("%s", d.paint(cyan, line))
	}
	d.line("")
	d.line("more VectorSidecars to try are in docs/samples")
}

// tryNext names the next steps of a user who has seen the demo to its end.
func (d *demo) tryNext() {
	d.title("Try next")
	d.suggest([]string{
		"make quickstart    # the plugin on the samples, without a cluster",
		"make demo          # the same again, and then it stays up for your own kubectl",
	})
	d.line("kind or your own cluster: README.md, Install")
}
