// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// textEnd returns the offset after the closing quote of a text in double quotes. The start is the offset after
// the opening quote.
func textEnd(program string, start int) (endPos int, wrong *failure) {
	for i := start; i < len(program); i++ {
		switch program[i] {
		case '"':
			return i + 1, nil
		case '\\':
			escapeStop, wrong := escapeEnd(program, i)
			if wrong != nil {
				return 0, wrong
			}
			i = escapeStop - 1
		}
	}
	return 0, &failure{span: span{start - 1, start}, message: "unclosed quote"}
}

// escapeEnd returns the offset after the escape that starts at an offset, or a failure for an unknown escape.
func escapeEnd(program string, i int) (endPos int, wrong *failure) {
	const help = `a string supports the escapes \n \r \t \0 \" \' \\ \{ \} and \u{…}; write a backslash as \\, or use a raw string s'…'`
	refuse := func(endPos int) (int, *failure) {
		return 0, &failure{span: span{i, min(endPos, len(program))}, message: "unknown escape " + strconv.Quote(program[i:min(endPos, len(program))]), help: help}
	}
	r, size := utf8.DecodeRuneInString(program[i+1:])
	if size == 0 || !strings.ContainsRune("\n'\"\\nrt{}0u", r) {
		return refuse(i + 1 + size)
	}
	if r != 'u' {
		return i + 2, nil
	}
	endPos = i + 3
	for endPos < len(program) && strings.IndexByte("0123456789abcdefABCDEF", program[endPos]) >= 0 {
		endPos++
	}
	if byteAt(program, i+2) != '{' || byteAt(program, endPos) != '}' || endPos == i+3 {
		return refuse(endPos + 1)
	}
	digits := strings.TrimLeft(program[i+3:endPos], "0")
	point, err := strconv.ParseUint("0"+digits, 16, 32)
	if err != nil || point > utf8.MaxRune || !utf8.ValidRune(rune(point)) {
		return refuse(endPos + 1)
	}
	return endPos + 1, nil
}

// rawEnd returns the offset after the closing quote of a literal such as s'…', or -1 if the literal is not
// closed. A quote after a backslash does not close the literal.
func rawEnd(program string, start int) int {
	for i := start; i < len(program); i++ {
		switch program[i] {
		case '\'':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// textPart is a part of a text: literal text, or the name of a variable between {{ and }}.
type textPart struct {
	text       string
	isVariable bool
}

// parseTextParts splits a text into literal parts and variables. It does not return offsets, because
// walkLiteral searches the names again.
func parseTextParts(text string) []textPart {
	if !strings.Contains(text, "{{") {
		return []textPart{{text: text}}
	}
	var parts []textPart
	var current strings.Builder
	inside := false
	flush := func() {
		if current.Len() > 0 {
			parsed := textPart{current.String(), inside}
			if inside {
				parsed.text = strings.TrimSpace(parsed.text)
			}
			parts = append(parts, parsed)
			current.Reset()
		}
	}
	for i := 0; i < len(text); {
		remaining := text[i:]
		switch {
		case inside && strings.HasPrefix(remaining, "}}"), !inside && strings.HasPrefix(remaining, "{{"):
			flush()
			inside = !inside
			i += 2
		case !inside && (strings.HasPrefix(remaining, `\{{`) || strings.HasPrefix(remaining, `\}}`)):
			current.WriteString(remaining[1:3])
			i += 3
		default:
			current.WriteByte(remaining[0])
			i++
		}
	}
	if !inside {
		flush()
	}
	return parts
}
