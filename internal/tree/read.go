// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"slices"
)

// Read records that a template has read a value. If all reads of one execution return the same for another input, the
// execution with that input has the same result.
type Read struct {
	// Path is the list of keys that leads from the root value to the value that was read. It is empty for the root
	// value itself.
	Path []string
	// Aspect is the property of the value that was read.
	Aspect Aspect
}

// Aspect is a property of a value that can be read without the rest of the value.
type Aspect byte

const (
	// Shape is the part of a value that distinguishes scalars, maps and lists: whether the value exists, the value of a
	// scalar, and whether a map or list is empty.
	Shape Aspect = iota
	// Length is the number of items of a map or list.
	Length
	// WholeValue is the complete value. Reading more items than a list has also counts as WholeValue.
	WholeValue
)

// JoinReads merges the reads of several executions. The result is sorted, and contains no read that is equal to another
// one or covered by it.
func JoinReads(lists ...[]Read) []Read {
	reads := slices.Concat(lists...)
	joined := slices.DeleteFunc(slices.Clone(reads), func(read Read) bool {
		return slices.ContainsFunc(reads, func(other Read) bool { return other.covers(read) })
	})
	slices.SortFunc(joined, Read.compare)
	return slices.CompactFunc(joined, func(a, b Read) bool { return a.compare(b) == 0 })
}

// covers reports whether this read includes the other read: it reads the whole value that contains the other value.
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
