// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"iter"
	"slices"
)

// Labels are those of a Record's workload. A labels.Selector can match them.
type Labels Record

// label is one of a body, where the workload's own name is left out. They are sorted.
type label struct{ key, value string }

// labelsOf holds labels of a workload. What many workloads have is held once.
func labelsOf(name string, of map[string]string) []label {
	kept := make([]label, 0, len(of))
	for key, value := range of {
		kept = append(kept, label{one(key), one(withoutName(value, name))})
	}
	slices.SortFunc(kept, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return kept
}

// All are the keys with their values.
func (l *Labels) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, of := range l.body.labels {
			if !yield(of.key, withName(of.value, l.Name)) {
				return
			}
		}
	}
}

// Lookup returns the value of a key, and whether there is one.
func (l *Labels) Lookup(key string) (string, bool) {
	all := l.body.labels
	at, found := slices.BinarySearchFunc(all, key, func(of label, key string) int { return cmp.Compare(of.key, key) })
	if !found {
		return "", false
	}
	return withName(all[at].value, l.Name), true
}

// Has tells whether there is a key.
func (l *Labels) Has(key string) bool {
	_, found := l.Lookup(key)
	return found
}

// Get returns the value of a key, empty if there is none.
func (l *Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
