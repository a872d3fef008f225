// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import "bytes"

// style is the encoding of a text file. Editors and Git on Windows end lines with a carriage return, and some editors
// write a byte order mark first.
type style struct{ hasMark, hasReturns bool }

var byteOrderMark = []byte("\ufeff")

// plain returns a text without its style. The end of the first line decides whether lines end with a carriage return.
func plain(text []byte) ([]byte, style) {
	text, hasMark := bytes.CutPrefix(text, byteOrderMark)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	is := style{hasMark: hasMark, hasReturns: bytes.HasSuffix(first, []byte("\r"))}
	if is.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text, is
}

// of returns a plain text with the style applied.
func (s style) of(text []byte) []byte {
	if s.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if s.hasMark {
		text = append(bytes.Clone(byteOrderMark), text...)
	}
	return text
}
