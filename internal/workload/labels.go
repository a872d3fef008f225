// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"iter"
	"slices"
)

// Labels are those of a workload, sorted, in a third of what a map of them takes. A
// labels.Selector can match them.
type Labels []label

type label struct{ key, value string }

// labelsOf holds labels of a workload. What many workloads have is held once: keys,
// and values but for the workload's own name.
func labelsOf(name string, of map[string]string) Labels {
	kept := make(Labels, 0, len(of))
	for key, value := range of {
		if value == name {
			value = name // The same text, and not a copy of it.
		} else {
			value = one(value)
		}
		kept = append(kept, label{one(key), value})
	}
	slices.SortFunc(kept, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return kept
}

// All are the keys with their values.
func (l Labels) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range l {
			if !yield(l[i].key, l[i].value) {
				return
			}
		}
	}
}

// Lookup returns the value of a key, and whether there is one.
func (l Labels) Lookup(key string) (string, bool) {
	at, found := slices.BinarySearchFunc(l, key, func(of label, key string) int { return cmp.Compare(of.key, key) })
	if !found {
		return "", false
	}
	return l[at].value, true
}

// Has tells whether there is a key.
func (l Labels) Has(key string) bool {
	_, found := l.Lookup(key)
	return found
}

// Get returns the value of a key, empty if there is none.
func (l Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
