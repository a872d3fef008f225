// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// A scenario may have another one, a .txtar file, as its base. It inherits the inputs of the base unless it replaces
// them, as a whole or by a difference. It does not inherit the expected outcome, but its own expected outcome may be
// a difference to the outcome of the base.
const (
	// baseLine starts the line that names the base, before the first file of the archive.
	baseLine = "base:"

	wantDifference = "want.diff"
)

// differenceName returns the name of the difference that may replace a file.
func differenceName(name string) string { return strings.TrimSuffix(name, ".yaml") + ".diff" }

// differenceNames returns the names of the differences that may replace some files.
func differenceNames(names []string) []string {
	var diffNames []string
	for _, name := range names {
		diffNames = append(diffNames, differenceName(name))
	}
	return diffNames
}

// loader loads scenarios and their bases, each file once.
type loader struct {
	loaded map[string]*Scenario // by real path
	open   []opened             // scenarios whose base is being loaded, outermost first
}

// opened is the name and the real path of a scenario.
type opened struct{ name, path string }

// load loads a scenario and all of its bases with a read function. loadBase finds cycles with the scenarios in open.
func (l *loader) load(name string, read func(name string) (*Scenario, error)) (*Scenario, error) {
	path, err := realPath(name)
	if err != nil {
		return nil, fmt.Errorf("reading scenarios: %w", err)
	}
	if scenario, ok := l.loaded[path]; ok {
		return scenario, nil
	}
	scenario, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.open = append(l.open, opened{name, path})
	scenario.base, err = l.loadBase(scenario)
	l.open = l.open[:len(l.open)-1]
	if err != nil {
		return nil, err
	}
	if err := scenario.check(); err != nil {
		return nil, err
	}
	l.loaded[path] = scenario
	return scenario, nil
}

// realPath returns the path of a file with symlinks resolved.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// loadBase loads the base of a scenario; nil without a base.
func (l *loader) loadBase(scenario *Scenario) (*Scenario, error) {
	var names []string
	for line := range strings.Lines(string(scenario.archive.Comment)) {
		if name, ok := strings.CutPrefix(line, baseLine); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	switch {
	case len(names) == 0:
		return nil, nil
	case len(names) > 1:
		return nil, scenario.invalidError("the scenario has %d bases; keep one", len(names))
	case filepath.Ext(names[0]) != extension:
		return nil, scenario.invalidError("base %q does not have the file extension %s", names[0], extension)
	}
	path, outside := filepath.FromSlash(names[0]), scenario.invalidError("base %q is outside the directory of the scenario; move it into that directory or a subdirectory", names[0])
	if !filepath.IsLocal(path) {
		return nil, outside
	}
	name := filepath.Join(filepath.Dir(scenario.path), path)
	basePath, err := realPath(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, scenario.invalidError("base %q does not exist; create it, or name an existing file by its path relative to the scenario", names[0])
	}
	if err != nil {
		return nil, scenario.invalidError("base %q: %w", names[0], err)
	}
	folder, err := realPath(filepath.Dir(scenario.path))
	if err != nil {
		return nil, scenario.invalidError("directory of the scenario: %w", err)
	}
	if within, err := filepath.Rel(folder, basePath); err != nil || !filepath.IsLocal(within) {
		return nil, outside
	}
	if i := slices.IndexFunc(l.open, func(o opened) bool { return o.path == basePath }); i >= 0 {
		return nil, scenario.invalidError("cycle of bases: %s; remove %q from one of them", l.describeCycle(i), baseLine)
	}
	return l.load(name, func(name string) (*Scenario, error) { return readWithin(folder, path, name) })
}

// describeCycle describes a cyclic dependency of bases.
func (l *loader) describeCycle(start int) string {
	var names []string
	for _, entry := range l.open[start:] {
		names = append(names, entry.name)
	}
	return strings.Join(append(names, names[0]), " → ")
}

// readWithin reads a file of a directory. Symlinks cannot lead out of the directory, even if they change during the
// read.
func readWithin(folder, path, name string) (*Scenario, error) {
	file, err := os.OpenInRoot(folder, path)
	if err != nil {
		return nil, err
	}
	text, err := bounded.ReadStream(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return parseScenario(name, text), nil
}

// sortBasesFirst sorts scenarios topologically, each after its base.
func sortBasesFirst(scenarios []*Scenario) []*Scenario {
	var ordered []*Scenario
	isPlaced := map[*Scenario]bool{}
	var visit func(scenario *Scenario)
	visit = func(scenario *Scenario) {
		if scenario == nil || isPlaced[scenario] {
			return
		}
		isPlaced[scenario] = true
		visit(scenario.base)
		if scenario.loadedFrom != "" {
			ordered = append(ordered, scenario)
		}
	}
	for _, scenario := range scenarios {
		visit(scenario)
	}
	return ordered
}

// resolveFile returns a file of the scenario, of the base, or of the base with the scenario's difference applied. An error
// names the line of the difference.
func (s *Scenario) resolveFile(name string) (text string, isThere bool, err error) {
	if text, isGiven := s.ownFile(name); isGiven || s.base == nil {
		return text, isGiven, nil
	}
	difference, isDifferent := "", false
	if slices.Contains(mayDiffer, name) {
		difference, isDifferent = s.ownFile(differenceName(name))
	}
	if !isDifferent && !slices.Contains(inputs, name) {
		return "", false, nil
	}
	text, isThere, err = s.base.resolveFile(name)
	if err != nil || !isDifferent {
		return text, isThere, err
	}
	if !isThere {
		return "", false, s.differenceError(name, 0, "the base has no "+name)
	}
	text, err = applyDifference(text, difference)
	var misfit *misfit
	if errors.As(err, &misfit) {
		return "", false, s.differenceError(name, misfit.line, misfit.reason)
	}
	return text, true, err
}

// origin describes the origin of a file: the scenario itself, or a difference to the base.
func (s *Scenario) origin(name string) string {
	if _, isDifferent := s.ownFile(differenceName(name)); isDifferent && slices.Contains(mayDiffer, name) {
		return fmt.Sprintf("%s (%s with %s)", name, s.base.path, differenceName(name))
	}
	return name
}

// differenceError returns an error with the line of a difference that does not fit the base, and the fix. Line 0 is the
// line before the first.
func (s *Scenario) differenceError(name string, line int, reason string) error {
	startLine, advice := 1+strings.Count(string(s.archive.Comment), "\n"), "change the line, or write the whole file "+name
	for _, file := range s.archive.Files {
		if file.Name == differenceName(name) {
			break
		}
		startLine += 1 + strings.Count(string(file.Data), "\n")
	}
	if name == WantYAML {
		advice = "--update rewrites the difference"
	}
	return fmt.Errorf("%s:%d: difference %s does not fit the base %s, because %s; %s", s.path, startLine+line, differenceName(name), s.base.path, reason, advice)
}
