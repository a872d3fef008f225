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
	stays   = ' ' // The line stays; it is context for the next ones.
	goes    = '-' // The line is removed; with nested at its end, also the block below it.
	comes   = '+' // The line is added.
	changes = '~' // The line replaces the one with the same key.

	nested = " …\n"
)

// misfit is a line of a difference that cannot be applied.
type misfit struct {
	line   int // of the difference, from 1
	reason string
}

func (m *misfit) Error() string { return fmt.Sprintf("line %d: %s", m.line, m.reason) }

// apply applies a difference to its base. The error is a *misfit.
func apply(base, difference string) (string, error) {
	left, number := linesOf(base), 0
	var text strings.Builder
	for marked := range strings.Lines(difference) {
		number++
		if marked == "\n" {
			marked = " \n" // Editors strip trailing spaces.
		}
		mark, line := marked[0], terminated(marked[1:])
		if !slices.Contains([]byte{stays, goes, comes, changes}, mark) {
			return "", &misfit{number, fmt.Sprintf("%q does not begin with ' ', '-', '+' or '~'", marked)}
		}
		if mark == comes {
			text.WriteString(line)
			continue
		}
		line, isBlock := block(mark, line)
		at := slices.IndexFunc(left, fits(mark, line))
		if at < 0 {
			return "", &misfit{number, fmt.Sprintf("the base has no line %q after the previous ones", strings.TrimSpace(line))}
		}
		for _, before := range left[:at] {
			text.WriteString(before)
		}
		switch mark {
		case stays:
			text.WriteString(left[at])
		case changes:
			text.WriteString(line)
		}
		if left = left[at+1:]; isBlock {
			left = left[below(line, left):]
		}
	}
	for _, rest := range left {
		text.WriteString(rest)
	}
	return text.String(), nil
}

// fits returns a function that reports whether a line of the base matches a line of a difference.
func fits(mark byte, line string) func(string) bool {
	if mark != changes {
		return func(of string) bool { return of == line }
	}
	return func(of string) bool { return key(of) == key(line) }
}

// key returns a line up to the colon that ends its key, including the indentation. A line without a key is unchanged.
func key(line string) string {
	for i := range len(line) - 1 {
		if line[i] == ':' && (line[i+1] == ' ' || line[i+1] == '\n') {
			return line[:i+1]
		}
	}
	return line
}

// block reports whether a line is removed together with the block below it, and returns the line without the mark of
// a block.
func block(mark byte, line string) (string, bool) {
	head, isBlock := strings.CutSuffix(line, nested)
	if mark != goes || !isBlock {
		return line, false
	}
	return head + "\n", true
}

// below returns the number of following lines that are indented deeper than a line.
func below(line string, following []string) int {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, next := range following {
		if indent(next) <= indent(line) {
			return i
		}
	}
	return len(following)
}

// linesOf returns the lines of a text, each with its line end.
func linesOf(text string) []string { return slices.Collect(strings.Lines(terminated(text))) }

// terminated returns a text that ends with a newline, unless it is empty.
func terminated(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
