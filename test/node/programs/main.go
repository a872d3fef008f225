// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command programs is what runs in the containers of tests on a real node, in one image:
// what holds a pod's namespaces, applications that write, a program that takes memory, and
// a stand-in for Vector.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	commands := map[string]func(context.Context, []string) error{
		"pause": pause, "eat": eat, "write": write, "speak": speak, "vector": vector,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: programs pause|eat|write|speak|vector …")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := commands[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // what is deferred ends with the process
	}
}

// pause waits for a signal.
func pause(ctx context.Context, _ []string) error {
	<-ctx.Done()
	return nil
}

// eat takes memory until it is killed for it.
func eat(ctx context.Context, _ []string) error {
	var eaten [][]byte
	for ctx.Err() == nil {
		bite := make([]byte, 1<<20)
		for i := range bite {
			bite[i] = 1
		}
		eaten = append(eaten, bite)
	}
	return fmt.Errorf("ate %d MiB, and was not killed", len(eaten))
}
