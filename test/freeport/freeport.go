// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package freeport finds ports for programs that listen at a fixed address.
//
//	host – address with a port on which no process listens
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports are below those of outgoing connections and NodePorts. A port of outgoing connections could be used by
// another process before the program listens.
const (
	first    = 10_000
	end      = 30_000
	attempts = 100
)

// used are the addresses that were returned before, because their programs may not listen yet.
var used sync.Map

// Address returns an address of a host with a port on which no process listens.
func Address(host string) (string, error) {
	var last error
	for range attempts {
		address := net.JoinHostPort(host, strconv.Itoa(first+rand.IntN(end-first))) //nolint:gosec // A port is no secret.
		if _, isUsed := used.LoadOrStore(address, true); isUsed {
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err == nil {
			err = listener.Close()
		}
		if err == nil {
			return address, nil
		}
		last = err
	}
	return "", fmt.Errorf("finding a free port of %s: %w", host, errors.Join(errors.New("no port is free"), last))
}

// Loopback returns an address of the loopback interface with a port on which no process listens.
func Loopback() (string, error) { return Address("127.0.0.1") }

// ForTest returns what Loopback returns. An error ends the test.
func ForTest(t testing.TB) string {
	t.Helper()
	address, err := Loopback()
	require.NoError(t, err)
	return address
}

// PortForTest returns a port of the loopback interface on which no process listens. An error ends the test.
func PortForTest(t testing.TB) int {
	t.Helper()
	port, err := strconv.Atoi(Port(ForTest(t)))
	require.NoError(t, err)
	return port
}

// Port returns the port of an address that this package returned.
func Port(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		panic(fmt.Sprintf("freeport: %q is not an address of this package", address))
	}
	return port
}
