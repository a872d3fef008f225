// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"fmt"
	"slices"
	"strings"
)

// Message is a text of others as a condition or an event may hold it: escaped, and cut
// after so many bytes, which then end in an ellipsis.
func Message(text string, most int) string {
	if text = EscapeBlock(text); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// First returns the first texts, at most so many, and as the last one how many more there
// are of all; texts may be fewer than these.
func First(texts []string, most, of int) []string {
	shown := texts[:min(most, len(texts))]
	if more := of - len(shown); more > 0 {
		return append(slices.Clone(shown), fmt.Sprintf("and %d more", more))
	}
	return shown
}
