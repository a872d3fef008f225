// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// leftOut are the methods that templates cannot call, and why.
var leftOut = map[string]string{
	"semver.Version.Scan":          "changes the receiver",
	"semver.Version.UnmarshalJSON": "changes the receiver",
	"semver.Version.UnmarshalText": "changes the receiver",
}

// methodsOf returns the exported methods of a type and of its pointer type.
func methodsOf(typ reflect.Type) []string {
	if typ.Kind() == reflect.Interface {
		return nil
	}
	var names []string
	for method := range reflect.PointerTo(typ).Methods() {
		names = append(names, method.Name)
	}
	return names
}

// Each method of a template's values can be called, or is excluded for a documented reason.
func TestMethods_CoverEachMethod(t *testing.T) {
	known := slices.Collect(maps.Keys(leftOut))
	for typ, callable := range gotemplate.Callable() {
		for _, name := range methodsOf(typ) {
			full := typ.String() + "." + name
			at := slices.Index(known, full)
			require.NotEqual(t, slices.Contains(callable, name), at >= 0, "%s is either in the table of methods or left out", full)
			if at >= 0 {
				known = slices.Delete(known, at, at+1)
			}
		}
	}
	require.Empty(t, known, "there are no such methods")
}

// handOn are the functions whose result has no static type: it is, or contains, an argument, or
// what was read from YAML, JSON or TOML.
const handOn = `append chunk coalesce compact concat deepCopy default dict dig first fromJson fromJsonArray fromToml fromYaml
	fromYamlArray get index initial last list merge mergeOverwrite mustAppend mustChunk mustCompact mustDeepCopy mustFirst
	mustFromJson mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend mustPush mustRest mustReverse mustSlice
	mustUniq mustWithout omit pick pluck prepend push required rest reverse set slice ternary tuple uniq unset urlParse
	values without semver.Version.Value`

// If a template function returns a Go type with methods, the table contains these methods.
func TestMethods_CoverFunctionResults(t *testing.T) {
	callable := gotemplate.Callable()
	open := []string{}
	for name, result := range gotemplate.Results() {
		for _, typ := range within(result) {
			switch {
			case typ.Kind() == reflect.Interface && typ.NumMethod() == 0:
				open = append(open, name)
			case typ.Kind() == reflect.Interface || len(methodsOf(typ)) > 0:
				require.NotEmpty(t, callable[typ], "%s returns %s, none of whose methods are in the table", name, typ)
			}
		}
	}
	require.ElementsMatch(t, strings.Fields(handOn), open, "a look at what a function returns decides whether it belongs here")
}

// Decoded values, including dates, have no methods.
func TestMethods_ExcludeDecodedValues(t *testing.T) {
	got, err := execute(t, `{{ range list (fromYaml .Values.yaml) (fromJson .Values.json) (fromToml .Values.toml) (mustFromJson .Values.json) }}
{{- range . }}{{ typeOf . }} {{ end }}
{{ end }}`, values(
		"yaml", "a: 2024-05-01T10:00:00Z\nb: 1\nc: 1.5\nd: [2024-05-01]\ne: !!binary aGk=\nf: {g: 1}\n",
		"json", `{"a": "2024-05-01T10:00:00Z", "b": 1, "c": 1.5, "d": [true], "f": {"g": 1}}`,
		"toml", "a = 2024-05-01T10:00:00Z\nb = 1\nc = 1.5\nd = [2024-05-01]\n[f]\ng = 1\n[[h]]\ni = 10:00:00\n"))
	require.NoError(t, err)
	require.Equal(t, `string float64 float64 []interface {} string map[string]interface {}
string float64 float64 []interface {} map[string]interface {}
string int64 float64 []interface {} map[string]interface {} []map[string]interface {}
string float64 float64 []interface {} map[string]interface {}
`, strings.ReplaceAll(got, " \n", "\n"))
}

