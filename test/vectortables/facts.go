// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// The two files of facts, in a folder.
const (
	optionsFile = "vector-options.json.xz"
	schemaFile  = "vector-schema-0.57.0.json.xz"
)

// schemaMinor is the release of the schema.
const schemaMinor = vectoroptions.Schema

// typ has the forms that a value may have, by their kind: string, uint, int, float,
// bool, array, object, ascii_char, condition, and any where everything goes.
type typ map[string]*form

// form is one form of a value, as Vector's documentation data describe it.
type form struct {
	Default json.RawMessage    `json:"default"`
	Enum    []string           `json:"enum"`
	Syntax  string             `json:"syntax"`
	Unit    string             `json:"unit"`
	Items   typ                `json:"items"`
	Options map[string]*option `json:"options"`
	// denies reports whether Vector rejects unknown options of this object.
	denies bool
	// variants are whole objects of which one has to fit; none where there is one only.
	variants []*form
}

// option is an option of an object; "*" stands for a free key.
type option struct {
	Type       typ    `json:"type"`
	Required   bool   `json:"required"`
	When       string `json:"when"`
	Deprecated bool   `json:"deprecated"`
	// aliasOf is the option that this one is another name of.
	aliasOf string
	// isLenient reports whether Vector ignores a value that it cannot read.
	isLenient bool
}

// release is the options of every component, by "sinks" and "http" for instance.
type release map[string]map[string]*form

// facts are what Vector publishes of its options.
type facts struct {
	// releases by their minor version, 57 for 0.57.0.
	releases map[int]release
	schema   *schema
}

func (f *facts) minors() []int {
	var all []int
	for minor := range f.releases {
		all = append(all, minor)
	}
	slices.Sort(all)
	return all
}

// readFacts reads both files of a folder, compressed as they are, and files of further
// releases, which command checkout prints.
func readFacts(folder string, further ...string) (*facts, error) {
	var documented map[string]release
	if err := readCompressed(filepath.Join(folder, optionsFile), &documented); err != nil {
		return nil, err
	}
	for _, path := range further {
		text, err := os.ReadFile(path) //nolint:gosec // the file is given by who runs it
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &documented); err != nil {
			return nil, fmt.Errorf("reading %q: %w", path, err)
		}
	}
	f := &facts{releases: map[int]release{}, schema: &schema{}}
	for name, of := range documented {
		parts := strings.Split(strings.TrimPrefix(name, "v"), ".")
		if len(parts) != 3 || parts[0] != "0" {
			return nil, fmt.Errorf("reading %q: a release %q, want v0.MINOR.PATCH", optionsFile, name)
		}
		minor, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, fmt.Errorf("reading the release %q of %q: %w", name, optionsFile, err)
		}
		f.releases[minor] = of
	}
	return f, readCompressed(filepath.Join(folder, schemaFile), f.schema)
}

func readCompressed(path string, into any) error {
	text, err := exec.Command("xz", "-dc", path).Output() //nolint:gosec // the folder is given by who runs it
	if err != nil {
		return fmt.Errorf("unpacking %q with xz: %w", path, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	return nil
}
