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
	// Name is the file name. Its extension determines the format.
	Name string
	// Source is the name of the file in findings, or "" for Name.
	Source string
	// Format is yaml, json or toml if the command line sets the format, or "" for the format of the name's
	// extension.
	Format string `json:",omitempty"`
	// Directory is the configuration directory that contains the file, and RelativePath is the path of the file
	// in that directory. Both are "" for a file that the command line names directly.
	Directory, RelativePath string `json:",omitempty"`
	// Text is the content of the file.
	Text string
	// Printed reports whether Text was printed from data, and not written by a user. Findings in such a file
	// have a path, but no line.
	Printed bool
}

// IsConfig reports whether a file name has the extension of a configuration format.
func IsConfig(name string) bool { return vectorflags.FormatFor(name) != "" }

// format returns the format of the file, by default the one of its file extension.
func (f *File) format() string { return cmp.Or(f.Format, vectorflags.FormatFor(f.Name)) }

// fault is an error in a file, usually the reason why the file cannot be read.
type fault struct {
	code    Code
	pos     position
	message string
	// help replaces the help of the rule, or is "" to keep the rule's help.
	help help
	// isMild reports whether the file can be read although it has the fault.
	isMild bool
}

// parse parses a file into a table. The number is the index of the file, for positions. If the fault is mild,
// parse returns both the table and the fault.
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
	root.setFile(number)
	if root.form != table {
		return nil, &fault{code: wrongForm, pos: root.pos, message: "the configuration is " + root.form.formNoun() + ", not a map"}
	}
	return root, failed
}

// setFile sets the number of the file in the positions of a value and all values below it.
func (v *value) setFile(file int) {
	v.pos.file = file
	for _, item := range v.items {
		item.setFile(file)
	}
	for i := range v.entries {
		v.entries[i].pos.file = file
		v.entries[i].value.setFile(file)
	}
}

// limitFault returns a fault for the error of a text that exceeds a limit, or nil for other errors.
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
