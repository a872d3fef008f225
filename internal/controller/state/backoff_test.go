// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestNextWait_DoublesUpToLimit(t *testing.T) {
	wait := time.Duration(0)
	for _, next := range []time.Duration{2, 4, 8, 10, 10} {
		wait = NextWait(wait, 2, 10)
		require.Equal(t, next, wait)
	}
}

// The operator does not retry twenty times a second if a webhook keeps answering with a conflict.
func TestConflicts_LimitsTransientRetries(t *testing.T) {
	now := time.Now()
	m := New(func() time.Time { return now })
	logs, ofCluster := types.NamespacedName{Namespace: "shop", Name: "logs"}, types.NamespacedName{Name: "cluster:logs"}
	var waited, last time.Duration
	for m.IsConflictTransient(logs) {
		wait := m.Conflict(logs)
		require.Greater(t, wait, last)
		waited, last = waited+wait, wait
		now = now.Add(wait / 2)
		for range 10 {
			require.Equal(t, wait-wait/2, m.Conflict(logs), "what events have met meanwhile does not count")
		}
		now = now.Add(wait - wait/2)
	}
	require.InDelta(t, 13, waited.Seconds(), 3)
	require.True(t, m.IsConflictTransient(ofCluster), "another one has its own count")

	for name, end := range map[string]func(types.NamespacedName){
		"it was written": m.NoConflict,
		"it is gone":     func(name types.NamespacedName) { m.Forget(name) },
	} {
		t.Run(name, func(t *testing.T) {
			for m.IsConflictTransient(logs) {
				now = now.Add(m.Conflict(logs))
			}
			end(logs)
			require.True(t, m.IsConflictTransient(logs))
			require.Equal(t, FirstConflict, m.Conflict(logs))
		})
	}
}
