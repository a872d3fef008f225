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
	found := leaves(invalid)
	slices.SortFunc(found, byPlace)
	for _, leaf := range found {
		if findings = append(findings, s.describe(layer, leaf, maxFindings-len(findings))...); len(findings) == maxFindings {
			break
		}
	}
	return errors.Join(findings...)
}

// CheckOver validates a layer after merging it over a chart's own values, as helm does.
func (s *Schema) CheckOver(own, layer Layer) error {
	layer.Tree = merge([]Layer{own, layer}).Tree
	return s.Check(&layer)
}

// byPlace orders findings, so that the same values always have the same message. The validator
// returns them in the random order of maps.
func byPlace(a, b *jsonschema.ValidationError) int {
	return cmp.Or(
		slices.Compare(a.InstanceLocation, b.InstanceLocation),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
	)
}

func leaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(err.Causes) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// describe returns the findings for an error. It returns a limited number of findings for unknown
// keys.
func (s *Schema) describe(layer *Layer, err *jsonschema.ValidationError, room int) []error {
	path := err.InstanceLocation
	extra, ok := err.ErrorKind.(*kind.AdditionalProperties)
	if !ok {
		text := err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return []error{&Finding{layer.Where(path...), path, text}}
	}
	known := s.properties(err.SchemaURL)
	slices.Sort(extra.Properties)
	var findings []error
	for _, key := range extra.Properties[:min(len(extra.Properties), room)] {
		at := append(slices.Clone(path), key)
		help := "known keys: " + strings.Join(known, ", ")
		if near := humanize.Nearest(key, known); near != "" {
			help = "did you mean " + near + "?"
		}
		findings = append(findings, &Finding{layer.Where(at...), at, "unknown key; " + help})
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
