// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"encoding/json"
	"slices"
)

// jsonText returns a value as JSON, for comparing numbers of different Go types.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// AppendTexts appends texts with a length before each text, so that different lists result in different texts.
func AppendTexts(text []byte, parts ...string) []byte {
	for _, part := range parts {
		text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
	}
	return text
}

func appendMap(text []byte, of map[string]string) []byte {
	text = binary.AppendUvarint(text, uint64(len(of)))
	var space [16]string
	keys := space[:0]
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		text = AppendTexts(text, key, of[key])
	}
	return text
}
