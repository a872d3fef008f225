// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAKeptCompanionIsLookedAtLessAndLess(t *testing.T) {
	now := time.Now()
	m := New(func() time.Time { return now })
	h := m.Of(logsOfShop)
	require.True(t, h.IsRevisionDue([]string{"a"}))
	require.False(t, h.IsRevisionDue(nil), "nothing is asked for")

	require.Equal(t, firstLook, h.KeepRevisions([]string{"a"}, nil))
	require.False(t, h.IsRevisionDue([]string{"a"}))
	require.True(t, h.IsRevisionDue([]string{"a", "b"}), "a new one is looked at at once")
	require.True(t, m.Of(auditOfShop).IsRevisionDue([]string{"a"}), "another VectorSidecar has its own")

	now = now.Add(firstLook / 2)
	require.Equal(t, firstLook/2, h.KeepRevisions([]string{"a"}, nil), "a pass in between does not put it off")
	now = now.Add(firstLook / 2)
	require.True(t, h.IsRevisionDue([]string{"a"}))
	require.Equal(t, 2*firstLook, h.KeepRevisions([]string{"a"}, nil))
	for range 20 {
		now = now.Add(lastLook)
		h.KeepRevisions([]string{"a"}, nil)
	}
	require.Equal(t, lastLook, h.KeepRevisions([]string{"a"}, nil))

	require.Zero(t, h.KeepRevisions([]string{"a"}, []string{"a"}))
	require.Empty(t, h.kept, "nothing is left of what is gone")
}
