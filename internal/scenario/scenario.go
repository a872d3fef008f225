// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenario is the form of a test of templates and values that a person
// writes: what is given, and what should come of it, in one .txtar file or one
// folder. It renders nothing itself.
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

	"kontroloop.ai/vector-sidecar-operator/internal/world"
)

// Names of what a scenario may hold. Workload and Sidecar it must hold.
const (
	Workload    = "workload.yaml"
	Sidecar     = "vectorsidecar.yaml"
	ConfigMaps  = "configmaps.yaml"
	Values      = "values.yaml"
	Environment = "environment"
	KubeVersion = "kube-version"
	// WantYAML and WantError are the whole outcome, of which there is one;
	// Expectations are about parts of it.
	WantYAML     = "want.yaml"
	WantError    = "want-error"
	Expectations = "expect.yaml"
)

var (
	mayHold  = []string{Workload, Sidecar, ConfigMaps, Values, Environment, KubeVersion, WantYAML, WantError, Expectations}
	mustHold = []string{Workload, Sidecar}
)

const extension = ".txtar"

// Scenario is one test.
type Scenario struct {
	// Name is the path without the extension.
	Name string
	// Story is the comment that begins the file, less the licence.
	Story string

	path    string
	archive *txtar.Archive
}

// Load reads a scenario, or all those in a folder and below.
func Load(path string) ([]*Scenario, error) {
	var all []*Scenario
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading scenarios: %w", err)
		}
		var one *Scenario
		switch {
		case entry.IsDir() && has(name, Workload) && has(name, Sidecar):
			one, err = loadFolder(name)
		case !entry.IsDir() && filepath.Ext(name) == extension:
			one, err = loadFile(name)
		}
		if err == nil && one != nil {
			err = one.check()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if one != nil {
			all = append(all, one)
		}
		return nil
	})
	return all, err
}

func has(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

func loadFile(name string) (*Scenario, error) {
	text, err := world.ReadFile(name)
	if err != nil {
		return nil, err
	}
	archive := txtar.Parse(text)
	return &Scenario{Name: strings.TrimSuffix(name, extension), Story: story(archive), path: name, archive: archive}, nil
}

func loadFolder(folder string) (*Scenario, error) {
	archive := &txtar.Archive{}
	for _, name := range mayHold {
		text, err := world.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: text})
	}
	return &Scenario{Name: folder, path: folder, archive: archive}, nil
}

// check finds what cannot be a scenario.
func (s *Scenario) check() error {
	var names []string
	for _, file := range s.archive.Files {
		if !slices.Contains(mayHold, file.Name) {
			return fmt.Errorf("%q is none of %s", file.Name, strings.Join(mayHold, ", "))
		}
		if slices.Contains(names, file.Name) {
			return fmt.Errorf("%q is given twice", file.Name)
		}
		names = append(names, file.Name)
	}
	for _, name := range mustHold {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q is missing", name)
		}
	}
	if slices.Contains(names, WantYAML) && slices.Contains(names, WantError) {
		return fmt.Errorf("both %s and %s are given: a scenario has one outcome", WantYAML, WantError)
	}
	return nil
}

// File returns what the scenario holds under a name, and whether it does.
func (s *Scenario) File(name string) (string, bool) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(s.archive.Files[i].Data), true
}

// Files are all files by name.
func (s *Scenario) Files() map[string][]byte {
	files := map[string][]byte{}
	for _, file := range s.archive.Files {
		files[file.Name] = file.Data
	}
	return files
}

// Update writes the outcome in the place of the one that was expected.
func (s *Scenario) Update(outcome Outcome) error {
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == WantYAML || f.Name == WantError })
	s.archive.Files = append(s.archive.Files, txtar.File{Name: outcome.name(), Data: []byte(outcome.Text)})
	if filepath.Ext(s.path) == extension {
		return os.WriteFile(s.path, txtar.Format(s.archive), 0o644)
	}
	for _, name := range []string{WantYAML, WantError} {
		if err := os.Remove(filepath.Join(s.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(filepath.Join(s.path, outcome.name()), []byte(outcome.Text), 0o644)
}

func story(archive *txtar.Archive) string {
	var lines []string
	for line := range strings.Lines(string(archive.Comment)) {
		if !strings.HasPrefix(line, "# SPDX-") {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "#")))
		}
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}
