// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The operator keeps a command line for each sidecar. All command lines share the flags of a release.
func TestCommandLine_TakesLittleMemory(t *testing.T) {
	const count = 1000
	inUse := func() uint64 {
		runtime.GC()
		runtime.GC() // What pools held is released only now.
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	Parse(Input{Minor: Newest})
	lines := make([]*CommandLine, count)
	before := inUse()
	for i := range lines {
		lines[i] = Parse(Input{Minor: Newest})
	}
	each := (int64(inUse()) - int64(before)) / count
	require.Less(t, each, int64(1<<10), "bytes")
	runtime.KeepAlive(lines)
}
