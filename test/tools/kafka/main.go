// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command kafka is a stand-in for Kafka on the loopback: one broker, which keeps what it is
// sent in memory. It prints its address, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, os.Args[1:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the broker:", err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(cluster.ListenAddrs()[0])
	_, _ = io.Copy(io.Discard, os.Stdin) // Until whoever started it ends.
}
