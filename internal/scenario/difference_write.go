// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/rogpeppe/go-internal/txtar"
)

// Differ returns the difference that turns a base into a text, in the format of scenarios, and whether it can be
// used. A usable difference is exact, shorter than the text, and contains no archive marker.
func Differ(base, text string) (string, bool) {
	w := writer{base: splitLines(base)}
	lines := splitLines(text)
	for _, edit := range diffLines(w.base, lines) {
		if edit.Tag != 'e' {
			w.replaceLines(edit.I1, edit.I2, lines[edit.J1:edit.J2])
		}
	}
	difference := w.text.String()
	result, err := applyDifference(base, difference)
	isExact := err == nil && result == ensureNewline(text) && len(txtar.Parse([]byte(difference)).Files) == 0
	return difference, isExact && strings.Count(difference, "\n") < len(lines)
}

// diffLines returns the edits that turn one list of lines into another. Frequent lines get no special treatment.
func diffLines(from, to []string) []difflib.OpCode {
	return difflib.NewMatcherWithJunk(from, to, false, nil).GetOpCodes()
}

// writer writes a difference from the start of the base to its end.
type writer struct {
	base []string
	pos  int // index in the base, after the line last written
	text strings.Builder
}

// replaceLines writes the replacement of lines of the base. Lines with the same key are changed, in order.
func (w *writer) replaceLines(from, to int, replacement []string) {
	for _, edit := range diffLines(lineKeys(w.base[from:to]), lineKeys(replacement)) {
		added := replacement[edit.J1:edit.J2]
		if edit.Tag == 'e' {
			for i, line := range added {
				w.writeLine(markChanged, from+edit.I1+i, line)
			}
			continue
		}
		w.removeLines(from+edit.I1, from+edit.I2)
		if end := from + edit.I2; len(added) > 0 && end > w.pos {
			w.writeLine(markContext, end-1, w.base[end-1])
		}
		for _, line := range added {
			w.text.WriteString(string(markAdded) + line)
		}
	}
}

// lineKeys returns the key of each line.
func lineKeys(lines []string) []string {
	var lineKeys []string
	for _, line := range lines {
		lineKeys = append(lineKeys, lineKey(line))
	}
	return lineKeys
}

// removeLines writes the removal of lines of the base. Whole blocks are removed by their first line.
func (w *writer) removeLines(from, to int) {
	for from < to {
		line, count := w.base[from], countNested(w.base[from], w.base[from+1:])
		if count == 0 || from+count >= to {
			w.writeLine(markRemoved, from, line)
			from++
			continue
		}
		w.writeContext(markRemoved, from, line)
		w.text.WriteString(string(markRemoved) + strings.TrimSuffix(line, "\n") + nested)
		from += 1 + count
		w.pos = from
	}
}

// writeLine writes a line for a line of the base, after the context that is needed to find the line.
func (w *writer) writeLine(mark byte, i int, line string) {
	w.writeContext(mark, i, line)
	w.pos = i + 1
	if mark != markContext || line != "\n" {
		w.text.WriteByte(mark)
	}
	w.text.WriteString(line)
}

// writeContext writes a line of the base as context, if the base has several lines like the intended one. The context
// is the nearest line above that is unambiguous from the current position, or else a line that needs context itself.
func (w *writer) writeContext(mark byte, target int, line string) {
	fits := lineMatcher(mark, line)
	isFound := w.pos+slices.IndexFunc(w.base[w.pos:], fits) == target
	if isFound && (target == w.pos || mark == markContext || w.isOnlyMatch(target, fits)) {
		return
	}
	contextLine := target - 1
	for !fits(w.base[contextLine]) && w.pos+slices.Index(w.base[w.pos:], w.base[contextLine]) != contextLine {
		contextLine--
	}
	w.writeLine(markContext, contextLine, w.base[contextLine])
}

// isOnlyMatch reports whether no other line of the base fits.
func (w *writer) isOnlyMatch(i int, fits func(string) bool) bool {
	return !slices.ContainsFunc(w.base[:i], fits) && !slices.ContainsFunc(w.base[i+1:], fits)
}
