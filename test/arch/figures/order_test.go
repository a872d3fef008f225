// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// loaded returns the type-checked product. It is loaded once.
var loaded = sync.OnceValues(load)

// ordered lists packages between an event and a patch whose files can be read from the top down.
var ordered = []string{"internal/controller/sidecar", "internal/decision", "internal/desired"}

// In each listed package, a file refers only to declarations of later files.
func TestCircles_FindNoneInListedPackages(t *testing.T) {
	code, err := loaded()
	require.NoError(t, err)
	var seen []string
	for _, p := range code.packages {
		if !slices.Contains(ordered, short(p.PkgPath)) {
			continue
		}
		seen = append(seen, short(p.PkgPath))
		arrows := code.arrowsIn(p)
		require.Positive(t, arrows.count())
		for _, circle := range arrows.circles() {
			for _, file := range circle {
				isOutside := func(to string) bool { return !slices.Contains(circle, to) }
				t.Errorf("%s names files that lead back to it: %v", file, slices.DeleteFunc(slices.Sorted(maps.Keys(arrows[file])), isOutside))
			}
		}
	}
	require.ElementsMatch(t, ordered, seen, "a package is not where it was")
}
