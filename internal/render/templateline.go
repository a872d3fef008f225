// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// templatePosition returns the template line, as file:line, that a rendered line most likely comes from. It is the line with
// the longest common text. The result is "" without such a line, or if several lines tie.
func (c *Chart) templatePosition(rendered string) string {
	rendered = strings.TrimSpace(rendered)
	location, best := "", 0
	for _, file := range slices.Sorted(maps.Keys(c.texts)) {
		number := 0
		for line := range strings.Lines(c.texts[file]) {
			number++
			switch shared := sharedLength(strings.TrimSpace(line), rendered); {
			case shared > best:
				location, best = fmt.Sprintf("%s:%d", file, number), shared
			case shared == best:
				location = ""
			}
		}
	}
	return location
}

// sharedLength returns the number of bytes before the first and after the last action of a template line, if a rendered line
// starts and ends with the same text. It is 0 if the rendered line cannot come from the template line.
func sharedLength(line, rendered string) int {
	prefix, remainder, isTemplate := strings.Cut(line, "{{")
	if !isTemplate {
		if line == rendered {
			return len(line)
		}
		return 0
	}
	suffix := remainder[strings.LastIndex(remainder, "}}")+len("}}"):]
	if !strings.Contains(remainder, "}}") || !strings.HasPrefix(rendered, prefix) || !strings.HasSuffix(rendered, suffix) {
		return 0
	}
	return len(prefix) + len(suffix)
}
