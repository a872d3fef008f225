// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"io"
	"strings"
)

// Writer is where text leaves the program: everything is escaped, and no line is a
// command of a pipeline. What comes of JSON, XML and YAML stays as it is. A write holds
// whole characters.
type Writer struct {
	to io.Writer
	// isWithin: something other than blanks is in the line already.
	isWithin bool
}

// NewWriter returns a Writer in front of another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Unwrap returns what is behind it.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) {
	var shown strings.Builder
	for line := range strings.Lines(Escape(string(text))) {
		if !w.isWithin {
			line = obeyedByNobody(line)
		}
		w.isWithin = !strings.HasSuffix(line, "\n") && (w.isWithin || strings.Trim(line, " \t") != "")
		shown.WriteString(line)
	}
	if _, err := io.WriteString(w.to, shown.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Control writes what the program itself has to say to a terminal.
func (w *Writer) Control(sequence string) error {
	_, err := io.WriteString(w.to, sequence)
	return err
}

// JSONLines returns a writer of lines of JSON, each of which is escaped.
func JSONLines(to io.Writer) io.Writer { return lines{to} }

type lines struct{ to io.Writer }

// Write implements io.Writer.
func (l lines) Write(text []byte) (int, error) {
	if _, err := l.to.Write(EscapeJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}