// within returns a type and the types that templates can reach from it.
func within(typ reflect.Type) []reflect.Type {
	all := []reflect.Type{typ}
	switch typ.Kind() {
	case reflect.Pointer:
		return within(typ.Elem())
	case reflect.Map:
		all = append(all, within(typ.Key())...)
		all = append(all, within(typ.Elem())...)
	case reflect.Slice, reflect.Array:
		all = append(all, within(typ.Elem())...)
	case reflect.Struct:
		for field := range typ.Fields() {
			if field.IsExported() {
				all = append(all, within(field.Type)...)
			}
		}
	}
	return all
}

// counter has a method of its own, one of its pointer type, and one that is not on the list.
type counter struct{ N int }

func (c counter) Plus(n int) counter { return counter{c.N + n} }
func (c *counter) Doubled() int      { return 2 * c.N }
func (c *counter) Reset() string     { c.N = 0; return "reset" }

type counters struct {
	Value   counter
	Pointer *counter
	None    *counter
	List    []counter
	ByName  map[string]counter
}

func newCounters() *counters {
	return &counters{counter{1}, &counter{2}, nil, []counter{{3}}, map[string]counter{"a": {4}}}
}

// Methods of values and of pointers are found as by package text/template.
func TestMethods_MatchTextTemplate(t *testing.T) {
	set := func(text string) *gotemplate.Set {
		compiled, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text}, gotemplate.Options{Methods: []gotemplate.Method{
			{Name: "Plus", Func: counter.Plus}, {Name: "Doubled", Func: (*counter).Doubled},
		}})
		require.NoError(t, err)
		return compiled
	}
	for _, expression := range []string{
		`.Led.Value.Plus 5`, `.Led.Value.Doubled`, `.Led.Pointer.Plus 5`, `.Led.Pointer.Doubled`, `.Led.None.Plus 5`, `.Led.None.Doubled`,
		`.Copied.Value.Plus 5`, `.Copied.Value.Doubled`, `.Copied.Pointer.Doubled`, `(.Led.Value.Plus 5).N`, `(.Led.Value.Plus 5).Doubled`,
		`(index .Led.List 0).Plus 5`, `(index .Led.List 0).Doubled`, `.Led.ByName.a.Plus 5`, `.Led.ByName.a.Doubled`, `5 | .Led.Value.Plus`,
		`range .Led.List }}{{ .Doubled }}{{ end`, `with .Led.Value }}{{ .Doubled }}{{ end`, `$x := .Led.Value }}{{ $x.Doubled`,
		`.Led.Value.Plus`, `.Led.Value.Plus "5"`, `.Led.Value.Plus 5 6`, `.Led.Value.Doubled 1`, `.Led.Value.N 1`, `.Led.Value.Minus 1`,
	} {
		t.Run(expression, func(t *testing.T) {
			var theirs strings.Builder
			data := map[string]any{"Led": newCounters(), "Copied": *newCounters()}
			text := "{{ " + expression + " }}"
			refused := template.Must(template.New("").Parse(text)).Execute(&theirs, data)
			ours, err := set(text).Execute(t.Context(), "c/templates/a.yaml", data)
			require.Equal(t, refused != nil, err != nil, "text/template says %v; we say %v", refused, err)
			if err == nil {
				require.Equal(t, theirs.String(), ours)
			}
		})
	}
}

// A template cannot call a method that is missing in the table.
func TestMethods_RejectUnlistedMethods(t *testing.T) {
	led := newCounters()
	data := values("list", []any{1})
	data["Files"], data["Led"] = gotemplate.Files{"a.txt": nil}, led
	for text, message := range map[string]string{
		`{{ .Led.Pointer.Reset }}`:            `.Led.Pointer has no key "Reset"; existing name: N`,
		`{{ .Led.Value.Plus 5 }}`:             `.Led.Value has no key "Plus"; existing name: N`,
		`{{ (semver "1.2.3").Scan "2.0.0" }}`: `semver "1.2.3" has no key "Scan"`,
		`{{ (semver "1.2.3").Majr }}`:         `semver "1.2.3" has no key "Majr"`,
		`{{ .Files.Contents }}`:               `.Files has no key "Contents"`,
		`{{ .Values.list.Len }}`:              `.Values.list is a list, not a map, and has no key "Len"`,
	} {
		_, err := execute(t, text, data)
		require.ErrorContains(t, err, message, text)
	}
	require.Equal(t, newCounters(), led)
}
