// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import "bytes"

// style is the encoding of a text file. Editors and Git on Windows end lines with a carriage return, and some editors
// write a byte order mark first.
type style struct{ hasMark, hasReturns bool }

var byteOrderMark = []byte("\ufeff")

// normalizeText returns a text without its style. The end of the first line decides whether lines end with a carriage return.
func normalizeText(text []byte) ([]byte, style) {
	text, hasMark := bytes.CutPrefix(text, byteOrderMark)
	firstLine, _, _ := bytes.Cut(text, []byte("\n"))
	detected := style{hasMark: hasMark, hasReturns: bytes.HasSuffix(firstLine, []byte("\r"))}
	if detected.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text, detected
}

// applyTo returns a plain text with the style applied.
func (s style) applyTo(text []byte) []byte {
	if s.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if s.hasMark {
		text = append(bytes.Clone(byteOrderMark), text...)
	}
	return text
}
