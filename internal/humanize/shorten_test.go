// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A message that is too long is cut between two characters, never inside of one.
func TestShortenMessage_CutsTextBetweenCharacters(t *testing.T) {
	require.Equal(t, "größer", ShortenMessage("größer", 8))
	require.Equal(t, "gr …", ShortenMessage("größer", 3), "ö has two bytes")
	require.Equal(t, `a\x1b`, ShortenMessage("a\x1b", 8))
	require.Equal(t, `a\x …`, ShortenMessage("a\x1b", 3), "the limit is for what is shown")
}

func TestTruncateList_CountsRemainingItems(t *testing.T) {
	three := []string{"a", "b", "c"}
	require.Equal(t, three, TruncateList(three, 3, 3))
	require.Equal(t, []string{"a", "b", "and 1 more"}, TruncateList(three, 2, 3))
	require.Equal(t, []string{"a", "b", "c", "and 4 more"}, TruncateList(three, 5, 7))
	require.Equal(t, []string{"a", "b", "c"}, three, "what was given is as it was")
	require.Empty(t, TruncateList(nil, 2, 0))
}
