// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Finding is a value that does not match the schema.
type Finding struct {
	// Position is the layer, with the line if it is known.
	Position string
	// Path is the path of the value. Message explains the error and how to fix it.
	Path    []string
	Message string
}

// Error returns the finding on one line.
func (f *Finding) Error() string {
	return f.Position + ": " + tree.JoinPath(f.Path...) + ": " + f.Message
}

// PathText returns the path in the notation of users.
func (f *Finding) PathText() string { return tree.JoinPath(f.Path...) }

// Check validates a layer against the schema.
func (s *Set) Check(layer Layer) []*Finding { return FindingsIn(s.schema.Check(&layer)) }

// FindingsIn returns the findings that an error wraps.
func FindingsIn(err error) []*Finding {
	switch e := err.(type) { //nolint:errorlint // This unwraps joined errors.
	case *Finding:
		return []*Finding{e}
	case interface{ Unwrap() []error }:
		var findings []*Finding
		for _, cause := range e.Unwrap() {
			findings = slices.Concat(findings, FindingsIn(cause))
		}
		return findings
	}
	return nil
}
