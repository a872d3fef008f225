// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenario defines the format of a test that a user writes for templates and values: the inputs and the
// expected outcome, in one .txtar file or one directory. A file may contain only its differences to another file, the
// base. The package loads, compares and updates scenarios. It does not render.
package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// Names of the files of a scenario. Workload and Sidecar are required in the scenario or its base.
const (
	Workload    = "workload.yaml"
	Sidecar     = "vectorsidecar.yaml"
	ConfigMaps  = "configmaps.yaml"
	Values      = "values.yaml"
	Environment = "environment"
	KubeVersion = "kube-version"
	Kubelet     = "kubelet-version"
	IPFamily    = "ip-family"
	Platform    = "platform"
	// WantYAML and WantError are the whole outcome. A scenario has at most one of them. Expectations describe parts
	// of the outcome.
	WantYAML     = "want.yaml"
	WantError    = "want-error"
	Expectations = "expect.yaml"
)

var (
	inputs   = []string{Workload, Sidecar, ConfigMaps, Values, Environment, KubeVersion, Kubelet, IPFamily, Platform}
	outcomes = []string{WantYAML, wantDifference, WantError}
	// mayDiffer are the files that may be a difference to the file of the base.
	mayDiffer     = []string{Workload, Sidecar, ConfigMaps, Values, WantYAML}
	allowedFiles  = slices.Concat(inputs, []string{WantYAML, WantError, Expectations}, differenceNames(mayDiffer))
	requiredFiles = []string{Workload, Sidecar}
)

const extension = ".txtar"

// Scenario is one test.
type Scenario struct {
	// Name is the path without the extension.
	Name string
	// Story is the comment at the start of the file, without the license header.
	Story string

	path   string
	isFile bool // false for a directory
	// loadedFrom is the loaded path that contains the scenario. It is empty for a base elsewhere.
	loadedFrom string
	style      style          // of the file; for a directory, of the outcome that an update replaces
	archive    *txtar.Archive // without style
	base       *Scenario      // nil without a base
}

// Invalid is a scenario that cannot be loaded.
type Invalid struct {
	// Name is the name of the Scenario.
	Name string
	Err  error
}

// InvalidError lists scenarios that cannot be loaded.
type InvalidError struct{ Scenarios []Invalid }

// Error returns the errors of all scenarios, one per line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, invalid := range e.Scenarios {
		lines = append(lines, invalid.Err.Error())
	}
	return strings.Join(lines, "\n")
}

