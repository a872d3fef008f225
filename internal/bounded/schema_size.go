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
	// maxExpanded is how much of a schema may apply on the way to one value, with every $ref
	// expanded.
	maxExpanded = 10_000
	// maxInstructions is how many instructions a pattern may have.
	maxInstructions = 10_000
	// perStep is how many bytes times instructions of a pattern count as one step.
	perStep = 64
)

// pattern is a regular expression that counts its work.
type pattern struct {
	*regexp.Regexp

	program      *program
	instructions int
}

// MatchString implements jsonschema.Regexp.
func (p *pattern) MatchString(text string) bool {
	p.program.spend(1 + len(text)*p.instructions/perStep)
	return p.Regexp.MatchString(text)
}

// pattern implements jsonschema.RegexpEngine.
func (p *program) pattern(text string) (jsonschema.Regexp, error) {
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

// step makes the library count each validation against a part of the schema.
type step struct {
	program *program
	weight  int
}

// Validate implements jsonschema.SchemaExt.
func (s *step) Validate(*jsonschema.ValidatorContext, any) { s.program.spend(s.weight) }

// instrument finds all parts of the schema and makes the library count them.
func (p *program) instrument() error {
	next := []*jsonschema.Schema{p.root}
	for len(next) > 0 {
		part := next[len(next)-1]
		next = next[:len(next)-1]
		if _, ok := p.parts[part]; ok {
			continue
		}
		if part.DynamicRef != nil || part.RecursiveRef != nil {
			return errors.New("$dynamicRef and $recursiveRef are not supported, because their size cannot be determined: use $ref")
		}
		below := partsOf(part)
		below.weight = weightOf(part, &below)
		p.parts[part] = below
		part.Extensions = append(part.Extensions, &step{program: p, weight: below.weight})
		next = slices.Concat(next, below.here, below.each, below.one)
	}
	return nil
}

// parts are the subschemas of a schema: here apply to the same value, each to every item in
// it, and for each item at most one of one applies. weight is how much of the schema applies to a value, without them.
type parts struct {
	here, each, one []*jsonschema.Schema
	weight          int
}

func partsOf(s *jsonschema.Schema) parts {
	var found parts
	add := func(to *[]*jsonschema.Schema, of ...*jsonschema.Schema) {
		for _, part := range of {
			if part != nil {
				*to = append(*to, part)
			}
		}
	}
	addAny := func(to *[]*jsonschema.Schema, of any) {
		switch of := of.(type) {
		case *jsonschema.Schema:
			add(to, of)
		case []*jsonschema.Schema:
			add(to, of...)
		}
	}
	add(&found.here, s.Ref, s.Not, s.If, s.Then, s.Else)
	add(&found.here, s.AllOf...)
	add(&found.here, s.AnyOf...)
	add(&found.here, s.OneOf...)
	for _, part := range s.DependentSchemas {
		add(&found.here, part)
	}
	for _, part := range s.Dependencies {
		addAny(&found.here, part)
	}
	add(&found.each, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	addAny(&found.each, s.AdditionalProperties)
	addAny(&found.each, s.AdditionalItems)
	for _, part := range s.PatternProperties {
		add(&found.each, part)
	}
	addAny(&found.one, s.Items)
	add(&found.one, s.PrefixItems...)
	for _, part := range s.Properties {
		add(&found.one, part)
	}
	return found
}

// weightOf returns how much of a schema applies to a value, without its subschemas.
func weightOf(s *jsonschema.Schema, below *parts) int {
	weight := 1 + len(below.here) + len(s.Required) + len(s.PatternProperties)
	if s.Enum != nil {
		weight += countOf(s.Enum.Values)
	}
	if s.Const != nil {
		weight += countOf(*s.Const)
	}
	if s.UniqueItems {
		weight += stepBytes // The whole content of the list, because its size is not known here.
	}
	for _, names := range s.DependentRequired {
		weight += len(names)
	}
	for _, names := range s.Dependencies {
		if names, is := names.([]string); is {
			weight += len(names)
		}
	}
	return weight
}

// countOf is how many values there are in one.
func countOf(value any) int {
	count := 1
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			count += countOf(item)
		}
	case map[string]any:
		for _, item := range value {
			count += countOf(item)
		}
	}
	return count
}

// measure rejects a schema if too many of its parts apply on the way to a value at a depth.
func (p *program) measure(depth int) error {
	e := expansion{parts: p.parts, sizes: map[*jsonschema.Schema]int{}, below: map[*jsonschema.Schema]int{}}
	for range depth + 1 {
		clear(e.sizes)
		for part := range p.parts {
			if _, err := e.size(part); err != nil {
				return err
			}
		}
		if e.sizes[p.root] > maxExpanded {
			return refusal(Nodes, "refer to less, or nest it less", "with every $ref written out, more than %d parts of the schema apply on the way to one value", maxExpanded)
		}
		if maps.Equal(e.sizes, e.below) {
			return nil
		}
		e.sizes, e.below = e.below, e.sizes
	}
	return nil
}

// expansion is how many parts of each schema apply on the way to a value, with every $ref written out. below is the same for
// values that are nested one level less.
type expansion struct {
	parts        map[*jsonschema.Schema]parts
	sizes, below map[*jsonschema.Schema]int
}

// underway is the size of a schema that is being added up.
const underway = -1

func (e *expansion) size(schema *jsonschema.Schema) (int, error) {
	if size, ok := e.sizes[schema]; ok {
		if size == underway {
			return 0, fmt.Errorf("%s stands for itself, so that it never ends", schema.Location)
		}
		return size, nil
	}
	e.sizes[schema] = underway
	total, largest := e.parts[schema].weight, 0
	for _, part := range e.parts[schema].here {
		size, err := e.size(part)
		if err != nil {
			return 0, err
		}
		total += size
	}
	for _, part := range e.parts[schema].each {
		total += e.below[part]
	}
	for _, part := range e.parts[schema].one {
		largest = max(largest, e.below[part])
	}
	e.sizes[schema] = min(total+largest, maxExpanded+1)
	return e.sizes[schema], nil
}
