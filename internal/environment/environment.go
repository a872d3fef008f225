// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package environment merges layers of values into the one tree that templates
// see, and remembers where each value came from. It does not know templates,
// nor where a layer's text was read from.
package environment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// UnknownError says that an environment has no values.
type UnknownError struct {
	Environment string
	Known       []string
}

// Error names the environments that exist.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("environment %q has no values: there are %s", e.Environment, strings.Join(e.Known, ", "))
	if near := humanize.Nearest(e.Environment, e.Known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Set knows the values of every environment. It does not change once made.
type Set struct {
	schema       *Schema
	defaults     Layer
	chart        map[string]Layer
	installation map[string]given
	predecessor  predecessor
	// others are environments that exist although this chart says nothing of
	// them.
	others []string
}

// given is a layer of the installation, or why it cannot be used: a broken one
// must not stand in the way of the other environments.
type given struct {
	layer Layer
	err   error
}

// Load reads values.yaml, values.schema.json and values/ENVIRONMENT.yaml of a
// sidecar chart, given by the paths of its files.
func Load(chart map[string][]byte) (*Set, error) {
	text, ok := chart[schemaURL]
	if !ok {
		return nil, fmt.Errorf("there is no %s: a sidecar chart has one, if only {\"type\": \"object\"}", schemaURL)
	}
	set := &Set{chart: map[string]Layer{}}
	var err error
	if set.schema, err = CompileSchema(schemaURL, text); err != nil {
		return nil, err
	}
	if set.defaults, err = set.read("values.yaml", chart["values.yaml"]); err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(chart)) {
		name, isValues := strings.CutSuffix(file, ".yaml")
		name, isEnvironment := strings.CutPrefix(name, "values/")
		if !isValues || !isEnvironment || strings.Contains(name, "/") {
			continue
		}
		if set.chart[name], err = set.read(file, chart[file]); err != nil {
			return nil, err
		}
	}
	if set.predecessor, err = set.readPredecessor(chart[PredecessorFile]); err != nil {
		return nil, err
	}
	return set, nil
}

func (s *Set) read(file string, text []byte) (Layer, error) {
	layer, err := ParseLayer(file, text)
	if err != nil {
		return Layer{}, err
	}
	if err := s.schema.Check(&layer); err != nil {
		return Layer{}, err
	}
	return layer, nil
}

// WithInstallation returns a Set that has the installation's layers as well:
// files maps "ENVIRONMENT.yaml" to text, source says where they are from. A file
// that cannot be used spoils its own environment only.
func (s *Set) WithInstallation(source string, files map[string]string) *Set {
	return s.withInstallation(source, files, func(string, *Layer) {})
}

// WithWritten returns the same of files that were made of one that a person has written.
// at has the path in that one of each environment's values, and places are told of it.
func (s *Set) WithWritten(written *Layer, files map[string]string, at func(environment string) []string) *Set {
	return s.withInstallation(written.Name, files, func(name string, layer *Layer) {
		layer.lines = written.lines.find(at(name)...)
	})
}

func (s *Set) withInstallation(source string, files map[string]string, place func(environment string, layer *Layer)) *Set {
	installed := make(map[string]given, len(files))
	for file, text := range files {
		name, ok := strings.CutSuffix(file, ".yaml")
		if !ok {
			continue
		}
		layer, err := ParseLayer(source+" "+file, []byte(text))
		if err == nil {
			place(name, &layer)
			s.withoutChoice(&layer)
			err = s.schema.Check(&layer)
		}
		installed[name] = given{layer: layer, err: err}
	}
	all := *s
	all.installation = installed
	return &all
}

// WithNames returns a Set that knows environments of which the chart itself says
// nothing: they have its defaults.
func (s *Set) WithNames(names ...string) *Set {
	all := *s
	all.others = names
	return &all
}

// TemplateSetKey names the template set of an environment. It is the installation's
// word to the operator, and not one of the values that templates see.
const TemplateSetKey = "templateSet"

// TemplateSet returns the name of the template set that an environment's layers
// choose, "" if they choose none.
func (s *Set) TemplateSet(environment string) string {
	for _, layer := range []Layer{s.installation[environment].layer, s.chart[environment], s.defaults} {
		if name, ok := layer.Tree[TemplateSetKey].(string); ok && name != "" {
			return name
		}
	}
	return ""
}

// Given are the values that the installation gives an environment, nil if it gives
// none: what the chart itself says is not among them, nor is the choice of a template
// set. They must not be changed.
func (s *Set) Given(environment string) map[string]any {
	tree := s.installation[environment].layer.Tree
	if _, chooses := tree[TemplateSetKey]; chooses {
		tree = maps.Clone(tree)
		delete(tree, TemplateSetKey)
	}
	return tree
}

// withoutChoice drops the name of the template set from a layer that is meant for
// a chart which does not know it.
func (s *Set) withoutChoice(layer *Layer) {
	if !slices.Contains(s.schema.properties(""), TemplateSetKey) {
		delete(layer.Tree, TemplateSetKey)
	}
}

// Names lists the environments that have values, sorted.
func (s *Set) Names() []string {
	names := maps.Clone(s.installation)
	if names == nil {
		names = map[string]given{}
	}
	for name := range s.chart {
		names[name] = given{}
	}
	for _, name := range s.others {
		names[name] = given{}
	}
	return slices.Sorted(maps.Keys(names))
}

// Values merges the layers of an environment and then the overrides, each held
// against the schema first. The errors are *UnknownError, or findings that name
// layer, line and path.
func (s *Set) Values(name string, overrides ...Layer) (Values, error) {
	if !slices.Contains(s.Names(), name) {
		return Values{}, &UnknownError{Environment: name, Known: s.Names()}
	}
	layers := append([]Layer{s.defaults}, s.predecessor.of(name)...)
	if layer, ok := s.chart[name]; ok {
		layers = append(layers, layer)
	}
	if given, ok := s.installation[name]; ok {
		if given.err != nil {
			return Values{}, given.err
		}
		layers = append(layers, given.layer)
	}
	var findings []error
	for i := range overrides {
		findings = append(findings, s.schema.Check(&overrides[i]))
	}
	if err := errors.Join(findings...); err != nil {
		return Values{}, err
	}
	layers = append(layers, overrides...)
	return merge(append(layers, Layer{Name: "the operator", Tree: map[string]any{"environment": name}})), nil
}
