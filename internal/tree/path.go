// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"
)

// JoinPath joins keys to a path in the usual notation, such as sidecar.logs.path. A key that contains a dot or a bracket
// is quoted in brackets, so that two different paths never look the same.
func JoinPath(keys ...string) string {
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
