// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// textEnd returns the offset behind the closing quote of a text. The start is the offset behind its opening quote.
func textEnd(program string, from int) (to int, wrong *failure) {
	for at := from; at < len(program); at++ {
		switch program[at] {
		case '"':
			return at + 1, nil
		case '\\':
			next, wrong := escapeEnd(program, at)
			if wrong != nil {
				return 0, wrong
			}
			at = next - 1
		}
	}
	return 0, &failure{place: place{from - 1, from}, message: "the quote that is opened here is not closed"}
}

// escapeEnd returns the offset behind an escape.
func escapeEnd(program string, at int) (to int, wrong *failure) {
	const help = `a text knows \n \r \t \0 \" \' \\ \{ \} and \u{…}; a backslash is written \\, or the text s'…'`
	refuse := func(to int) (int, *failure) {
		return 0, &failure{place: place{at, min(to, len(program))}, message: "unknown escape " + strconv.Quote(program[at:min(to, len(program))]), help: help}
	}
	r, size := utf8.DecodeRuneInString(program[at+1:])
	if size == 0 || !strings.ContainsRune("\n'\"\\nrt{}0u", r) {
		return refuse(at + 1 + size)
	}
	if r != 'u' {
		return at + 2, nil
	}
	to = at + 3
	for to < len(program) && strings.IndexByte("0123456789abcdefABCDEF", program[to]) >= 0 {
		to++
	}
	if byteAt(program, at+2) != '{' || byteAt(program, to) != '}' || to == at+3 {
		return refuse(to + 1)
	}
	digits := strings.TrimLeft(program[at+3:to], "0")
	point, err := strconv.ParseUint("0"+digits, 16, 32)
	if err != nil || point > utf8.MaxRune || !utf8.ValidRune(rune(point)) {
		return refuse(to + 1)
	}
	return to + 1, nil
}

// rawEnd returns the offset behind the closing quote of a literal such as s'…', -1 if there is none. A quote after a
// backslash does not close the literal.
func rawEnd(program string, from int) int {
	for at := from; at < len(program); at++ {
		switch program[at] {
		case '\'':
			return at + 1
		case '\\':
			at++
		}
	}
	return -1
}

// part is a piece of a text: the text as written, or the name of a variable between {{ and }}.
type part struct {
	text       string
	isVariable bool
}

// partsOf splits a text at its variables. The offsets are not stored, because a name is searched again.
func partsOf(text string) []part {
	if !strings.Contains(text, "{{") {
		return []part{{text: text}}
	}
	var parts []part
	var current strings.Builder
	inside := false
	flush := func() {
		if current.Len() > 0 {
			found := part{current.String(), inside}
			if inside {
				found.text = strings.TrimSpace(found.text)
			}
			parts = append(parts, found)
			current.Reset()
		}
	}
	for at := 0; at < len(text); {
		rest := text[at:]
		switch {
		case inside && strings.HasPrefix(rest, "}}"), !inside && strings.HasPrefix(rest, "{{"):
			flush()
			inside = !inside
			at += 2
		case !inside && (strings.HasPrefix(rest, `\{{`) || strings.HasPrefix(rest, `\}}`)):
			current.WriteString(rest[1:3])
			at += 3
		default:
			current.WriteByte(rest[0])
			at++
		}
	}
	if !inside {
		flush()
	}
	return parts
}
