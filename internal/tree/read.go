// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"slices"
)

// Read is one read access to a value of a template during its execution. Two executions behave the same until they
// read something different. So if all reads of one execution return the same in another, both have the same result.
type Read struct {
	// Path is the key path from the watched value; empty for the value itself.
	Path []string
	// Aspect is the aspect that was read.
	Aspect Aspect
}

// Aspect is a property of a value that can be read without the rest of the value.
type Aspect byte

const (
	// Shape is whether the value exists; if it is a scalar, its value; if it is a map or list,
	// which of them, and whether it is empty.
	Shape Aspect = iota
	// Length is the number of items of a map or list.
	Length
	// WholeValue is the complete value. A read of more items than a list has counts as WholeValue, too.
	WholeValue
)

// JoinReads merges the reads of several executions. The result is sorted and has no duplicates and no reads that
// another read covers.
func JoinReads(lists ...[]Read) []Read {
	reads := slices.Concat(lists...)
	joined := slices.DeleteFunc(slices.Clone(reads), func(read Read) bool {
		return slices.ContainsFunc(reads, func(other Read) bool { return other.covers(read) })
	})
	slices.SortFunc(joined, Read.compare)
	return slices.CompactFunc(joined, func(a, b Read) bool { return a.compare(b) == 0 })
}

// covers reports whether the other read is part of this read.
func (r Read) covers(other Read) bool {
	isAbove := len(r.Path) <= len(other.Path) && slices.Equal(r.Path, other.Path[:len(r.Path)])
	return r.Aspect == WholeValue && isAbove && r.compare(other) != 0
}

// Equal reports whether two reads have the same path and aspect.
func (r Read) Equal(other Read) bool { return r.compare(other) == 0 }

// compare sorts reads by path, and then by aspect.
func (r Read) compare(other Read) int {
	return cmp.Or(slices.Compare(r.Path, other.Path), cmp.Compare(r.Aspect, other.Aspect))
}
