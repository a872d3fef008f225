// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"io"
	"strings"
)

// Writer escapes all text that is written to it, so that no line is a CI command. The output of JSON, XML and YAML
// encoders stays unchanged. Each write must contain whole characters.
type Writer struct {
	underlying io.Writer
	// isWithin is true if the current line already contains characters other than whitespace.
	isWithin bool
}

// NewWriter returns a Writer that writes escaped text to another writer.
func NewWriter(underlying io.Writer) *Writer { return &Writer{underlying: underlying} }

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.underlying }

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) {
	var shown strings.Builder
	for line := range strings.Lines(Escape(string(text))) {
		if !w.isWithin {
			line = defuseCommand(line)
		}
		w.isWithin = !strings.HasSuffix(line, "\n") && (w.isWithin || strings.Trim(line, " \t") != "")
		shown.WriteString(line)
	}
	if _, err := io.WriteString(w.underlying, shown.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// WriteControl writes a control sequence of the program itself, without escaping it.
func (w *Writer) WriteControl(sequence string) error {
	_, err := io.WriteString(w.underlying, sequence)
	return err
}

// NewJSONWriter returns a writer that escapes JSON with EscapeJSON. Each write must contain whole lines.
func NewJSONWriter(underlying io.Writer) io.Writer { return escaper{underlying, EscapeJSON} }

// NewBlockWriter returns a writer that escapes each write, which is one log entry, with EscapeBlock.
func NewBlockWriter(underlying io.Writer) io.Writer {
	return escaper{underlying, func(text []byte) []byte {
		return []byte(EscapeBlock(strings.TrimSuffix(string(text), "\n")) + "\n")
	}}
}

// escaper is a writer that applies a function to each write.
type escaper struct {
	underlying io.Writer
	escape     func(text []byte) []byte
}

// Write implements io.Writer.
func (e escaper) Write(text []byte) (int, error) {
	if _, err := e.underlying.Write(e.escape(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}
