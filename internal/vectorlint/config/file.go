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
	// Name has the extension of the file's format.
	Name string
	// Source is the name of the file in findings; Name if empty.
	Source string
	// Format is yaml, json or toml if the command line sets the format; "" for the format of the extension of Name.
	Format string `json:",omitempty"`
	// Directory is the directory that Vector reads, and Below the path of the file in it. Both are "" for a file that
	// the command line names itself.
	Directory, RelativePath string `json:",omitempty"`
	// Text is the content.
	Text string
	// Printed reports that Text was printed from data and not written by a user. Findings about it have a path, but no
	// line.
	Printed bool
}

// IsConfig reports whether the extension of a name is the extension of a format.
func IsConfig(name string) bool { return vectorflags.FormatFor(name) != "" }

func (f *File) format() string { return cmp.Or(f.Format, vectorflags.FormatFor(f.Name)) }

// fault is the reason why a file cannot be read.
type fault struct {
	code    Code
	pos     position
	message string
	// help replaces the help of the rule; "" for the help of the rule.
	help help
	// isMild reports whether the file can be read despite the fault.
	isMild bool
}

// parse reads a file into a table. The result may have both a table and a mild fault.
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
		failed = &fault{code: badExtension, message: fmt.Sprintf("unknown file extension %q", path.Ext(file.Name))}
	}
	if failed != nil {
		failed.pos.file = number
		if !failed.isMild {
			return nil, failed
		}
	}
	if root.form == null {
		root = &value{form: table, pos: position{line: 1, column: 1}}
	}
	root.stamp(number)
	if root.form != table {
		return nil, &fault{code: wrongForm, pos: root.pos, message: "the configuration is " + root.form.noun() + ", not a map"}
	}
	return root, failed
}

// stamp writes the number of the file into all positions.
func (v *value) stamp(file int) {
	v.pos.file = file
	for _, item := range v.items {
		item.stamp(file)
	}
	for i := range v.entries {
		v.entries[i].pos.file = file
		v.entries[i].value.stamp(file)
	}
}

// limitFault returns the fault of a file that exceeds a limit; nil for other errors.
func limitFault(err error) *fault {
	var limitErr TextError
	if !errors.As(err, &limitErr) {
		return nil
	}
	message, advice := limitErr.Problem()
	if advice == "" {
		return nil
	}
	line, column := limitErr.Position()
	return &fault{code: tooLarge, pos: position{line: max(line, 1), column: max(column, 1)}, message: message, help: help(advice)}
}