// Load loads scenario files, and all scenarios below directories. Each path must have at least one scenario. The
// result is sorted by name, but each base comes before the scenarios that use it, so that they can read the updated
// base. If some scenarios cannot be loaded, the error is an *InvalidError, and the other scenarios are returned with
// it.
func Load(paths ...string) ([]*Scenario, error) {
	var scenarios []*Scenario
	invalid := &InvalidError{}
	loading := loader{loaded: map[string]*Scenario{}}
	for _, path := range paths {
		isEmpty := true
		err := source.Walk(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return fmt.Errorf("reading scenarios: %w", err)
			}
			var scenario *Scenario
			switch {
			case entry.IsDir() && hasFile(name, Workload) && hasFile(name, Sidecar):
				scenario, err = loading.load(name, loadFolder)
			case !entry.IsDir() && filepath.Ext(name) == extension:
				scenario, err = loading.load(name, loadFile)
			}
			if err != nil {
				invalid.Scenarios = append(invalid.Scenarios, Invalid{strings.TrimSuffix(name, extension), err})
			}
			isEmpty = isEmpty && scenario == nil && err == nil
			if scenario != nil && scenario.loadedFrom == "" {
				scenario.loadedFrom = path
				scenarios = append(scenarios, scenario)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if isEmpty {
			return nil, fmt.Errorf("no tests in %s", path)
		}
	}
	if len(invalid.Scenarios) > 0 {
		return sortBasesFirst(scenarios), invalid
	}
	return sortBasesFirst(scenarios), nil
}

// hasFile reports whether a directory contains a file.
func hasFile(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// loadFile reads a scenario from an archive.
func loadFile(name string) (*Scenario, error) {
	text, err := source.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseScenario(name, text), nil
}

// parseScenario returns the scenario in an archive. The scenario is not checked yet.
func parseScenario(name string, text []byte) *Scenario {
	text, style := normalizeText(text)
	archive := txtar.Parse(text)
	return &Scenario{Name: strings.TrimSuffix(name, extension), Story: storyComment(archive), path: name, isFile: true, style: style, archive: archive}
}

// loadFolder reads a scenario from the files of a directory. It ignores files with other names.
func loadFolder(folder string) (*Scenario, error) {
	scenario := &Scenario{Name: folder, path: folder, archive: &txtar.Archive{}}
	for _, name := range allowedFiles {
		text, err := source.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		text, style := normalizeText(text)
		if name == Workload || slices.Contains(outcomes, name) {
			scenario.style = style
		}
		scenario.archive.Files = append(scenario.archive.Files, txtar.File{Name: name, Data: text})
	}
	return scenario, nil
}

// check returns an error if the scenario is invalid.
func (s *Scenario) check() error {
	var names []string
	for _, file := range s.archive.Files {
		if !slices.Contains(allowedFiles, file.Name) {
			return s.invalidError("file %q is not one of %s", file.Name, strings.Join(allowedFiles, ", "))
		}
		if slices.Contains(names, file.Name) {
			return s.invalidError("duplicate file %q", file.Name)
		}
		names = append(names, file.Name)
	}
	for _, name := range mayDiffer {
		switch difference := differenceName(name); {
		case !slices.Contains(names, difference):
		case s.base == nil:
			return s.invalidError("file %q is a difference, but the scenario has no base; name the base in a line %q before the first file, or write the file %q", difference, baseLine+" FILE"+extension, name)
		case slices.Contains(names, name):
			return s.invalidError("files %q and %q both exist; remove one", name, difference)
		}
	}
	for _, name := range inputs {
		if _, isThere, err := s.resolveFile(name); err != nil {
			return err
		} else if !isThere && slices.Contains(requiredFiles, name) {
			return s.invalidError("file %q is missing", name)
		}
	}
	if ownOutcomes := slices.DeleteFunc(slices.Clone(outcomes), func(name string) bool { return !slices.Contains(names, name) }); len(ownOutcomes) > 1 {
		return s.invalidError("files %s exist, but a scenario has only one outcome; keep one of them", strings.Join(ownOutcomes, " and "))
	}
	return nil
}

// invalidError returns an error with the scenario's path.
func (s *Scenario) invalidError(format string, arguments ...any) error {
	return fmt.Errorf("%s: %w", s.path, fmt.Errorf(format, arguments...))
}

// File returns a file by name, and whether it exists. The file comes from the base unless the scenario changes it. If
// a difference cannot be applied, the file does not exist.
func (s *Scenario) File(name string) (string, bool) {
	text, isThere, err := s.resolveFile(name)
	return text, isThere && err == nil
}

// Files returns the inputs by name.
func (s *Scenario) Files() map[string][]byte {
	files := map[string][]byte{}
	for _, name := range inputs {
		if text, isThere := s.File(name); isThere {
			files[name] = []byte(text)
		}
	}
	return files
}

// ownFile returns the content of a file of the scenario itself, and whether it exists. It does not read the base's files.
func (s *Scenario) ownFile(name string) (string, bool) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(s.archive.Files[i].Data), true
}

// Update replaces the expected outcome, by a difference to the base if that is shorter. A scenario with only
// expectations is unchanged.
func (s *Scenario) Update(outcome Outcome) error {
	if _, hasExpectations := s.ownFile(Expectations); hasExpectations && !s.hasOutcome() {
		return nil
	}
	file, err := s.expectedFile(outcome)
	if err != nil {
		return err
	}
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return slices.Contains(outcomes, f.Name) })
	s.archive.Files = append(s.archive.Files, file)
	if s.isFile {
		return os.WriteFile(s.path, s.style.applyTo(txtar.Format(s.archive)), 0o644)
	}
	for _, name := range outcomes {
		if err := os.Remove(filepath.Join(s.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(filepath.Join(s.path, file.Name), s.style.applyTo(file.Data), 0o644)
}

// expectedFile returns the file that expects an outcome.
func (s *Scenario) expectedFile(outcome Outcome) (txtar.File, error) {
	file := txtar.File{Name: outcome.sectionName(), Data: []byte(outcome.Text)}
	if s.base == nil || outcome.Failed {
		return file, nil
	}
	text, isThere, err := s.base.resolveFile(WantYAML)
	if err != nil || !isThere {
		return file, err
	}
	if difference, isShorter := Differ(text, outcome.Text); isShorter {
		return txtar.File{Name: wantDifference, Data: []byte(difference)}, nil
	}
	return file, nil
}

// hasOutcome reports whether the scenario expects a whole outcome.
func (s *Scenario) hasOutcome() bool {
	return slices.ContainsFunc(outcomes, func(name string) bool { _, isGiven := s.ownFile(name); return isGiven })
}

// Folder returns the directory that contains the scenario file, or the directory of the scenario.
func (s *Scenario) Folder() string {
	if s.isFile {
		return filepath.Dir(s.path)
	}
	return s.path
}

// storyComment returns the comment of an archive on one line, without the license and the line that names the base.
func storyComment(archive *txtar.Archive) string {
	var lines []string
	for line := range strings.Lines(string(archive.Comment)) {
		if !strings.HasPrefix(line, "# SPDX-") && !strings.HasPrefix(line, baseLine) {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "#")))
		}
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}
