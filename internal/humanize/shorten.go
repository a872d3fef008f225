// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"fmt"
	"slices"
	"strings"
)

// ShortenMessage prepares external text for a condition or an event: it escapes the text, and cuts it to limit bytes and an
// ellipsis.
func ShortenMessage(text string, limit int) string {
	if text = EscapeBlock(text); len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}

// TruncateList returns the first texts, at most limit, and "and N more" if total is larger than their number. total may
// be larger than len(texts), if the caller does not have all texts.
func TruncateList(texts []string, limit, total int) []string {
	shown := texts[:min(limit, len(texts))]
	if omitted := total - len(shown); omitted > 0 {
		return append(slices.Clone(shown), fmt.Sprintf("and %d more", omitted))
	}
	return shown
}
