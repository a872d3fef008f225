// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import "bytes"

// style is what a file has that is no content of it: Windows' editors, and Git there, write the lines of
// a file with a carriage return, and some a byte order mark before them.
type style struct{ hasMark, hasReturns bool }

var byteOrderMark = []byte("\ufeff")

// plain returns a text without what is style: the first line tells how lines end.
func plain(text []byte) ([]byte, style) {
	text, hasMark := bytes.CutPrefix(text, byteOrderMark)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	is := style{hasMark: hasMark, hasReturns: bytes.HasSuffix(first, []byte("\r"))}
	if is.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text, is
}

// of returns a plain text in the style.
func (s style) of(text []byte) []byte {
	if s.hasReturns {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if s.hasMark {
		text = append(bytes.Clone(byteOrderMark), text...)
	}
	return text
}
