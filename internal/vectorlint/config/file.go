// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"errors"
	"fmt"
	"path"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// File is one file of a configuration.
type File struct {
	// Name ends in the extension that tells the format.
	Name string
	// Source is what findings call the file; Name if empty.
	Source string
	// Format is yaml, json or toml if Vector is told the format; "" for the one that the extension of Name stands for.
	Format string `json:",omitempty"`
	// Directory is the directory that Vector is told to read, and Below the path of the file in it. Both are "" for a file
	// that is named itself.
	Directory, Below string `json:",omitempty"`
	// Text is the content.
	Text string
	// Printed tells that Text was printed from data and is nobody's: what is wrong
	// with it has a path, and no line.
	Printed bool
}

// IsConfig reports whether the extension of a name stands for a format.
func IsConfig(name string) bool { return vectorflags.FormatFor(name) != "" }

func (f *File) format() string { return cmp.Or(f.Format, vectorflags.FormatFor(f.Name)) }

// fault is why a file cannot be read.
type fault struct {
	code    Code
	at      position
	message string
	// help is in place of the rule's own; "" for that.
	help help
	// isMild reports whether the file can be read nevertheless.
	isMild bool
}

// parse reads a file into a table. Beside that there may be a mild fault.
func (r *Reader) parse(file File, number int) (*value, *fault) {
	var root *value
	var failed *fault
	switch file.format() {
	case "yaml":
		root, failed = r.parseYAML(file.Text)
	case "json":
		root, failed = r.parseJSON(file.Text)
	case "toml":
		root, failed = r.parseTOML(file.Text)
	default:
		failed = &fault{code: badExtension, message: fmt.Sprintf("the extension %q is none of .yaml, .yml, .json, .toml, by which Vector tells the format", path.Ext(file.Name))}
	}
	if failed != nil {
		failed.at.file = number
		if !failed.isMild {
			return nil, failed
		}
	}
	if root.form == null {
		root = &value{form: table, at: position{line: 1, column: 1}}
	}
	root.stamp(number)
	if root.form != table {
		return nil, &fault{code: wrongForm, at: root.at, message: "the configuration is " + root.form.noun() + ", not a map"}
	}
	return root, failed
}

// stamp writes the number of the file into all positions.
func (v *value) stamp(file int) {
	v.at.file = file
	for _, item := range v.items {
		item.stamp(file)
	}
	for i := range v.entries {
		v.entries[i].at.file = file
		v.entries[i].value.stamp(file)
	}
}

// refused is the fault of a file that goes beyond a bound; nil for another error.
func refused(err error) *fault {
	var beyond TextError
	if !errors.As(err, &beyond) {
		return nil
	}
	message, advice := beyond.Problem()
	if advice == "" {
		return nil
	}
	line, column := beyond.Place()
	return &fault{code: tooLarge, at: position{line: max(line, 1), column: max(column, 1)}, message: message, help: help(advice)}
}
