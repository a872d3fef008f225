// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Options configure a Set. The zero value is safe.
type Options struct {
	// Budget limits each execution, and not the set as a whole.
	Budget Budget
	// Watch contains at most two paths below the root, such as Values, target. An execution reports its reads
	// of the map at each path.
	Watch [][]string
	// Methods are the methods that templates may call on values of the caller's types.
	Methods []Method
}

// Set is a compiled set of templates. It does not change and is safe for concurrent use.
type Set struct {
	budget    Budget
	scope     *scope
	files     []string
	functions map[string]*function
	methods   methods
	texts     *parseCache[parsedText]
	patterns  *parseCache[pattern]
	watch     [][]string
}

// maxFindings is the maximum number of errors that Compile reports, so that a file without valid templates does
// not fill a status.
const maxFindings = 20

// Compile parses and checks templates. The files are texts by full name, such as
// "vector-sidecar/templates/podtemplate.yaml". A file with a base name that starts with "_" only defines
// templates for other files. The returned error joins all errors in the order of files and lines. Each of them
// is an [*Error].
func Compile(files map[string]string, opts Options) (*Set, error) {
	set := &Set{
		files:     slices.Sorted(maps.Keys(files)),
		budget:    opts.Budget.withDefaults(),
		scope:     &scope{definitions: map[string]*definition{}},
		functions: newFunctions(),
		methods:   newMethods(opts.Methods),
		texts:     newParseCache[parsedText](),
		patterns:  newParseCache[pattern](),
		watch:     opts.Watch,
	}
	var findings []error
	for _, name := range set.files {
		if len(findings) >= maxFindings {
			break
		}
		findings = append(findings, set.addSource(&source{file: name, text: files[name]})...)
	}
	if len(findings) == 0 {
		findings = set.checkDefinitions()
	}
	if len(findings) > 0 {
		return nil, joinFindings(findings)
	}
	return set, nil
}

// addSource parses a file and adds its definitions to the set. It returns errors for definitions that already exist,
// in the order of lines, at most maxFindings.
func (s *Set) addSource(src *source) []error {
	definitions, err := parseSource(src)
	if err != nil {
		return []error{err}
	}
	var findings []error
	for _, defined := range slices.SortedFunc(maps.Values(definitions), byPosition) {
		existing := s.scope.definitions[defined.name]
		switch {
		case existing == nil:
			s.scope.definitions[defined.name] = defined
		case len(findings) < maxFindings:
			findings = append(findings, duplicateError(existing, defined))
		}
	}
	return findings
}

func byPosition(a, b *definition) int { return cmp.Compare(a.root.Position(), b.root.Position()) }

// duplicateError returns the error for a template that is defined twice, at the position of the second definition.
func duplicateError(first, second *definition) error {
	finding := second.source.errorAt(second.startPosition(), "")
	finding.Message = fmt.Sprintf("template %q is already defined at %s", second.name, first.source.errorAt(first.startPosition(), "").position())
	finding.Hint = "rename one of the templates"
	return finding
}

// joinFindings joins the first errors, at most maxFindings.
func joinFindings(findings []error) error {
	return errors.Join(findings[:min(len(findings), maxFindings)]...)
}

// Names returns the sorted names of the templates that can be executed: the files with a base name that does
// not start with "_".
func (s *Set) Names() []string {
	var names []string
	for _, name := range s.files {
		if !strings.HasPrefix(path.Base(name), "_") {
			names = append(names, name)
		}
	}
	return names
}
