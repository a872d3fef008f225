// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the operator's main job to a person, on a real control plane
// of its own, and checks each step as it is shown: install, inject, roll out,
// leave alone, change, take out without a trace. It exits with an error as soon as
// anything is not as it says. It is not a test of corner cases.
//
// Its nodes are simulated, and the operator is a process beside them; with -node=real it
// and the application run in pods of a real node (see test/node), from the chart alone.
//
// main.go and demo.go run the steps; install.go, inject.go, steady.go and
// remove.go hold them in the order of the play, and node.go those that differ on a real
// node; the other files are what they stand on.
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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	play := func(node *realNode) int {
		d, err := newDemo(newScreen(os.Stdout), node)
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
		d.hasRollouts = *hasRollouts
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
