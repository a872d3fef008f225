// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

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

// piece is a part of the schema.
type piece struct {
	*jsonschema.Schema
	parts

	weight int
	// size is how much applies of it and below it on the way to a value; before is the same
	// for the previous nesting level.
	size, before int
	state        state
}

type state int8

const (
	unseen state = iota
	underway
	done
)

// instrument finds all parts of the schema and adds counting to them.
func (p *program) instrument() error {
	next := []*jsonschema.Schema{p.root}
	for len(next) > 0 {
		part := next[len(next)-1]
		next = next[:len(next)-1]
		if p.pieces[part] != nil {
			continue
		}
		if part.DynamicRef != nil || part.RecursiveRef != nil {
			return errors.New("it must not have $dynamicRef or $recursiveRef, because their size cannot be determined: use $ref")
		}
		below := partsOf(part)
		found := &piece{Schema: part, parts: below, weight: weightOf(part, &below)}
		p.pieces[part] = found
		part.Extensions = append(part.Extensions, &step{program: p, weight: found.weight})
		next = append(next, below.here...)
		next = append(next, below.each...)
		next = append(next, below.one...)
	}
	return nil
}

// parts are the subschemas of a schema: here apply to the same value, each to every item in
// it, and for each item at most one of one applies.
type parts struct{ here, each, one []*jsonschema.Schema }

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
		weight += stepBytes // All that is in the list, which is more than can be told here.
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

// measure refuses a schema of which too much applies on the way to a value that lies so
// deep.
func (p *program) measure(depth int) error {
	order, err := p.ordered()
	if err != nil {
		return err
	}
	for range depth + 1 {
		hasGrown := false
		for _, part := range order {
			part.size = part.sum(p.pieces)
			hasGrown = hasGrown || part.size > part.before
		}
		if p.pieces[p.root].size > maxExpanded {
			return refusal(Nodes, "refer to less, or nest it less", "with every $ref written out, more than %d parts of the schema apply on the way to one value", maxExpanded)
		}
		if !hasGrown {
			return nil
		}
		for _, part := range order {
			part.before = part.size
		}
	}
	return nil
}

// sum adds up what applies of a part and below it.
func (p *piece) sum(pieces map[*jsonschema.Schema]*piece) int {
	size, largest := p.weight, 0
	for _, other := range p.here {
		size += pieces[other].size
	}
	for _, other := range p.each {
		size += pieces[other].before
	}
	for _, other := range p.one {
		largest = max(largest, pieces[other].before)
	}
	return min(size+largest, maxExpanded+1)
}

// ordered returns the parts of the schema so that each comes after those that are held
// against the same value. One that refers to itself there would never end.
func (p *program) ordered() ([]*piece, error) {
	order := make([]*piece, 0, len(p.pieces))
	var visit func(part *piece) error
	visit = func(part *piece) error {
		switch part.state {
		case done:
			return nil
		case underway:
			return fmt.Errorf("%s stands for itself, so that it never ends", part.Location)
		case unseen:
		}
		part.state = underway
		for _, other := range part.here {
			if err := visit(p.pieces[other]); err != nil {
				return err
			}
		}
		part.state = done
		order = append(order, part)
		return nil
	}
	for _, part := range p.pieces {
		if err := visit(part); err != nil {
			return nil, err
		}
	}
	return order, nil
}
