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

// newLabels returns the labels of a workload as interned strings.
func newLabels(objKey objectKey, pairs map[string]string) []label {
	result := make([]label, 0, len(pairs))
	for key, value := range pairs {
		result = append(result, label{intern(key), intern(objKey.mask(value))})
	}
	slices.SortFunc(result, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return result
}

// Pair returns a label as a key of the index.
func Pair(key, value string) string { return key + "=" + value }

// AnyLabels is the key of all workloads.
const AnyLabels = "*"
