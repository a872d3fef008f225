// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// of returns a graph of pairs: from the first to the second, and so on.
func of(arrows ...string) graph {
	g := graph{}
	for i := 0; i < len(arrows); i += 2 {
		for _, file := range arrows[i : i+2] {
			if g[file] == nil {
				g[file] = map[string]bool{}
			}
		}
		g[arrows[i]][arrows[i+1]] = true
	}
	return g
}

// The result is the smallest number of references between files that point backward, over all orders of the files.
func TestBack_ReturnsFewestReferencesToEarlierFiles(t *testing.T) {
	require.Zero(t, of("a", "b", "b", "c", "a", "c").back(), "it has an order")
	require.Equal(t, 1, of("a", "b", "b", "a").back())
	require.Equal(t, 1, of("a", "b", "b", "c", "c", "a", "a", "d").back(), "one arrow closes the circle")
	require.Equal(t, 2, of("a", "b", "b", "a", "c", "d", "d", "c", "a", "c").back(), "two circles")
	require.Equal(t, 3, of("a", "b", "b", "a", "b", "c", "c", "b", "a", "c", "c", "a").back(), "all name all")
}

// Each of many files refers to the next one, and the last one to the first. In the best order, one reference points to an earlier file.
func TestBack_ReturnsOneForLargeCircle(t *testing.T) {
	var ring []string
	for i := range exactly + 5 {
		ring = append(ring, strconv.Itoa(i), strconv.Itoa((i+1)%(exactly+5)))
	}
	require.Equal(t, 1, of(ring...).back())
}
