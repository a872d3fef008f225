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

// differenceOf returns the name of the difference that may replace a file.
func differenceOf(name string) string { return strings.TrimSuffix(name, ".yaml") + ".diff" }

func differences(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, differenceOf(name))
	}
	return all
}

// loader loads scenarios and their bases, each file once.
type loader struct {
	loaded map[string]*Scenario // by real path
	open   []opened             // scenarios whose base is being loaded, outermost first
}

// opened is the name and the real path of a scenario.
type opened struct{ name, path string }

// load loads a scenario and all of its bases. The error starts with the path.
func (l *loader) load(name string, read func(name string) (*Scenario, error)) (*Scenario, error) {
	path, err := realPath(name)
	if err != nil {
		return nil, fmt.Errorf("reading scenarios: %w", err)
	}
	if one, ok := l.loaded[path]; ok {
		return one, nil
	}
	one, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.open = append(l.open, opened{name, path})
	one.base, err = l.base(one)
	l.open = l.open[:len(l.open)-1]
	if err != nil {
		return nil, err
	}
	if err := one.check(); err != nil {
		return nil, err
	}
	l.loaded[path] = one
	return one, nil
}

// realPath returns the path of a file with symlinks resolved.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// base loads the base of a scenario; nil without a base.
func (l *loader) base(of *Scenario) (*Scenario, error) {
	var names []string
	for line := range strings.Lines(string(of.archive.Comment)) {
		if name, ok := strings.CutPrefix(line, baseLine); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	switch {
	case len(names) == 0:
		return nil, nil
	case len(names) > 1:
		return nil, of.invalid("%d bases; keep one", len(names))
	case filepath.Ext(names[0]) != extension:
		return nil, of.invalid("base %q is not a %s file", names[0], extension)
	}
	path, outside := filepath.FromSlash(names[0]), of.invalid("base %q is outside the directory of the scenario; move it into that directory or a subdirectory", names[0])
	if !filepath.IsLocal(path) {
		return nil, outside
	}
	name := filepath.Join(filepath.Dir(of.path), path)
	found, err := realPath(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, of.invalid("base %q does not exist; create it, or name an existing file by its path relative to the scenario", names[0])
	}
	if err != nil {
		return nil, of.invalid("base %q: %w", names[0], err)
	}
	folder, err := realPath(filepath.Dir(of.path))
	if err != nil {
		return nil, of.invalid("directory of the scenario: %w", err)
	}
	if within, err := filepath.Rel(folder, found); err != nil || !filepath.IsLocal(within) {
		return nil, outside
	}
	if at := slices.IndexFunc(l.open, func(o opened) bool { return o.path == found }); at >= 0 {
		return nil, of.invalid("cycle of bases: %s; remove %q from one of them", l.cycle(at), baseLine)
	}
	return l.load(name, func(name string) (*Scenario, error) { return readWithin(folder, path, name) })
}

// cycle describes a cyclic dependency of bases.
func (l *loader) cycle(from int) string {
	var names []string
	for _, one := range l.open[from:] {
		names = append(names, one.name)
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
	text, err := bounded.Stream(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return parse(name, text), nil
}

// basesFirst sorts scenarios topologically, each after its base.
func basesFirst(found []*Scenario) []*Scenario {
	var ordered []*Scenario
	isPlaced := map[*Scenario]bool{}
	var place func(one *Scenario)
	place = func(one *Scenario) {
		if one == nil || isPlaced[one] {
			return
		}
		isPlaced[one] = true
		place(one.base)
		if one.under != "" {
			ordered = append(ordered, one)
		}
	}
	for _, one := range found {
		place(one)
	}
	return ordered
}

// whole returns a file of the scenario, of the base, or of the base with the scenario's difference applied. An error
// names the line of the difference.
func (s *Scenario) whole(name string) (text string, isThere bool, err error) {
	if text, isGiven := s.given(name); isGiven || s.base == nil {
		return text, isGiven, nil
	}
	difference, isDifferent := "", false
	if slices.Contains(mayDiffer, name) {
		difference, isDifferent = s.given(differenceOf(name))
	}
	if !isDifferent && !slices.Contains(inputs, name) {
		return "", false, nil
	}
	text, isThere, err = s.base.whole(name)
	if err != nil || !isDifferent {
		return text, isThere, err
	}
	if !isThere {
		return "", false, s.misplaced(name, 0, "the base has no "+name)
	}
	text, err = apply(text, difference)
	var misfit *misfit
	if errors.As(err, &misfit) {
		return "", false, s.misplaced(name, misfit.line, misfit.reason)
	}
	return text, true, err
}

// origin describes the origin of a file: the scenario itself, or a difference to the base.
func (s *Scenario) origin(name string) string {
	if _, isDifferent := s.given(differenceOf(name)); isDifferent && slices.Contains(mayDiffer, name) {
		return fmt.Sprintf("%s (%s with %s)", name, s.base.path, differenceOf(name))
	}
	return name
}

// misplaced returns an error with the line of a difference that does not fit the base, and the fix. Line 0 is the
// line before the first.
func (s *Scenario) misplaced(name string, line int, reason string) error {
	at, advice := 1+strings.Count(string(s.archive.Comment), "\n"), "change the line, or give "+name+" as a whole"
	for _, file := range s.archive.Files {
		if file.Name == differenceOf(name) {
			break
		}
		at += 1 + strings.Count(string(file.Data), "\n")
	}
	if name == WantYAML {
		advice = "--update rewrites the difference"
	}
	return fmt.Errorf("%s:%d: %s does not fit the base %s: %s: %s", s.path, at+line, differenceOf(name), s.base.path, reason, advice)
}
