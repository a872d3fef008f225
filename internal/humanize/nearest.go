// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import "slices"

// Nearest returns the candidate that is most similar to a name, or "" if none is so similar that the name is a likely
// typo of it: at most a third of the name may differ. Of equally similar candidates, it returns the first in
// alphabetical order.
func Nearest(name string, candidates []string) string {
	best, limit := "", max(1, len(name)/3)
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		if difference := len(name) - len(candidate); difference > limit || -difference > limit {
			continue // The distance is at least the difference in length.
		}
		if d := editDistance(name, candidate); d <= limit && candidate != name {
			best, limit = candidate, d-1
		}
	}
	return best
}

// editDistance returns the optimal string alignment distance of two texts: the number of bytes to insert, delete,
// substitute or transpose.
func editDistance(a, b string) int {
	width := len(b) + 1
	space := make([]int, 3*width)
	beforeLast, last, row := space[:width], space[width:2*width], space[2*width:]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(b)]
}
