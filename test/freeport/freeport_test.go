// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddress_ReturnsDifferentFreeAddresses(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.0.0.1", "127.0.0.2"} {
		seen := map[string]bool{}
		for range 50 {
			address, err := Address(host)
			require.NoError(t, err)
			require.False(t, seen[address], address)
			seen[address] = true
			port, err := strconv.Atoi(Port(address))
			require.NoError(t, err)
			require.GreaterOrEqual(t, port, first)
			require.Less(t, port, end)
			listener, err := net.Listen("tcp", address)
			require.NoError(t, err)
			require.NoError(t, listener.Close())
		}
	}
}

func TestAddress_ReportsHostOfOtherMachine(t *testing.T) {
	_, err := Address("192.0.2.1")
	require.ErrorContains(t, err, "finding a free port of 192.0.2.1: no port is free")
}
