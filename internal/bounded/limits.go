// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"errors"
	"fmt"
)

// Limits are the limits for one text. The zero value rejects everything: use one of the functions below.
type Limits struct {
	// Subject is the name of the text in messages, such as "a values file".
	Subject string
	// Bytes is the size of the text with all aliases expanded.
	Bytes int
	// Nodes is the number of maps, lists, keys and scalars with all aliases expanded.
	Nodes int
	// Depth is the nesting depth of maps and lists.
	Depth int
	// Key is the length of a key in bytes, and Path the length of all keys on the way to a value.
	Key, Path int
	// Paths is the total length of the key paths of all nodes in bytes, including stepBytes for each key. It is the
	// memory for a list of all paths.
	Paths int
	// Aliases reports whether YAML may have anchors and aliases.
	Aliases bool
}

const (
	// stepBytes is the number of bytes that each key of a path needs in addition to its text: the size of a string
	// header.
	stepBytes = 16
	// largestText is the size of the largest single text in bytes.
	largestText = 512 << 10
)

// Values returns the limits of the values files and policies that the platform team writes.
func Values() Limits { return textLimits("a values file", 30_000) }

// Overrides returns the limits of values that a namespace or a workload sets.
func Overrides() Limits {
	return textLimits("the values of a namespace or a workload", 30_000).withoutAliases()
}

// Spec returns the limits of the values in the spec of a VectorSidecar.
func Spec() Limits { return textLimits("the spec of a VectorSidecar", 30_000).withoutAliases() }

// Schemas returns the limits of a JSON schema as written.
func Schemas() Limits { return textLimits("a JSON schema", 10_000) }

// Template returns the limit of a template file, which only has a size.
func Template() Limits { return Limits{Subject: "a template file", Bytes: largestText} }

// Configuration returns the limits of a Vector configuration file.
func Configuration() Limits {
	limits := textLimits("a file of Vector's configuration", 50_000)
	limits.Depth = 64
	return limits
}

// Rendering returns the limits of a template's output.
func Rendering() Limits {
	limits := textLimits("the output of a template", 30_000)
	limits.Bytes = 2 << 20
	return limits
}

// Object returns the limits of an API object, in a file or in a request: wide enough for any
// CustomResourceDefinition, and for large managedFields.
func Object() Limits {
	return Limits{Subject: "an object", Bytes: 3 << 20, Nodes: 100_000, Depth: 200, Key: 8 << 10, Path: 32 << 10, Paths: 256 << 20, Aliases: true}
}

// StoredConfigMap returns the limits of the content of a ConfigMap that is stored as JSON. JSON may take six bytes for one
// byte.
func StoredConfigMap() Limits {
	return Limits{Subject: "a stored ConfigMap", Bytes: 8 << 20, Nodes: 100_000, Depth: 4, Key: 1 << 10, Path: 4 << 10, Paths: 64 << 20}
}

// textLimits returns the limits of a single text.
func textLimits(subject string, nodes int) Limits {
	return Limits{Subject: subject, Bytes: largestText, Nodes: nodes, Depth: 100, Key: 1 << 10, Path: 4 << 10, Paths: 16 << 20, Aliases: true}
}

// withoutAliases returns the limits for a text that may not have anchors and aliases.
func (l Limits) withoutAliases() Limits {
	l.Aliases = false
	return l
}

// Bound is the name of a limit in an Error.
type Bound string

// The bounds, as in an Error.
const (
	Bytes   Bound = "bytes"
	Nodes   Bound = "nodes"
	Depth   Bound = "depth"
	Key     Bound = "key"
	Path    Bound = "path"
	Paths   Bound = "paths"
	Aliases Bound = "aliases"
	Numbers Bound = "numbers"
)

// Error reports the limit that a text exceeds, the position, and how to fix the text.
type Error struct {
	Bound Bound
	// Line and Column count from 1; Line is 0 if the whole text is meant.
	Line, Column int
	// Message explains the fault, and Help how to fix it.
	Message, Help string
}

// Error returns the message, after the line if the Error has one.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text()
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text())
}

// Text returns Message and Help, without the position.
func (e *Error) Text() string { return e.Message + ": " + e.Help }

// Position returns Line and Column.
func (e *Error) Position() (line, column int) { return e.Line, e.Column }

// Problem returns Message and Help.
func (e *Error) Problem() (message, help string) { return e.Message, e.Help }

func newError(bound Bound, help, format string, args ...any) *Error {
	return &Error{Bound: bound, Help: help, Message: fmt.Sprintf(format, args...)}
}

// withOffset sets the position of an Error to an offset of a text.
func (e *Error) withOffset(text []byte, offset int) *Error {
	preceding := text[:min(offset, len(text))]
	e.Line = bytes.Count(preceding, []byte("\n")) + 1
	e.Column = len(preceding) - bytes.LastIndexByte(preceding, '\n')
	return e
}

// WithFile prefixes an error with the name of a file, and the line if it is an Error with one.
func WithFile(file string, err error) error {
	var refused *Error
	if errors.As(err, &refused) && refused.Line > 0 {
		return &located{file, refused}
	}
	return fmt.Errorf("%s: %w", file, err)
}

// located is an Error in a file.
type located struct {
	file    string
	refused *Error
}

func (l *located) Error() string {
	return fmt.Sprintf("%s:%d: %s", l.file, l.refused.Line, l.refused.Text())
}

func (l *located) Unwrap() error { return l.refused }

// CheckSize rejects a text that is too large.
func (l Limits) CheckSize(text []byte) error {
	if len(text) > l.Bytes {
		return newError(Bytes, splitHelp, "the text has %d bytes, more than the limit of %s (%d)", len(text), l.Subject, l.Bytes)
	}
	return nil
}

// splitHelp is the advice for texts that are too large.
const splitHelp = "split it, or remove unneeded parts"

// findExcess returns an error if a sum exceeds its limit, nil if none does.
func (l *Limits) findExcess(size *Size) *Error {
	switch {
	case size.Nodes > l.Nodes:
		return newError(Nodes, splitHelp, "more values than the limit of %s (%d; each key, map and list counts)", l.Subject, l.Nodes)
	case size.Paths > l.Paths:
		return newError(Paths, "nest less, or shorten keys", "the key paths of all values together exceed the limit of %s (%d bytes)", l.Subject, l.Paths)
	case size.Depth > l.Depth:
		return l.depthError()
	}
	return nil
}

func (l *Limits) depthError() *Error {
	return newError(Depth, "nest less", "nested deeper than the limit of %s (%d levels)", l.Subject, l.Depth)
}

// checkKeyLength returns an error if a key, or all keys on the way to it together, are too long.
func (l *Limits) checkKeyLength(keyBytes, pathBytes int) *Error {
	switch {
	case keyBytes > l.Key:
		return newError(Key, "shorten it", "a key of %d bytes exceeds the limit of %s (%d)", keyBytes, l.Subject, l.Key)
	case pathBytes > l.Path:
		return newError(Path, "shorten them, or nest less", "the keys of the path have %d bytes, which exceeds the limit of %s (%d)", pathBytes, l.Subject, l.Path)
	}
	return nil
}
