// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// If the same sidecar has to be corrected several times in a row, that is a correction loop.
func TestCorrectionLoops_DetectCorrectionLoop(t *testing.T) {
	now := time.Unix(0, 0)
	b := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	isOpen := func() bool {
		loops, _ := b.CorrectionLoops()
		_, found := loops["cart"]
		return found
	}
	writeEvery := func(pause time.Duration, n int, hash string) {
		for range n {
			b.RecordInjection("cart", hash)
			now = now.Add(pause)
		}
	}

	writeEvery(time.Second, 3, "a")
	require.False(t, isOpen(), "an injection and two repairs are no loop")
	writeEvery(time.Second, 1, "a")
	loops, wait := b.CorrectionLoops()
	require.Equal(t, map[types.UID]decision.CorrectionLoop{"cart": {InjectedHash: "a", Writes: 4}}, loops)
	require.Equal(t, retryCorrection.first-time.Second, wait)

	now = now.Add(wait)
	require.False(t, isOpen(), "one more try tells whether the other has stopped")
	writeEvery(time.Second, 1, "a")
	_, wait = b.CorrectionLoops()
	require.Equal(t, 2*retryCorrection.first-time.Second, wait, "each break is twice as long")

	writeEvery(time.Second, 1, "b")
	require.False(t, isOpen(), "another sidecar begins a new count")

	b.KeepExpectations(nil)
	writeEvery(loopWindow, 10, "c")
	require.False(t, isOpen(), "repairs that are far apart are no loop")
}

// A second injection of the same sidecar counts as a correction.
func TestRecordInjection_DetectsCorrection(t *testing.T) {
	b := New(time.Now).GetOrCreate(logsOfShop)
	require.False(t, b.RecordInjection("cart", "a"))
	require.True(t, b.RecordInjection("cart", "a"))
	require.False(t, b.RecordInjection("cart", "b"), "another sidecar")
	require.False(t, b.RecordInjection("shop", "b"), "another workload")
}

// In a correction loop, the wait before the next correction grows only up to a limit.
func TestCorrectionLoops_LimitWaitBetweenCorrections(t *testing.T) {
	now := time.Unix(0, 0)
	b := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	for range 100 {
		for range loopWrites {
			b.RecordInjection("cart", "a")
		}
		_, wait := b.CorrectionLoops()
		require.LessOrEqual(t, wait, retryCorrection.longest)
		now = now.Add(wait)
	}
	_, wait := b.CorrectionLoops()
	require.Zero(t, wait)
}

// A workload opts out and in again, or loses and gets its label. The next injection is not a correction, so it does not
// count for a correction loop.
func TestCorrectionLoops_IgnoreRequestedRemovals(t *testing.T) {
	for name, wish := range map[string]plan.Plan{
		"a removal of ours": {Change: plan.Remove},
		"an opt-out":        {Block: &plan.Block{Kind: plan.BlockedByOptOut}},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(time.Now).GetOrCreate(logsOfShop)
			wish.Target.UID = "cart"
			for range 3 * loopWrites {
				b.RecordInjection("cart", "a")
				b.KeepExpectations([]plan.Plan{wish})
			}
			loops, _ := b.CorrectionLoops()
			require.Empty(t, loops)
		})
	}
	b := New(time.Now).GetOrCreate(logsOfShop)
	for range loopWrites {
		b.RecordInjection("cart", "a")
		b.KeepExpectations([]plan.Plan{{Target: workload.Ref{UID: "cart"}, Block: &plan.Block{Kind: plan.BlockedByObstacle}}})
	}
	loops, _ := b.CorrectionLoops()
	require.NotEmpty(t, loops, "what cannot be injected now is wished all the same")
}
