// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"fmt"
	"slices"
	"strings"
)

// Message prepares external text for a condition or an event: the text is escaped, and cut after most bytes with an
// ellipsis.
func Message(text string, most int) string {
	if text = EscapeBlock(text); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// First returns at most the first most texts, and "and N more" if there are more in all; of
// is the total, which may be larger than len(texts).
func First(texts []string, most, of int) []string {
	shown := texts[:min(most, len(texts))]
	if more := of - len(shown); more > 0 {
		return append(slices.Clone(shown), fmt.Sprintf("and %d more", more))
	}
	return shown
}
