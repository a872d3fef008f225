// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxExpanded is the maximum number of parts of a schema that may apply on the way to one value, with every $ref
	// expanded.
	maxExpanded = 10_000
	// maxInstructions is the maximum number of instructions of a pattern.
	maxInstructions = 10_000
	// perStep is the product of bytes and instructions of a pattern that counts as one step.
	perStep = 64
)

// pattern is a regular expression that counts the steps of its matches.
type pattern struct {
	*regexp.Regexp

	program      *program
	instructions int
}

// MatchString implements jsonschema.Regexp.
func (p *pattern) MatchString(text string) bool {
	p.program.spendSteps(1 + len(text)*p.instructions/perStep)
	return p.Regexp.MatchString(text)
}

// compilePattern implements jsonschema.RegexpEngine.
func (p *program) compilePattern(text string) (jsonschema.Regexp, error) {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	code, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(code.Inst) > maxInstructions {
		return nil, fmt.Errorf("the pattern %.40q… is too large: simplify it", text)
	}
	return &pattern{Regexp: compiled, program: p, instructions: len(code.Inst)}, nil
}

// step is an extension of a schema that counts each validation against this schema.
type step struct {
	program *program
	weight  int
}

// Validate implements jsonschema.SchemaExt.
func (s *step) Validate(*jsonschema.ValidatorContext, any) { s.program.spendSteps(s.weight) }

// instrument finds all parts of the schema and makes the library count them.
func (p *program) instrument() error {
	pending := []*jsonschema.Schema{p.root}
	for len(pending) > 0 {
		schema := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if _, ok := p.subschemas[schema]; ok {
			continue
		}
		if schema.DynamicRef != nil || schema.RecursiveRef != nil {
			return errors.New("$dynamicRef and $recursiveRef are not supported, because their size cannot be determined: use $ref")
		}
		children := collectSubschemas(schema)
		children.weight = schemaWeight(schema, &children)
		p.subschemas[schema] = children
		schema.Extensions = append(schema.Extensions, &step{program: p, weight: children.weight})
		pending = slices.Concat(pending, children.sameValue, children.everyChild, children.namedChild)
	}
	return nil
}

// subschemas are the subschemas of a schema, by the values to which they apply: sameValue to the same value,
// everyChild to each item or property in it, and at most one of namedChild to each item or property. weight is the
// number of parts of the schema that apply to a value, without its subschemas.
type subschemas struct {
	sameValue, everyChild, namedChild []*jsonschema.Schema
	weight                            int
}

// collectSubschemas returns the direct subschemas of a schema.
func collectSubschemas(s *jsonschema.Schema) subschemas {
	var children subschemas
	add := func(group *[]*jsonschema.Schema, schemas ...*jsonschema.Schema) {
		for _, schema := range schemas {
			if schema != nil {
				*group = append(*group, schema)
			}
		}
	}
	addAny := func(group *[]*jsonschema.Schema, value any) {
		switch schemas := value.(type) {
		case *jsonschema.Schema:
			add(group, schemas)
		case []*jsonschema.Schema:
			add(group, schemas...)
		}
	}
	add(&children.sameValue, s.Ref, s.Not, s.If, s.Then, s.Else)
	add(&children.sameValue, s.AllOf...)
	add(&children.sameValue, s.AnyOf...)
	add(&children.sameValue, s.OneOf...)
	for _, schema := range s.DependentSchemas {
		add(&children.sameValue, schema)
	}
	for _, dependency := range s.Dependencies {
		addAny(&children.sameValue, dependency)
	}
	add(&children.everyChild, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	addAny(&children.everyChild, s.AdditionalProperties)
	addAny(&children.everyChild, s.AdditionalItems)
	for _, schema := range s.PatternProperties {
		add(&children.everyChild, schema)
	}
	addAny(&children.namedChild, s.Items)
	add(&children.namedChild, s.PrefixItems...)
	for _, schema := range s.Properties {
		add(&children.namedChild, schema)
	}
	return children
}

// schemaWeight returns the number of parts of a schema that apply to a value, without its subschemas.
func schemaWeight(s *jsonschema.Schema, children *subschemas) int {
	weight := 1 + len(children.sameValue) + len(s.Required) + len(s.PatternProperties)
	if s.Enum != nil {
		weight += countValues(s.Enum.Values)
	}
	if s.Const != nil {
		weight += countValues(*s.Const)
	}
	if s.UniqueItems {
		weight += stepBytes // The whole content of the list, because its size is not known here.
	}
	for _, names := range s.DependentRequired {
		weight += len(names)
	}
	for _, names := range s.Dependencies {
		if names, ok := names.([]string); ok {
			weight += len(names)
		}
	}
	return weight
}

// countValues returns the number of values in a value, including the value itself.
func countValues(value any) int {
	count := 1
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			count += countValues(item)
		}
	case map[string]any:
		for _, item := range value {
			count += countValues(item)
		}
	}
	return count
}

// measureSchema rejects a schema if too many of its parts apply on the way to a value at a depth.
func (p *program) measureSchema(depth int) error {
	e := expansion{subschemas: p.subschemas, sizes: map[*jsonschema.Schema]int{}, childSizes: map[*jsonschema.Schema]int{}}
	for range depth + 1 {
		clear(e.sizes)
		for schema := range p.subschemas {
			if _, err := e.schemaSize(schema); err != nil {
				return err
			}
		}
		if e.sizes[p.root] > maxExpanded {
			return newError(Nodes, "use fewer $ref, or nest them less", "with every $ref replaced, more than %d parts of the schema apply to one value", maxExpanded)
		}
		if maps.Equal(e.sizes, e.childSizes) {
			return nil
		}
		e.sizes, e.childSizes = e.childSizes, e.sizes
	}
	return nil
}

// expansion computes how many parts of each schema apply on the way to a value, with every $ref expanded. sizes are
// the results for values at one depth, and childSizes the results for values that are nested one level less deep.
type expansion struct {
	subschemas        map[*jsonschema.Schema]subschemas
	sizes, childSizes map[*jsonschema.Schema]int
}

// underway is the size of a schema while its parts are added up.
const underway = -1

// schemaSize returns the number of parts of a schema that apply on the way to a value, at most maxExpanded+1. It
// returns an error for a schema that applies to the same value again.
func (e *expansion) schemaSize(schema *jsonschema.Schema) (int, error) {
	if size, ok := e.sizes[schema]; ok {
		if size == underway {
			return 0, fmt.Errorf("the schema at %s refers to itself", schema.Location)
		}
		return size, nil
	}
	e.sizes[schema] = underway
	total, largest := e.subschemas[schema].weight, 0
	for _, child := range e.subschemas[schema].sameValue {
		size, err := e.schemaSize(child)
		if err != nil {
			return 0, err
		}
		total += size
	}
	for _, child := range e.subschemas[schema].everyChild {
		total += e.childSizes[child]
	}
	for _, child := range e.subschemas[schema].namedChild {
		largest = max(largest, e.childSizes[child])
	}
	e.sizes[schema] = min(total+largest, maxExpanded+1)
	return e.sizes[schema], nil
}
