// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// A difference makes a text of another one, its base. Each line begins with a mark. One
// that is not added stands for the next line of the base that it fits; what the base has
// before that stays as it is.
//
// It is no unified difference, because that names lines of the base by number and what is
// replaced by its value: a change of the base would change every difference to it. It would
// be no less code either: the modules at hand write unified differences, and apply none.
const (
	stays   = ' ' // The line stays, and says where the next ones are.
	goes    = '-' // The line is taken out; with nested at its end, what is below it too.
	comes   = '+' // The line is added.
	changes = '~' // The line takes the place of one with the same key.

	nested = " …\n"
)

// misfit is a line of a difference that cannot be applied.
type misfit struct {
	line   int // of the difference, from 1
	reason string
}

func (m *misfit) Error() string { return fmt.Sprintf("line %d: %s", m.line, m.reason) }

// apply makes a text of its base. The error is a *misfit.
func apply(base, difference string) (string, error) {
	left, number := linesOf(base), 0
	var text strings.Builder
	for marked := range strings.Lines(difference) {
		number++
		if marked == "\n" {
			marked = " \n" // Editors take a space at the end of a line away.
		}
		mark, line := marked[0], terminated(marked[1:])
		if !slices.Contains([]byte{stays, goes, comes, changes}, mark) {
			return "", &misfit{number, fmt.Sprintf("%q begins with none of ' ', '-', '+' and '~'", marked)}
		}
		if mark == comes {
			text.WriteString(line)
			continue
		}
		line, isBlock := block(mark, line)
		at := slices.IndexFunc(left, fits(mark, line))
		if at < 0 {
			return "", &misfit{number, fmt.Sprintf("the base has no line %q after those named before", strings.TrimSpace(line))}
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

// fits tells which lines of a base a line of a difference may stand for.
func fits(mark byte, line string) func(string) bool {
	if mark != changes {
		return func(of string) bool { return of == line }
	}
	return func(of string) bool { return key(of) == key(line) }
}

// key is a line up to the colon that ends its key, indentation included; a line without
// one is its own.
func key(line string) string {
	for i := range len(line) - 1 {
		if line[i] == ':' && (line[i+1] == ' ' || line[i+1] == '\n') {
			return line[:i+1]
		}
	}
	return line
}

// block tells whether a line is taken out with what is below it, and returns it without
// the mark that says so.
func block(mark byte, line string) (string, bool) {
	head, isBlock := strings.CutSuffix(line, nested)
	if mark != goes || !isBlock {
		return line, false
	}
	return head + "\n", true
}

// below is how many of the lines that follow a line are indented deeper.
func below(line string, following []string) int {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, next := range following {
		if indent(next) <= indent(line) {
			return i
		}
	}
	return len(following)
}

// linesOf are those of a text, each with its end.
func linesOf(text string) []string { return slices.Collect(strings.Lines(terminated(text))) }

// terminated is a text whose last line has an end.
func terminated(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
