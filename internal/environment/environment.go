// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package environment merges layers of values into the tree that templates read, and records the
// origin of each value. It does not read templates or files; callers provide the text of each
// layer.
package environment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// UnknownError reports that an environment has no values.
type UnknownError struct {
	Environment string
	Available   []string
}

// Error names the environments that exist.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("environment %q has no values; known environments: %s", e.Environment, strings.Join(e.Available, ", "))
	if near := humanize.Nearest(e.Environment, e.Available); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Set holds the values of every environment. It is immutable.
type Set struct {
	schema       *Schema
	defaults     Layer
	chart        map[string]Layer
	installation map[string]installationLayer
	// extraNames are environments that exist although this chart has no values for them.
	extraNames []string
}

// installationLayer is a layer of the installation, or its error. An invalid layer must not affect the other
// environments.
type installationLayer struct {
	layer Layer
	err   error
}

// Load reads values.yaml, values.schema.json and values/ENVIRONMENT.yaml of a sidecar chart,
// from its files by path.
func Load(chart map[string][]byte) (*Set, error) {
	text, ok := chart[schemaURL]
	if !ok {
		return nil, fmt.Errorf("file %s is missing; a sidecar chart needs a schema, at least {\"type\": \"object\"}", schemaURL)
	}
	set := &Set{chart: map[string]Layer{}}
	var err error
	if set.schema, err = CompileSchema(schemaURL, text); err != nil {
		return nil, err
	}
	if set.defaults, err = set.readLayer("values.yaml", chart["values.yaml"]); err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(chart)) {
		name, isValues := strings.CutSuffix(file, ".yaml")
		name, isEnvironment := strings.CutPrefix(name, "values/")
		if !isValues || !isEnvironment || strings.Contains(name, "/") {
			continue
		}
		if set.chart[name], err = set.readLayer(file, chart[file]); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// readLayer parses a values file of the chart and checks it against the schema.
func (s *Set) readLayer(file string, text []byte) (Layer, error) {
	layer, err := ParseLayer(file, text)
	if err != nil {
		return Layer{}, err
	}
	if err := s.schema.Check(&layer); err != nil {
		return Layer{}, err
	}
	return layer, nil
}

// WithInstallation returns a Set that also has the installation's layers. The files map
// "ENVIRONMENT.yaml" to text, and the source names their origin. An invalid file only affects its
// own environment.
func (s *Set) WithInstallation(source string, files map[string]string) *Set {
	return s.withInstallation(source, files, func(string, *Layer) {})
}

// WithWritten does the same as WithInstallation, for files that were generated from a file that a user wrote. The
// callback returns the path of an environment's values in that file, so that errors name its lines.
func (s *Set) WithWritten(written *Layer, files map[string]string, pathFor func(environment string) []string) *Set {
	return s.withInstallation(written.Name, files, func(name string, layer *Layer) {
		layer.lines = written.lines.find(pathFor(name)...)
	})
}

// withInstallation returns a Set with the installation's layers. After a file is parsed, it calls locate, which may
// change where errors point.
func (s *Set) withInstallation(source string, files map[string]string, locate func(environment string, layer *Layer)) *Set {
	installed := make(map[string]installationLayer, len(files))
	for file, text := range files {
		name, ok := strings.CutSuffix(file, ".yaml")
		if !ok {
			continue
		}
		layer, err := ParseLayer(source+" "+file, []byte(text))
		if err == nil {
			locate(name, &layer)
			s.removeTemplateSet(&layer)
			err = s.schema.Check(&layer)
		}
		installed[name] = installationLayer{layer: layer, err: err}
	}
	updated := *s
	updated.installation = installed
	return &updated
}

// WithNames returns a Set that also has environments for which the chart has no values. These use
// the chart's defaults.
func (s *Set) WithNames(names ...string) *Set {
	updated := *s
	updated.extraNames = names
	return &updated
}

// TemplateSetKey is the key of an environment's template set. It is a setting of the operator and
// not a value that templates read.
const TemplateSetKey = "templateSet"

// TemplateSet returns the name of the template set that an environment's layers select, "" if they
// select none.
func (s *Set) TemplateSet(environment string) string {
	for _, layer := range []Layer{s.installation[environment].layer, s.chart[environment], s.defaults} {
		if name, ok := layer.Tree[TemplateSetKey].(string); ok && name != "" {
			return name
		}
	}
	return ""
}

// KeyNaming returns the first key of an installation's ConfigMap, such as staging.yaml, whose values
// choose the named template set, "" if no key does. It skips values that cannot be parsed.
func KeyNaming(files map[string]string, set string) string {
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(key, ".yaml") {
			continue
		}
		if layer, err := ParseLayer(key, []byte(files[key])); err == nil && layer.Tree[TemplateSetKey] == set {
			return key
		}
	}
	return ""
}

// InstallationValues returns the values that the installation sets for an environment, nil if it sets none. The
// chart's own values and the selected template set are not included. The values must not be
// modified.
func (s *Set) InstallationValues(environment string) map[string]any {
	tree := s.installation[environment].layer.Tree
	if _, chooses := tree[TemplateSetKey]; chooses {
		tree = maps.Clone(tree)
		delete(tree, TemplateSetKey)
	}
	return tree
}

// removeTemplateSet removes the name of the template set from a layer if the schema of the chart does not have that
// key.
func (s *Set) removeTemplateSet(layer *Layer) {
	if !slices.Contains(s.schema.properties(""), TemplateSetKey) {
		delete(layer.Tree, TemplateSetKey)
	}
}

// Names returns the environments that have values, sorted.
func (s *Set) Names() []string {
	names := maps.Clone(s.installation)
	if names == nil {
		names = map[string]installationLayer{}
	}
	for name := range s.chart {
		names[name] = installationLayer{}
	}
	for _, name := range s.extraNames {
		names[name] = installationLayer{}
	}
	return slices.Sorted(maps.Keys(names))
}

// Values merges the layers of an environment and then the overrides, after validating each override
// against the schema. The error is an *UnknownError, or findings that name layer, line and path.
func (s *Set) Values(name string, overrides ...Layer) (Values, error) {
	if !slices.Contains(s.Names(), name) {
		return Values{}, &UnknownError{Environment: name, Available: s.Names()}
	}
	layers := []Layer{s.defaults}
	if layer, ok := s.chart[name]; ok {
		layers = append(layers, layer)
	}
	if installed, ok := s.installation[name]; ok {
		if installed.err != nil {
			return Values{}, installed.err
		}
		layers = append(layers, installed.layer)
	}
	var findings []error
	for i := range overrides {
		findings = append(findings, s.schema.Check(&overrides[i]))
	}
	if err := errors.Join(findings...); err != nil {
		return Values{}, err
	}
	layers = append(layers, overrides...)
	return mergeValues(append(layers, Layer{Name: "the operator", Tree: map[string]any{"environment": name}})), nil
}
