// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// WrittenAt finds the line of the templates that a rendered line was most likely
// made from, as file:line: the one that shares most text with it, "" if none
// does or several do as well.
func (c *Chart) WrittenAt(rendered string) string {
	rendered = strings.TrimSpace(rendered)
	place, best := "", 0
	for _, file := range slices.Sorted(maps.Keys(c.texts)) {
		number := 0
		for line := range strings.Lines(c.texts[file]) {
			number++
			switch shared := shared(strings.TrimSpace(line), rendered); {
			case shared > best:
				place, best = fmt.Sprintf("%s:%d", file, number), shared
			case shared == best:
				place = ""
			}
		}
	}
	return place
}

// shared is how many bytes of a template's line are plain text that a rendered line
// has at the same end; 0 if it cannot have become that line.
func shared(line, rendered string) int {
	before, rest, isTemplate := strings.Cut(line, "{{")
	if !isTemplate {
		if line == rendered {
			return len(line)
		}
		return 0
	}
	after := rest[strings.LastIndex(rest, "}}")+len("}}"):]
	if !strings.Contains(rest, "}}") || !strings.HasPrefix(rendered, before) || !strings.HasSuffix(rendered, after) {
		return 0
	}
	return len(before) + len(after)
}
