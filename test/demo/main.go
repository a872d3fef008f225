// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the operator's main features on a real control plane, and checks each step: install, inject,
// roll out, leave unchanged, change, remove without a trace. It exits with an error if a step is not as shown. It
// does not test corner cases.
//
// Its nodes are simulated, and the operator is a process on this machine. With -node=real, the operator and the
// application run in pods of a real node (see test/node), as the chart installs them.
//
// main.go and demo.go run the steps; install.go, inject.go, restart.go and remove.go contain them in order, and
// node.go contains those that differ on a real node; the other files have helpers.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	once := flag.Bool("once", false, "end after the last step instead of staying up")
	nodes := flag.String("node", "simulated", "simulated or real")
	hasRollouts := flag.Bool("rollouts", false, "on simulated nodes: run Argo Rollouts' controller, and show one of its workloads")
	helm := flag.String("helm", "", "on simulated nodes: path of the helm to use instead of that in bin")
	kubectl := flag.String("kubectl", "", "on simulated nodes: path of the kubectl to use instead of that in bin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	play := func(node *realNode) int {
		d, err := newDemo(newScreen(os.Stdout), node)
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
		d.hasRollouts, d.programs = *hasRollouts, map[string]string{"helm": *helm, "kubectl": *kubectl}
		return d.play(ctx, *once)
	}
	switch {
	case *nodes == "simulated":
		return play(nil)
	case *nodes == "real" && !*hasRollouts:
		return onNode(play)
	}
	flag.Usage()
	return 2
}
