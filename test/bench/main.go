// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the cost of the operator on a real API server, and compares it with the floor: the cost of
// the same writes from a plain loop. Rounds of the contenders are interleaved, and only ratios are claims; see
// docs/explanation/performance.md. It does not test the operator's behavior.
//
// main.go and bench.go run the scenarios; fanout.go and the files next to it contain them; contest.go and
// contenders.go contain the rounds; the other files have helpers.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() { os.Exit(run()) }

func run() int {
	size := flag.String("size", "short", "short, for every change, or full, for docs/explanation/performance.md")
	only := flag.String("only", "", "run the scenarios whose name matches this regular expression")
	folder := flag.String("folder", "bin/bench", "where logs and profiles go")
	profiles := flag.Bool("profile", false, "keep a profile of the operator's processor time in each fan-out")
	limit := flag.Duration("limit", 2*time.Hour, "give up after this time")
	record := flag.String("record", "", "file with the ranges of earlier runs, to compare with")
	rollout := flag.String("rollout", "", "the installation's rollout, such as '{waves: [{name: canary}], halt: {}}', that the operator is given")
	update := flag.Bool("update", false, "widen the recorded ranges by this run instead of comparing")
	change := override(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := measure(ctx, settings{change, *size, regexp.MustCompile(*only), *folder, *profiles, *rollout, *record, *update}); err != nil {
		_, _ = os.Stderr.WriteString("bench: " + err.Error() + "\n")
		return 1
	}
	return 0
}
