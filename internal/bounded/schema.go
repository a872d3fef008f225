// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"errors"
	"math"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON schema that does not load other schemas. Its validation always ends, because it counts its
// steps. It is safe for concurrent use.
type Schema struct {
	name string
	raw  any

	mu sync.Mutex
	// idle are compiled programs that no validation uses at the moment.
	idle []*program
}

// CompileSchema compiles a JSON schema; its name is for errors. It rejects schemas that are too large with every $ref
// expanded.
func (l Limits) CompileSchema(name string, text []byte) (*Schema, error) {
	if _, err := l.MeasureJSON(text); err != nil {
		return nil, err
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	schema := &Schema{name: name, raw: raw}
	compiled, err := schema.compile()
	if err != nil {
		return nil, err
	}
	if err := compiled.measureSchema(l.Depth); err != nil {
		return nil, err
	}
	schema.idle = append(schema.idle, compiled)
	return schema, nil
}

// Raw returns the schema as written, as JSON types. It must not be modified.
func (s *Schema) Raw() any { return s.raw }

// Validate validates a value of JSON types. The error is a *jsonschema.ValidationError, or an *Error if the validation
// takes too many steps, which is some tenths of a second.
func (s *Schema) Validate(value any) error {
	p, err := s.acquire()
	if err != nil {
		return err
	}
	defer s.release(p)
	return p.validate(value)
}

// acquire returns a program for one validation. A program counts its steps, so concurrent validations must not share
// it.
func (s *Schema) acquire() (*program, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		p := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return p, nil
	}
	return s.compile()
}

// release returns a program after its use.
func (s *Schema) release(p *program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, p)
}

// nothing is a loader that returns an error for every URL, so that schemas cannot load files or contact servers.
type nothing struct{}

func (nothing) Load(string) (any, error) {
	return nil, errors.New("the schema refers to another document: copy that schema into $defs, and refer to it there")
}

// compile returns a new program for the schema.
func (s *Schema) compile() (*program, error) {
	// Compiling validates the schema against its own metaschema, which must not be limited.
	p := &program{remainingSteps: math.MaxInt, subschemas: map[*jsonschema.Schema]subschemas{}}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nothing{})
	compiler.UseRegexpEngine(p.compilePattern)
	url := "schema:///" + s.name // The library would take a name alone for the path of a file.
	if err := compiler.AddResource(url, s.raw); err != nil {
		return nil, err
	}
	root, err := compiler.Compile(url)
	if err != nil {
		return nil, err
	}
	p.root = root
	err = p.instrument()
	return p, err
}

// maxSteps is the maximum number of steps of a validation.
const maxSteps = 400_000

// program is a compiled schema, used by one goroutine at a time.
type program struct {
	root       *jsonschema.Schema
	subschemas map[*jsonschema.Schema]subschemas

	// remainingSteps is the number of remaining steps.
	remainingSteps int
}

// validate validates a value within maxSteps. It converts the panic of spendSteps to its error.
func (p *program) validate(value any) (err error) {
	defer func() {
		cause := recover()
		if refused, ok := cause.(*Error); ok {
			err = refused
		} else if cause != nil {
			panic(cause)
		}
	}()
	p.remainingSteps = maxSteps
	return p.root.Validate(value)
}

// spendSteps counts steps, and panics if there are too many. The library that calls it cannot be stopped in another
// way.
func (p *program) spendSteps(steps int) {
	if p.remainingSteps -= steps; p.remainingSteps < 0 {
		panic(newError(Nodes, "reduce the values, or simplify the schema", "validating the values against the schema takes more than %d steps", maxSteps))
	}
}
