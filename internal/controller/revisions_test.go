// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAKeptCompanionIsLookedAtLessAndLess(t *testing.T) {
	now := time.Now()
	h := newHistory(nil, func() time.Time { return now })
	require.True(t, h.isDue(logsOfShop, []string{"a"}))
	require.False(t, h.isDue(logsOfShop, nil), "nothing is asked for")

	require.Equal(t, firstLook, h.keep(logsOfShop, []string{"a"}, nil))
	require.False(t, h.isDue(logsOfShop, []string{"a"}))
	require.True(t, h.isDue(logsOfShop, []string{"a", "b"}), "a new one is looked at at once")
	require.True(t, h.isDue(auditOfShop, []string{"a"}), "another VectorSidecar has its own")

	now = now.Add(firstLook / 2)
	require.Equal(t, firstLook/2, h.keep(logsOfShop, []string{"a"}, nil), "a pass in between does not put it off")
	now = now.Add(firstLook / 2)
	require.True(t, h.isDue(logsOfShop, []string{"a"}))
	require.Equal(t, 2*firstLook, h.keep(logsOfShop, []string{"a"}, nil))
	for range 20 {
		now = now.Add(lastLook)
		h.keep(logsOfShop, []string{"a"}, nil)
	}
	require.Equal(t, lastLook, h.keep(logsOfShop, []string{"a"}, nil))

	require.Zero(t, h.keep(logsOfShop, []string{"a"}, []string{"a"}))
	require.Empty(t, h.kept, "nothing is left of what is gone")
}
