// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// margin is inserted before every line of external text except the first. A CI system does not execute a line with a
// margin as a command, and readers do not mistake it for a line of the program's own output.
const margin = "| "

// hash is the first character of the CI commands that may be anywhere in a line, such as ##[ and ##vso[.
const hash = '#'

// Escape escapes the characters of external text that could control a terminal or a CI system. It keeps line breaks and
// tabs.
func Escape(text string) string {
	return escapeRunes(text, func(builder *strings.Builder, r rune, size int, bytes string) {
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(builder, `\x%02x`, bytes[0])
		case r < 0x100:
			fmt.Fprintf(builder, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(builder, `\u%04x`, r)
		default:
			fmt.Fprintf(builder, `\U%08x`, r)
		}
	})
}

// EscapeLine escapes text like Escape, and also line breaks and tabs, so that the result is one line.
func EscapeLine(text string) string {
	return strings.NewReplacer("\r", `\x0d`, "\n", `\n`, "\t", `\t`).Replace(Escape(text))
}

// EscapeBlock escapes text with several lines, as Escape does, so that a CI system executes no line as a command. Every
// line but the first gets a margin, and a command in the first line is escaped. A second call does not change the result.
func EscapeBlock(text string) string {
	firstLine, rest, isLonger := strings.Cut(Escape(text), "\n")
	if firstLine = defuseCommand(firstLine); !isLonger {
		return firstLine
	}
	var block strings.Builder
	block.WriteString(firstLine)
	for line := range strings.SplitSeq(rest, "\n") {
		block.WriteByte('\n')
		if line != "" && !strings.HasPrefix(line, margin) {
			block.WriteString(margin)
		}
		block.WriteString(line)
	}
	return block.String()
}

// Fprintf formats like fmt.Fprintf, after it has escaped the arguments that are a string, an error or a Stringer with
// EscapeBlock.
func Fprintf(w io.Writer, format string, arguments ...any) error {
	shown := make([]any, len(arguments))
	for i, argument := range arguments {
		switch argument := argument.(type) {
		case string:
			shown[i] = EscapeBlock(argument)
		case error:
			shown[i] = EscapeBlock(argument.Error())
		case fmt.Stringer:
			shown[i] = EscapeBlock(argument.String())
		default:
			shown[i] = argument
		}
	}
	_, err := fmt.Fprintf(w, format, shown...)
	return err
}

// isControl reports whether a character can change how the text is displayed: control characters except line breaks and
// tabs, Unicode line separators, and bidirectional controls.
func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// isSafe reports whether a text contains nothing to escape. CRLF counts as a line break.
func isSafe(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	isPlain := true
	for _, r := range text {
		if isControl(r) || r == utf8.RuneError || r == hash {
			isPlain = false
			break
		}
	}
	return isPlain || !hasCommand(text) && utf8.ValidString(text) && strings.IndexFunc(text, isControl) < 0
}

// hasCommand reports whether a text contains a CI command that may be anywhere in a line.
func hasCommand(text string) bool {
	return strings.Contains(text, "##[") || strings.Contains(text, "##vso[")
}

// defuseCommand escapes the two colons at the start of a line, so that a CI system does not execute the line as a
// command.
func defuseCommand(line string) string {
	content := strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(content, "::") {
		return line
	}
	return line[:len(line)-len(content)] + `\x3a` + content[1:]
}

// isCommand reports whether a text starts with a CI command that may be anywhere in a line.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "##[") || strings.HasPrefix(text, "##vso[")
}

// escapeRunes replaces the characters of a text that could control a terminal or a CI system. For each of them, it
// calls show, which writes the replacement to the builder. show gets the character, its size in bytes, and the text
// from the character on.
func escapeRunes(text string, show func(builder *strings.Builder, r rune, size int, rest string)) string {
	if isSafe(text) {
		return text
	}
	var builder strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case strings.HasPrefix(text[i:], "\r\n"):
			builder.WriteByte('\r')
		case isControl(r), r == utf8.RuneError && size == 1, r == hash && isCommand(text[i:]):
			show(&builder, r, size, text[i:])
		default:
			builder.WriteString(text[i : i+size])
		}
		i += size
	}
	return builder.String()
}
