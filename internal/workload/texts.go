// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"encoding/json"
	"slices"
)

// jsonText returns a value as JSON, so that callers can compare numbers of different Go types.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// appendStrings appends strings, each with its length before it, so that different lists of strings result in
// different texts.
func appendStrings(text []byte, items ...string) []byte {
	for _, item := range items {
		text = append(binary.AppendUvarint(text, uint64(len(item))), item...)
	}
	return text
}

// appendMap appends the number of entries, and the keys and values in the order of the keys, so that different maps
// result in different texts.
func appendMap(text []byte, entries map[string]string) []byte {
	text = binary.AppendUvarint(text, uint64(len(entries)))
	var space [16]string
	keys := space[:0]
	for key := range entries {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		text = appendStrings(text, key, entries[key])
	}
	return text
}
