// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"
)

// JoinPath joins keys to the path of a value, such as sidecar.logs.path. It quotes a key with a dot or a bracket, so
// that different keys always result in different paths.
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
