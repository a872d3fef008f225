// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Options configure a set. The zero value is safe.
type Options struct {
	// Budget bounds each execution, not the set as a whole.
	Budget Budget
	// Watch are paths below the root, at most two, such as Values, target: an execution reports what
	// it read of the map at each.
	Watch [][]string
	// Methods are those that templates may call on values of the caller's types.
	Methods []Method
}

// Set is a compiled set of templates. It is immutable and safe for concurrent use.
type Set struct {
	budget    Budget
	scope     *scope
	files     []string
	functions map[string]*function
	methods   methods
	texts     *textCache
	patterns  *patternCache
	watch     [][]string
}

// maxFindings is how many errors Compile reports, so that a file that is no template at all does
// not fill a status.
const maxFindings = 20

// Compile parses and checks templates. files holds their texts by full name, such
// as "vector-sidecar/templates/podtemplate.yaml"; files whose base name begins
// with "_" only define templates for others. The error joins all findings, in
// the order of files and lines, each an [*Error].
func Compile(files map[string]string, opts Options) (*Set, error) {
	set := &Set{
		budget:    opts.Budget.withDefaults(),
		scope:     &scope{definitions: map[string]*definition{}},
		functions: newFunctions(),
		methods:   newMethods(opts.Methods),
		texts:     newTextCache(),
		patterns:  newPatternCache(),
		watch:     opts.Watch,
	}
	var findings []error
	for name, text := range files {
		set.files = append(set.files, name)
		findings = append(findings, set.add(&source{file: name, text: text})...)
	}
	slices.Sort(set.files)
	if len(findings) == 0 {
		findings = set.check()
	}
	if len(findings) > 0 {
		return nil, joinFindings(findings)
	}
	return set, nil
}

// add parses a file into the set.
func (s *Set) add(src *source) []error {
	definitions, err := parseSource(src)
	if err != nil {
		return []error{err}
	}
	var findings []error
	for name, defined := range definitions {
		if other := s.scope.definitions[name]; other != nil {
			findings = append(findings, definedTwice(other, defined))
			continue
		}
		s.scope.definitions[name] = defined
	}
	return findings
}

// definedTwice names both places, independent of the order in which the files were read.
func definedTwice(a, b *definition) error {
	if b.file < a.file {
		a, b = b, a
	}
	finding := b.errorAt(b.start(), "")
	finding.Message = fmt.Sprintf("template %q is already defined at %s", b.name, a.errorAt(a.start(), "").place())
	finding.Hint = "rename one of them"
	return finding
}

// joinFindings sorts findings by place and joins the first maxFindings.
func joinFindings(findings []error) error {
	slices.SortFunc(findings, func(a, b error) int {
		var x, y *Error
		if !errors.As(a, &x) || !errors.As(b, &y) {
			return 0
		}
		if byFile := strings.Compare(x.Template, y.Template); byFile != 0 {
			return byFile
		}
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		if x.Column != y.Column {
			return x.Column - y.Column
		}
		return strings.Compare(x.Message, y.Message)
	})
	return errors.Join(findings[:min(len(findings), maxFindings)]...)
}

// Names returns the templates that can be executed, sorted: the files whose base name does not
// begin with "_".
func (s *Set) Names() []string {
	var names []string
	for _, name := range s.files {
		if !strings.HasPrefix(path.Base(name), "_") {
			names = append(names, name)
		}
	}
	return names
}
