// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// A difference turns a base text into another text. Each line starts with a mark. Unless it is added, a line matches
// the next fitting line of the base. Lines of the base before that line stay.
//
// The format is not a unified diff, because a unified diff has line numbers and the old values of changed lines. A
// change of the base would invalidate every difference to it. A unified diff would not save code either: the
// available modules write unified diffs, but do not apply them.
const (
	markContext = ' ' // The line stays; it is context for the next ones.
	markRemoved = '-' // The line is removed; with nested at its end, also the block below it.
	markAdded   = '+' // The line is added.
	markChanged = '~' // The line replaces the one with the same key.

	nested = " …\n"
)

// misfit is a line of a difference that cannot be applied.
type misfit struct {
	line   int // of the difference, from 1
	reason string
}

func (m *misfit) Error() string { return fmt.Sprintf("line %d: %s", m.line, m.reason) }

// applyDifference applies a difference to its base, line by line. The mark of a line decides about the next matching
// line of the base: ' ' keeps it, '-' removes it, and '~' replaces it. A line with the mark '+' is added. Lines of
// the base between the matching lines are kept. The error is a *misfit with the line of the difference.
func applyDifference(base, difference string) (string, error) {
	remaining, number := splitLines(base), 0
	var text strings.Builder
	for marked := range strings.Lines(difference) {
		number++
		if marked == "\n" {
			marked = " \n" // Editors strip trailing spaces.
		}
		mark, line := marked[0], ensureNewline(marked[1:])
		if !slices.Contains([]byte{markContext, markRemoved, markAdded, markChanged}, mark) {
			return "", &misfit{number, fmt.Sprintf("line %q must start with ' ', '-', '+' or '~'", marked)}
		}
		if mark == markAdded {
			text.WriteString(line)
			continue
		}
		line, isBlock := blockStart(mark, line)
		i := slices.IndexFunc(remaining, lineMatcher(mark, line))
		if i < 0 {
			return "", &misfit{number, fmt.Sprintf("the base has no line %q after the previous ones", strings.TrimSpace(line))}
		}
		for _, unchanged := range remaining[:i] {
			text.WriteString(unchanged)
		}
		switch mark {
		case markContext:
			text.WriteString(remaining[i])
		case markChanged:
			text.WriteString(line)
		}
		if remaining = remaining[i+1:]; isBlock {
			remaining = remaining[countNested(line, remaining):]
		}
	}
	for _, unchanged := range remaining {
		text.WriteString(unchanged)
	}
	return text.String(), nil
}

// lineMatcher returns a function that reports whether a line of the base matches a line of a difference.
func lineMatcher(mark byte, line string) func(string) bool {
	if mark != markChanged {
		return func(candidate string) bool { return candidate == line }
	}
	return func(candidate string) bool { return lineKey(candidate) == lineKey(line) }
}

// lineKey returns a line up to the colon that ends its key, including the indentation. A line without a key is unchanged.
func lineKey(line string) string {
	for i := range len(line) - 1 {
		if line[i] == ':' && (line[i+1] == ' ' || line[i+1] == '\n') {
			return line[:i+1]
		}
	}
	return line
}

// blockStart reports whether a line is removed together with the block below it, and returns the line without the mark of
// a block.
func blockStart(mark byte, line string) (string, bool) {
	head, isBlock := strings.CutSuffix(line, nested)
	if mark != markRemoved || !isBlock {
		return line, false
	}
	return head + "\n", true
}

// countNested returns the number of following lines that are indented deeper than a line.
func countNested(line string, following []string) int {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, next := range following {
		if indent(next) <= indent(line) {
			return i
		}
	}
	return len(following)
}

// splitLines returns the lines of a text, each with its line end.
func splitLines(text string) []string { return slices.Collect(strings.Lines(ensureNewline(text))) }

// ensureNewline returns a text that ends with a newline, unless it is empty.
func ensureNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
