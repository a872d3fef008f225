// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"fmt"
	"slices"
	"strings"
)

// Message prepares external text for a condition or an event. It escapes the text, and cuts it after limit bytes,
// with an ellipsis.
func Message(text string, limit int) string {
	if text = EscapeBlock(text); len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}

// TruncateList returns at most the first limit texts. If there are more in total, the last item is "and N more". The
// total may be larger than len(texts).
func TruncateList(texts []string, limit, total int) []string {
	shown := texts[:min(limit, len(texts))]
	if omitted := total - len(shown); omitted > 0 {
		return append(slices.Clone(shown), fmt.Sprintf("and %d more", omitted))
	}
	return shown
}
