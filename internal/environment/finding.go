// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import "slices"

// Finding is one value that does not fit the schema.
type Finding struct {
	// Where is the layer, with the line where that is known.
	Where string
	// Path leads to the value. Message says what is wrong and what to do.
	Path    []string
	Message string
}

// Error is the finding on one line.
func (f *Finding) Error() string {
	return f.Where + ": " + join(f.Path) + ": " + f.Message
}

// PathText is the path as a person writes it.
func (f *Finding) PathText() string { return join(f.Path) }

// Check holds a layer against the schema.
func (s *Set) Check(layer Layer) []*Finding { return findingsIn(s.schema.Check(&layer)) }

// findingsIn are those that an error is made of.
func findingsIn(err error) []*Finding {
	switch e := err.(type) { //nolint:errorlint // What was joined is taken apart.
	case *Finding:
		return []*Finding{e}
	case interface{ Unwrap() []error }:
		var all []*Finding
		for _, one := range e.Unwrap() {
			all = slices.Concat(all, findingsIn(one))
		}
		return all
	}
	return nil
}
