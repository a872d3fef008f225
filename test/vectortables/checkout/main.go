// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command checkout prints the options of every component that a checkout of Vector
// documents, in the form that vectortables reads: names, forms, allowed values, what is
// required and when, and nothing of its text: make vector-tables CHECKOUT=DIR RELEASE=v0.58.0
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
)

func main() {
	if len(os.Args) != 3 || !strings.HasPrefix(os.Args[2], "v0.") {
		fmt.Fprintln(os.Stderr, "usage: checkout DIR v0.MINOR.PATCH, with the root of a checkout of Vector and its release")
		os.Exit(2)
	}
	of, err := read(filepath.Join(os.Args[1], "website", "cue"))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{os.Args[2]: of})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read evaluates all files of the documentation as the one package that they are.
func read(folder string) (map[string]map[string]any, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".cue") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for files in %q: %w", folder, err)
	}
	instances := load.Instances(files, &load.Config{Dir: folder})
	if err := instances[0].Err; err != nil {
		return nil, fmt.Errorf("reading the documentation in %q: %w", folder, err)
	}
	components := cuecontext.New().BuildInstance(instances[0]).LookupPath(cue.ParsePath("components"))
	all := map[string]map[string]any{}
	for _, kind := range []string{"sources", "transforms", "sinks"} {
		all[kind] = map[string]any{}
		each, err := components.LookupPath(cue.ParsePath(kind)).Fields()
		if err != nil {
			return nil, fmt.Errorf("evaluating %s: %w", kind, err)
		}
		for each.Next() {
			name := each.Selector().Unquoted()
			configuration := each.Value().LookupPath(cue.ParsePath("configuration"))
			text, err := configuration.MarshalJSON()
			if err != nil {
				return nil, fmt.Errorf("evaluating %s %q: %w", kind, name, err)
			}
			var options map[string]*documented
			if err := json.Unmarshal(text, &options); err != nil {
				return nil, fmt.Errorf("reading the options of %s %q: %w", kind, name, err)
			}
			all[kind][name] = map[string]any{"options": options}
		}
	}
	return all, nil
}

// documented is an option as Vector documents it, without what is text.
type documented struct {
	Type       map[string]*form `json:"type"`
	Required   bool             `json:"required,omitempty"`
	When       string           `json:"when,omitempty"`
	Deprecated bool             `json:"deprecated,omitempty"`
}

func (d *documented) UnmarshalJSON(text []byte) error {
	var of struct {
		Type       map[string]*form `json:"type"`
		Required   bool             `json:"required"`
		When       string           `json:"relevant_when"`
		Deprecated bool             `json:"deprecated"`
	}
	err := json.Unmarshal(text, &of)
	*d = documented{of.Type, of.Required, of.When, of.Deprecated}
	if d.Type == nil {
		d.Type = map[string]*form{}
	}
	return err
}

// form is one form of its value.
type form struct {
	Default json.RawMessage        `json:"default,omitempty"`
	Enum    []string               `json:"enum,omitempty"`
	Syntax  string                 `json:"syntax,omitempty"`
	Unit    string                 `json:"unit,omitempty"`
	Items   map[string]*form       `json:"items,omitempty"`
	Options map[string]*documented `json:"options,omitempty"`
}

func (f *form) UnmarshalJSON(text []byte) error {
	var of struct {
		Default json.RawMessage                 `json:"default"`
		Enum    json.RawMessage                 `json:"enum"`
		Syntax  string                          `json:"syntax"`
		Unit    *string                         `json:"unit"`
		Items   struct{ Type map[string]*form } `json:"items"`
		Options map[string]*documented          `json:"options"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	*f = form{Default: of.Default, Syntax: of.Syntax, Items: of.Items.Type, Options: of.Options}
	if bytes.HasPrefix(f.Default, []byte(`"`)) {
		f.Default = nil // A text is not needed.
	}
	if of.Unit != nil {
		f.Unit = *of.Unit
	}
	// Allowed values are a map to what each means, or a list.
	var meanings map[string]json.RawMessage
	if json.Unmarshal(of.Enum, &meanings) == nil {
		f.Enum = slices.Sorted(maps.Keys(meanings))
		return nil
	}
	var values []any
	if json.Unmarshal(of.Enum, &values) == nil {
		for _, value := range values {
			f.Enum = append(f.Enum, fmt.Sprint(value))
		}
	}
	return nil
}
