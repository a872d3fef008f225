// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// Each wait of the backoff is twice as long as the one before, up to a limit.
func TestBackoff_DoublesUpToLimit(t *testing.T) {
	b := NewBackoff()
	for _, seconds := range []int{10, 20, 40, 80, 160, 300, 300} {
		wait := time.Duration(seconds) * time.Second
		require.Equal(t, wait, b.Next(RetryLeftovers, "a"))
		require.Equal(t, wait, b.Last(RetryLeftovers, "a"))
	}
	require.Equal(t, FirstRetry, b.Next(RetryRevision, "a"), "another kind has its own waits")
	require.Equal(t, 10*time.Second, b.Next(RetryLeftovers, "b"), "and so has another key")

	b.Reset(RetryLeftovers, "a")
	require.Zero(t, b.Last(RetryLeftovers, "a"))
	require.Equal(t, 10*time.Second, b.Next(RetryLeftovers, "a"))
}

// The operator does not retry twenty times a second if a webhook keeps answering with a conflict.
func TestRecordConflict_LimitsTransientRetries(t *testing.T) {
	now := time.Now()
	m := New(func() time.Time { return now })
	logs, ofCluster := types.NamespacedName{Namespace: "shop", Name: "logs"}, types.NamespacedName{Name: "cluster:logs"}
	var waited, last time.Duration
	for m.IsConflictTransient(logs) {
		wait := m.RecordConflict(logs)
		require.Greater(t, wait, last)
		waited, last = waited+wait, wait
		now = now.Add(wait / 2)
		for range 10 {
			require.Equal(t, wait-wait/2, m.RecordConflict(logs), "what events have met meanwhile does not count")
		}
		now = now.Add(wait - wait/2)
	}
	require.InDelta(t, 13, waited.Seconds(), 3)
	require.True(t, m.IsConflictTransient(ofCluster), "another one has its own count")

	for name, end := range map[string]func(types.NamespacedName){
		"it was written": m.ResetConflicts,
		"it is gone":     func(name types.NamespacedName) { m.Forget(name) },
	} {
		t.Run(name, func(t *testing.T) {
			for m.IsConflictTransient(logs) {
				now = now.Add(m.RecordConflict(logs))
			}
			end(logs)
			require.True(t, m.IsConflictTransient(logs))
			require.Equal(t, FirstConflict, m.RecordConflict(logs))
		})
	}
}
