// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// AppendReads appends a text of all parts of Values that templates have read. Views from which the templates would read
// the same values have equal texts. The text is part of the key of cached renderings. Every workload needs it, so it
// takes less than a microsecond.
func (v *View) AppendReads(text []byte, reads []tree.Read) []byte {
	for _, read := range reads {
		text = append(binary.AppendUvarint(text, uint64(len(read.Path))), byte(read.Aspect))
		switch {
		case len(read.Path) == 1 && read.Aspect == tree.WholeValue:
			text = v.appendValues(text, read.Path)
		case len(read.Path) > 0:
			text = v.appendRead(appendStrings(text, read.Path...), read)
		case read.Aspect == tree.WholeValue:
			text = v.appendValues(text, valueKeys())
		}
	}
	return text
}

// appendRead appends the content that one read of a template has used: a label or an annotation, the number of items of
// a map or list, or otherwise the whole value of the key. Workloads with the same content share a rendering.
func (v *View) appendRead(text []byte, read tree.Read) []byte {
	key := read.Path[0]
	switch {
	case key == "labels" && len(read.Path) > 1:
		return appendItem(text, v.Labels, read.Path[1])
	case key == "annotations" && len(read.Path) > 1:
		return appendItem(text, v.Annotations, read.Path[1])
	case key == "labels":
		return appendLength(text, len(v.Labels), read.Aspect)
	case key == "annotations":
		return appendLength(text, len(v.Annotations), read.Aspect)
	case key == "containers":
		return appendLength(text, v.countContainers(), read.Aspect)
	case key == "users" && len(read.Path) == 1:
		return appendLength(text, len(v.userValues()), read.Aspect)
	}
	return v.appendValues(text, []string{key})
}

// countContainers returns the number of containers that Values contains.
func (v *View) countContainers() int {
	count := 0
	for range v.applicationContainers() {
		count++
	}
	return count
}

// appendItem appends a text of one entry of a map, or of its absence.
func appendItem(text []byte, items map[string]string, key string) []byte {
	value, isThere := items[key]
	if !isThere {
		return append(text, '-')
	}
	return appendStrings(append(text, '+'), value)
}

// appendLength appends the number of items. If the aspect is tree.Shape, it appends only whether items exist.
func appendLength(text []byte, length int, aspect tree.Aspect) []byte {
	if aspect == tree.Shape {
		length = min(length, 1)
	}
	return binary.AppendUvarint(text, uint64(length)) //nolint:gosec // a length is not negative
}

// ValueKeysFor returns the keys of Values that the reads have read, in the order of valueKeys.
func ValueKeysFor(reads []tree.Read) []string {
	var keys []string
	for _, key := range valueKeys() {
		if slices.ContainsFunc(reads, func(read tree.Read) bool {
			return len(read.Path) > 0 && read.Path[0] == key || len(read.Path) == 0 && read.Aspect == tree.WholeValue
		}) {
			keys = append(keys, key)
		}
	}
	return keys
}

// WholeKeys returns a read of the whole value for each key.
func WholeKeys(keys []string) []tree.Read {
	reads := make([]tree.Read, 0, len(keys))
	for _, key := range keys {
		reads = append(reads, tree.Read{Path: []string{key}, Aspect: tree.WholeValue})
	}
	return reads
}
