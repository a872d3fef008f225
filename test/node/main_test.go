// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// role names the environment variable that makes of this program a node: one that ends at
// once, or one that stays until it is killed.
const role = "VSO_NODE_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "once":
		os.Exit(Do(func(context.Context, *Node) int { return 0 }))
	case "stay":
		os.Exit(Do(func(ctx context.Context, n *Node) int {
			if err := podRuns(ctx, n); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println("staying", n.Run.ID, n.Run.Process, n.Kubeconfig(), n.socket())
			runtime.GC() // Nobody names the node any more, and it stays.
			<-ctx.Done() // Never.
			return 0
		}))
	}
	_, err := find()
	var missing Missing
	if errors.As(err, &missing) {
		fmt.Println("SKIPPED: there can be no real node here:", missing)
		os.Exit(0)
	}
	os.Exit(m.Run())
}
