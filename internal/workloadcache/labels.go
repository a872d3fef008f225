// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"cmp"
	"slices"
)

// label is one label of a body. In its value, placeholders replace the name and namespace of the workload.
// Labels are sorted.
type label struct{ key, value string }

// labelsOf returns the labels of a workload as interned strings.
func labelsOf(at place, of map[string]string) []label {
	kept := make([]label, 0, len(of))
	for key, value := range of {
		kept = append(kept, label{one(key), one(at.without(value))})
	}
	slices.SortFunc(kept, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return kept
}

// Pair returns a label as a key of the index.
func Pair(key, value string) string { return key + "=" + value }

// AnyLabels is the key of all workloads.
const AnyLabels = "*"
