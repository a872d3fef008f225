// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"
)

// Path writes a path as a person does: sidecar.logs.path. A key that holds a dot is kept apart
// by brackets, so that no two paths are written alike.
func Path(keys ...string) string {
	var b strings.Builder
	for i, key := range keys {
		switch {
		case strings.ContainsAny(key, ".[]"):
			fmt.Fprintf(&b, "[%q]", key)
		case i > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}
