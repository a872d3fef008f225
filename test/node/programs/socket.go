// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

// speakInterval is how often a line is sent.
const speakInterval = 100 * time.Millisecond

// speak is an application that sends numbered lines to a Unix socket. It reconnects after
// the listener has closed the connection. A line is "POD NUMBER".
func speak(ctx context.Context, args []string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	var connection net.Conn
	ticks := time.NewTicker(speakInterval)
	defer ticks.Stop()
	for count := 0; ; count++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		if connection == nil {
			if connection, err = net.Dial("unix", args[0]); err != nil { //nolint:gosec // a socket that whoever runs this has named
				connection = nil
				continue
			}
		}
		if _, err := fmt.Fprintln(connection, name, count); err != nil {
			_ = connection.Close()
			connection = nil
		}
	}
}
