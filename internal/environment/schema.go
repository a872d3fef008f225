// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	neturl "net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

const schemaURL = "values.schema.json"

// Schema validates layers. It does not load files.
type Schema struct{ compiled *bounded.Schema }

// CompileSchema compiles a JSON schema. Errors contain the name.
func CompileSchema(name string, text []byte) (*Schema, error) {
	compiled, err := bounded.Schemas().CompileSchema(name, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Schema{compiled}, nil
}

// maxFindings limits the number of findings of a check.
const maxFindings = 50

// Check validates one layer against the schema. The error joins the first maxFindings findings,
// with position and path.
func (s *Schema) Check(layer *Layer) error {
	err := s.compiled.Validate(withoutNulls(layer.Tree))
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return fmt.Errorf("%s: %w", layer.Name, err)
	}
	var findings []error
	causes := collectLeaves(invalid)
	slices.SortFunc(causes, compareLocations)
	for _, leaf := range causes {
		if findings = append(findings, s.findingsFor(layer, leaf, maxFindings-len(findings))...); len(findings) == maxFindings {
			break
		}
	}
	return errors.Join(findings...)
}

// CheckOver validates a layer after merging it over a chart's own values, as helm does.
func (s *Schema) CheckOver(lower, layer Layer) error {
	layer.Tree = mergeValues([]Layer{lower, layer}).Tree
	return s.Check(&layer)
}

// compareLocations orders findings, so that the same values always have the same message. The validator
// returns them in the random order of maps.
func compareLocations(a, b *jsonschema.ValidationError) int {
	return cmp.Or(
		slices.Compare(a.InstanceLocation, b.InstanceLocation),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
	)
}

// collectLeaves returns the innermost causes of a validation error.
func collectLeaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(err.Causes) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	var causes []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		causes = append(causes, collectLeaves(cause)...)
	}
	return causes
}

// findingsFor returns the findings for a validation error. For unknown keys, it returns one finding for each key, at
// most room findings.
func (s *Schema) findingsFor(layer *Layer, err *jsonschema.ValidationError, room int) []error {
	path := err.InstanceLocation
	extra, ok := err.ErrorKind.(*kind.AdditionalProperties)
	if !ok {
		text := err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return []error{&Finding{layer.Position(path...), path, text}}
	}
	knownKeys := s.properties(err.SchemaURL)
	slices.Sort(extra.Properties)
	var findings []error
	for _, key := range extra.Properties[:min(len(extra.Properties), room)] {
		keyPath := append(slices.Clone(path), key)
		help := "known keys: " + strings.Join(knownKeys, ", ")
		if near := humanize.Nearest(key, knownKeys); near != "" {
			help = "did you mean " + near + "?"
		}
		findings = append(findings, &Finding{layer.Position(keyPath...), keyPath, "unknown key; " + help})
	}
	return findings
}

// properties returns the sorted keys of the part of the schema at a URL.
func (s *Schema) properties(url string) []string {
	_, pointer, _ := strings.Cut(url, "#")
	path := append(strings.FieldsFunc(pointer, func(r rune) bool { return r == '/' }), "properties")
	for i, step := range path {
		if plain, err := neturl.PathUnescape(step); err == nil { // A pattern is escaped.
			path[i] = plain
		}
	}
	return slices.Sorted(maps.Keys(tree.MapAt(tree.Map(s.compiled.Raw()), path...)))
}

// withoutNulls returns the tree without nulls. A null only deletes a value of an earlier layer, so
// the schema does not apply to it.
func withoutNulls(tree map[string]any) map[string]any {
	clean := make(map[string]any, len(tree))
	for key, value := range tree {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			clean[key] = withoutNulls(v)
		default:
			clean[key] = v
		}
	}
	return clean
}
