// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAStatusIsWrittenTwiceAtOnceAndThenOnceASecond(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newStatusPace(func() time.Time { return now })
	require.Zero(t, s.wait(logsOfShop))
	require.Zero(t, s.wait(logsOfShop))
	require.Equal(t, time.Second, s.wait(logsOfShop))
	require.Zero(t, s.wait(auditOfShop), "each has a pace of its own")

	now = now.Add(400 * time.Millisecond)
	require.Equal(t, 600*time.Millisecond, s.wait(logsOfShop), "asking costs nothing")
	written := 0
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		if s.wait(logsOfShop) == 0 {
			written++
		}
	}
	require.Equal(t, 10, written)

	s.forget(logsOfShop)
	require.Zero(t, s.wait(logsOfShop))
}

func TestWhatAHeldBackStatusHadToTellIsNotLost(t *testing.T) {
	s := newStatusPace(func() time.Time { return time.Unix(1000, 0) })
	for range statusBurst {
		require.Zero(t, s.wait(logsOfShop))
	}
	require.False(t, s.changed(logsOfShop, false))
	require.True(t, s.changed(logsOfShop, true))
	require.NotZero(t, s.wait(logsOfShop))
	require.True(t, s.changed(logsOfShop, false), "it was not told yet")
}
