// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

func compiled(t *testing.T, text string) *Schema {
	t.Helper()
	schema, err := Schemas().CompileSchema("values.schema.json", []byte(text))
	require.NoError(t, err)
	return schema
}

// A schema is rejected if it refers to itself without an end, refers to another document, or has a pattern that is too
// large.
func TestCompileSchema_RejectsEndlessOrRemoteSchemas(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
	}{
		"a file":             {`{"$ref": "file:///etc/passwd"}`, []string{"file:///etc/passwd", "the schema refers to another document", "$defs"}},
		"a file beside it":   {`{"$ref": "other.json"}`, []string{"other.json", "refers to another document"}},
		"an address":         {`{"$ref": "http://metadata/x"}`, []string{"http://metadata/x", "refers to another document"}},
		"a dialect":          {`{"$schema": "file:///etc/passwd"}`, []string{"refers to another document"}},
		"itself":             {`{"$ref": "#"}`, []string{"refers to itself"}},
		"itself, by others":  {`{"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}`, []string{"refers to itself"}},
		"a dynamic one":      {`{"$dynamicRef": "#a", "$defs": {"b": {"$dynamicAnchor": "a"}}}`, []string{"$dynamicRef", "use $ref"}},
		"a pattern too long": {`{"pattern": "` + strings.Repeat("a{1000}", 20) + `"}`, []string{"simplify it"}},
		"no JSON":            {`{`, []string{"unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Schemas().CompileSchema("values.schema.json", []byte(test.text))
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// A schema may refer to itself for nested values. Its validation ends, because values have a limited depth.
func TestCompileSchema_AcceptsRecursiveSchemas(t *testing.T) {
	tree := compiled(t, `{"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "additionalProperties": false}`)
	require.NoError(t, tree.Validate(map[string]any{"left": map[string]any{"right": map[string]any{}}}))
	var invalid *jsonschema.ValidationError
	require.ErrorAs(t, tree.Validate(map[string]any{"left": map[string]any{"right": 1.0}}), &invalid)
}

// costly are schemas and values of which each by itself is allowed.
func costly(t *testing.T) map[string]func() error {
	t.Helper()
	wide := map[string]any{}
	for i := range 14_000 {
		wide[fmt.Sprint(i)] = "x"
	}
	parts := strings.TrimSuffix(strings.Repeat(`{"type": "string"}, `, 1000), ", ")
	checks := func(text string, value any) func() error {
		schema := compiled(t, text)
		return func() error { return schema.Validate(value) }
	}
	return map[string]func() error{
		"many parts for many values": checks(`{"additionalProperties": {"allOf": [`+parts+`]}}`, wide),
		"a pattern for a long text":  checks(`{"pattern": "^(.*a){20}.{900}$"}`, strings.Repeat("ab", 250_000)),
		"a pattern for many keys":    checks(`{"patternProperties": {"^(.*a){20}.{900}$": {}}}`, wide),
	}
}

func TestValidate_StopsAfterMaxSteps(t *testing.T) {
	for name, validate := range costly(t) {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocated(func() { err = validate() })
			var refused *Error
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, "400000 steps")
			require.LessOrEqual(t, used, uint64(64*mebibyte))
		})
	}
}

// Goroutines can validate with one schema at the same time, because each call has its own meter.
func TestValidate_SupportsConcurrentCalls(t *testing.T) {
	schema := compiled(t, `{"additionalProperties": {"type": "string", "pattern": "^a+$"}}`)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 100 {
				err := schema.Validate(map[string]any{"k": strings.Repeat("a", n) + "b"[:n%2]})
				if (err == nil) != (n > 0 && n%2 == 0) {
					t.Error(n, err)
				}
			}
		})
	}
	all.Wait()
}
