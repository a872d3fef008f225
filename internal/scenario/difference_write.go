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
	w := writer{base: linesOf(base)}
	lines := linesOf(text)
	for _, edit := range edits(w.base, lines) {
		if edit.Tag != 'e' {
			w.replace(edit.I1, edit.I2, lines[edit.J1:edit.J2])
		}
	}
	difference := w.text.String()
	made, err := apply(base, difference)
	isExact := err == nil && made == terminated(text) && len(txtar.Parse([]byte(difference)).Files) == 0
	return difference, isExact && strings.Count(difference, "\n") < len(lines)
}

// edits returns the edits that turn one list of lines into another. Frequent lines get no special treatment.
func edits(from, to []string) []difflib.OpCode {
	return difflib.NewMatcherWithJunk(from, to, false, nil).GetOpCodes()
}

// writer writes a difference from the start of the base to its end.
type writer struct {
	base []string
	at   int // index in the base, after the line last written
	text strings.Builder
}

// replace writes the replacement of lines of the base. Lines with the same key are changed, in order.
func (w *writer) replace(from, to int, by []string) {
	for _, edit := range edits(keys(w.base[from:to]), keys(by)) {
		added := by[edit.J1:edit.J2]
		if edit.Tag == 'e' {
			for i, line := range added {
				w.write(changes, from+edit.I1+i, line)
			}
			continue
		}
		w.remove(from+edit.I1, from+edit.I2)
		if at := from + edit.I2; len(added) > 0 && at > w.at {
			w.write(stays, at-1, w.base[at-1])
		}
		for _, line := range added {
			w.text.WriteString(string(comes) + line)
		}
	}
}

func keys(of []string) []string {
	var all []string
	for _, line := range of {
		all = append(all, key(line))
	}
	return all
}

// remove writes the removal of lines of the base. Whole blocks are removed by their first line.
func (w *writer) remove(from, to int) {
	for from < to {
		line, count := w.base[from], below(w.base[from], w.base[from+1:])
		if count == 0 || from+count >= to {
			w.write(goes, from, line)
			from++
			continue
		}
		w.lead(goes, from, line)
		w.text.WriteString(string(goes) + strings.TrimSuffix(line, "\n") + nested)
		from += 1 + count
		w.at = from
	}
}

// write writes a line for a line of the base, after the context that is needed to find the line.
func (w *writer) write(mark byte, at int, line string) {
	w.lead(mark, at, line)
	w.at = at + 1
	if mark != stays || line != "\n" {
		w.text.WriteByte(mark)
	}
	w.text.WriteString(line)
}

// lead writes a line of the base as context, if the base has several lines like the intended one. The context is the
// nearest line above that is unambiguous from the current position, or else a line that needs context itself.
func (w *writer) lead(mark byte, to int, line string) {
	fits := fits(mark, line)
	isFound := w.at+slices.IndexFunc(w.base[w.at:], fits) == to
	if isFound && (to == w.at || mark == stays || w.isOnly(to, fits)) {
		return
	}
	via := to - 1
	for !fits(w.base[via]) && w.at+slices.Index(w.base[w.at:], w.base[via]) != via {
		via--
	}
	w.write(stays, via, w.base[via])
}

// isOnly reports whether no other line of the base fits.
func (w *writer) isOnly(at int, fits func(string) bool) bool {
	return !slices.ContainsFunc(w.base[:at], fits) && !slices.ContainsFunc(w.base[at+1:], fits)
}
