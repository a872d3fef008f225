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

// margin begins every line but the first of a text of others. No pipeline reads a command
// behind it, and no line looks like one of ours.
const margin = "| "

// hash begins commands that pipelines read anywhere in a line: ##[ and ##vso[.
const hash = '#'

// Escape returns a text of others as it may be shown, with its line breaks and tabs.
func Escape(text string) string {
	return escaped(text, func(to *strings.Builder, r rune, size int, bytes string) {
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(to, `\x%02x`, bytes[0])
		case r < 0x100:
			fmt.Fprintf(to, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(to, `\u%04x`, r)
		default:
			fmt.Fprintf(to, `\U%08x`, r)
		}
	})
}

// EscapeLine is Escape on one line: line breaks and tabs are shown, too.
func EscapeLine(text string) string {
	return strings.NewReplacer("\r", `\x0d`, "\n", `\n`, "\t", `\t`).Replace(Escape(text))
}

// EscapeBlock is Escape in which every line but the first stands behind a margin, and
// none is a command of a pipeline. To do it twice changes nothing.
func EscapeBlock(text string) string {
	first, rest, isLonger := strings.Cut(Escape(text), "\n")
	if first = obeyedByNobody(first); !isLonger {
		return first
	}
	var block strings.Builder
	block.WriteString(first)
	for line := range strings.SplitSeq(rest, "\n") {
		block.WriteByte('\n')
		if line != "" && !strings.HasPrefix(line, margin) {
			block.WriteString(margin)
		}
		block.WriteString(line)
	}
	return block.String()
}

// Fprintf prints by a format of ours. Every text, error and Stringer among the arguments
// goes through EscapeBlock.
func Fprintf(to io.Writer, format string, arguments ...any) error {
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
	_, err := fmt.Fprintf(to, format, shown...)
	return err
}

// isSteering reports whether a character does something to who shows it: controls but
// line breaks and tabs, what breaks lines beside these, and what turns the direction.
func isSteering(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// isSafe reports whether there is nothing in a text to be shown in another way. Line
// breaks of two characters are line breaks.
func isSafe(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	isPlain := true
	for _, r := range text {
		if isSteering(r) || r == utf8.RuneError || r == hash {
			isPlain = false
			break
		}
	}
	return isPlain || !hasCommand(text) && utf8.ValidString(text) && strings.IndexFunc(text, isSteering) < 0
}

func hasCommand(text string) bool {
	return strings.Contains(text, "##[") || strings.Contains(text, "##vso[")
}

// obeyedByNobody returns a line that is no command of a pipeline, which begins with two
// colons.
func obeyedByNobody(line string) string {
	content := strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(content, "::") {
		return line
	}
	return line[:len(line)-len(content)] + `\x3a` + content[1:]
}

// isCommand reports whether a command of a pipeline begins a text.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "##[") || strings.HasPrefix(text, "##vso[")
}

// escaped replaces what must not be shown: show gets the character, its size, and the
// text from there on.
func escaped(text string, show func(to *strings.Builder, r rune, size int, rest string)) string {
	if isSafe(text) {
		return text
	}
	var to strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case strings.HasPrefix(text[at:], "\r\n"):
			to.WriteByte('\r')
		case isSteering(r), r == utf8.RuneError && size == 1, r == hash && isCommand(text[at:]):
			show(&to, r, size, text[at:])
		default:
			to.WriteString(text[at : at+size])
		}
		at += size
	}
	return to.String()
}
