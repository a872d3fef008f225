// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// FormatRead formats the part of a value that a read covers, in Go syntax.
func FormatRead(value any, read tree.Read) string {
	for _, key := range read.Path {
		tree, _ := value.(map[string]any)
		item, isThere := tree[key]
		if !isThere {
			return "nothing"
		}
		value = item
	}
	length := -1
	switch value := value.(type) {
	case map[string]any:
		length = len(value)
	case []any:
		length = len(value)
	}
	switch {
	case read.Aspect == tree.WholeValue || length < 0:
		return fmt.Sprintf("%#v", value)
	case read.Aspect == tree.Shape:
		length = min(length, 1)
	}
	return fmt.Sprintf("%T %d", value, length)
}
