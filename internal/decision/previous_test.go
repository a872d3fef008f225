// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// The counted bytes of a decision equal the memory that it allocates, apart from rounding.
func TestPrevious_CountsAllocatedBytes(t *testing.T) {
	const count = 2000
	allocated := func() float64 { // In all: what others have left to collect makes no difference.
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return float64(stats.TotalAlloc)
	}
	previous := &Previous{Injected: make([]*Evaluated, 0, count)}
	before := allocated()
	for range count {
		previous.Injected = append(previous.Injected, &Evaluated{Basis: strings.Repeat("b", 32), Plan: plan.Plan{Rollout: plan.Rollout{Message: strings.Repeat("m", 64)}}})
	}
	require.InEpsilon(t, allocated()-before, previous.Bytes(), 0.1)
}
