// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

func shop() map[string]any {
	data := values(
		"sidecar", map[string]any{"image": "vector:1", "imagePullPolicy": "Always", "name": "vector", "empty": "", "null": nil,
			"env": []any{map[string]any{"name": "A"}}},
		"labels", map[string]string{"app": "shop"},
		"list", []any{"a", "b"},
	)
	data["Files"] = gotemplate.Files{"a.txt": []byte("A"), "b.txt": []byte("B")}
	return data
}

func execute(t testing.TB, text string, data map[string]any) (string, error) {
	t.Helper()
	set, err := compileOne(text, gotemplate.Budget{})
	require.NoError(t, err)
	return set.Execute(t.Context(), "one/templates/a.yaml", data)
}

func TestExecute_RejectsMissingKeys(t *testing.T) {
	for name, c := range map[string]struct{ text, at, message string }{
		"printed, the nearest key":         {"a: {{ .Values.sidecar.imagee }}", ":1:7", `.Values.sidecar has no key "imagee"; did you mean "image"?`},
		"printed, no key is near":          {"a: {{ .Values.sidecar.zzz }}", ":1:7", `.Values.sidecar has no key "zzz"; existing names: empty, env, image, imagePullPolicy, name, null`},
		"in the middle of a path":          {"\n{{ .Values.sidecr.image }}", ":2:4", `.Values has no key "sidecr"; did you mean "sidecar"?`},
		"in the middle, behind if":         {"{{ if .Values.sidecr.image }}{{ end }}", ":1:7", `.Values has no key "sidecr"`},
		"in the middle, behind default":    {"{{ default 1 .Values.a.b.c }}", ":1:14", `.Values has no key "a"`},
		"of a variable":                    {"{{ $s := .Values.sidecar }}{{ $s.nam }}", ":1:31", `$s has no key "nam"; did you mean "name"?`},
		"held by a variable":               {"{{ $x := .Values.sidecar.imagee }}\n{{ $x }}", ":2:4", `.Values.sidecar has no key "imagee"`},
		"of a rebound dot":                 {"{{ with .Values.sidecar }}{{ .nam }}{{ end }}", ":1:30", `. has no key "nam"`},
		"of an item":                       {"{{ range .Values.sidecar.env }}{{ .vale }}{{ end }}", ":1:35", `. has no key "vale"; existing name: name`},
		"of a map of texts":                {"{{ .Values.labels.ap }}", ":1:4", `.Values.labels has no key "ap"; did you mean "app"?`},
		"of parentheses":                   {"{{ (.Values.sidecar).nam }}", ":1:21", `has no key "nam"`},
		"given to a function":              {"{{ upper .Values.sidecar.imagee }}", ":1:10", `has no key "imagee"`},
		"piped into a function":            {"{{ .Values.sidecar.imagee | quote }}", ":1:29", `has no key "imagee"`},
		"given to toYaml":                  {"{{ toYaml .Values.notThere | nindent 2 }}", ":1:11", `.Values has no key "notThere"`},
		"put into a dict":                  {`{{ $x := dict "a" .Values.notThere }}`, ":1:19", `.Values has no key "notThere"`},
		"neither of two defaults":          {"{{ default .Values.x .Values.y }}", ":1:4", `.Values has no key "x"`},
		"neither of or":                    {"{{ or .Values.x .Values.y }}", ":1:4", `.Values has no key "y"`},
		"none of coalesce":                 {"{{ coalesce .Values.x .Values.y }}", ":1:4", `.Values has no key "y"`},
		"by index":                         {`{{ index .Values.sidecar "imagee" }}`, ":1:4", `has no key "imagee"; did you mean "image"?`},
		"by index, in the middle":          {`{{ index .Values "a" "b" }}`, ":1:4", `has no key "a"`},
		"below null":                       {"{{ .Values.sidecar.null.x }}", ":1:4", `.Values.sidecar.null is null and has no key "x"`},
		"below a text":                     {"{{ .Values.sidecar.image.tag }}", ":1:4", `.Values.sidecar.image is a string, not a map, and has no key "tag"`},
		"below a list":                     {"{{ .Values.list.a }}", ":1:4", `.Values.list is a list`},
		"in an included template":          {"{{ define \"x\" }}\n{{ .nam }}{{ end }}{{ include \"x\" .Values.sidecar }}", ":2:4", `. has no key "nam"`},
		"as the root of a template":        {"{{ define \"x\" }}{{ . }}{{ end }}{{ include \"x\" .Values.notThere }}", ":1:20", `.Values has no key "notThere"`},
		"compared by size":                 {"{{ gt .Values.count 1 }}", ":1:7", `.Values has no key "count"`},
		"an index out of range":            {"{{ index .Values.list 5 }}", ":1:4", "index 5 is out of range; the value has 2 items"},
		"a file":                           {`{{ .Files.Get "c.txt" }}`, ":1:4", `unknown file "c.txt"; did you mean "a.txt"?`},
		"a file, with nothing near":        {`{{ .Files.Lines "config/x" }}`, ":1:4", `existing names: a.txt, b.txt`},
		"a bad regular expression":         {`{{ regexMatch "[" "x" }}`, ":1:4", "missing closing ]"},
		"a message of required":            {"{{ required \"image is needed\" .Values.sidecar.empty }}", ":1:4", "image is needed"},
		"a message of required, missing":   {"{{ .Values.x | required \"x is needed\" }}", ":1:16", "x is needed"},
		"a message of fail":                {"{{ fail \"not like this\" }}", ":1:4", "not like this"},
		"a bad argument":                   {"{{ indent .Values.sidecar.image \"x\" }}", ":1:4", "argument 1: wrong type for value; expected int; got string"},
		"a wrong number of arguments":      {"{{ upper }}", ":1:4", "wrong number of arguments for function upper: want 1, got 0"},
		"a null argument":                  {"{{ append .Values.sidecar.null 1 }}", ":1:4", "calling append: argument 1 is null"},
		"a division by zero":               {"{{ div 1 0 }}", ":1:4", "calling div"},
		"an include of a computed nothing": {"{{ include (print \"a\" \"b\") . }}", ":1:4", `unknown template "ab"`},
		"a range over a text":              {"{{ range .Values.sidecar.image }}{{ end }}", ":1:10", "range cannot iterate over a string"},
		"in a text given to tpl":           {"\n{{ tpl \"x\\n{{ .nam }}\" .Values.sidecar }}", ":2:4", `the argument of tpl, line 2, column 4 at <.nam>: . has no key "nam"`},
		"a parse error in tpl":             {"\n{{ tpl \"{{ if }}\" . }}", ":2:4", `the argument of tpl, line 1, column 1: missing value for if`},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := execute(t, c.text, shop())
			found := findings(t, err)
			require.Empty(t, text)
			require.Contains(t, err.Error(), "one/templates/a.yaml"+c.at)
			require.Contains(t, err.Error(), c.message)
			require.Empty(t, found[0].Budget)
			require.NotEmpty(t, found[0].SourceLine)
		})
	}
}

// A template may use a missing key in default, if, with and similar expressions.
func TestExecute_SupportsOptionalKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{{ default "d" .Values.x }}`:                                                         "d",
		`{{ .Values.x | default "d" | quote }}`:                                               `"d"`,
		`{{ if .Values.x }}a{{ else }}b{{ end }}`:                                             "b",
		`{{ with .Values.x }}a{{ else }}b{{ end }}`:                                           "b",
		`{{ with .Values.sidecar.x }}{{ .y }}{{ end }}`:                                       "",
		`{{ range .Values.x }}a{{ else }}b{{ end }}`:                                          "b",
		`{{ if and .Values.x .Values.list }}a{{ else }}b{{ end }}`:                            "b",
		`{{ if or .Values.x .Values.list }}a{{ else }}b{{ end }}`:                             "a",
		`{{ or .Values.x "alt" }}`:                                                            "alt",
		`{{ not .Values.x }}`:                                                                 "true",
		`{{ empty .Values.x }}`:                                                               "true",
		`{{ coalesce .Values.x .Values.sidecar.name }}`:                                       "vector",
		`{{ ternary "a" "b" (empty .Values.x) }}`:                                             "a",
		`{{ ternary .Values.x "b" false }}`:                                                   "b",
		`{{ required "no" (default 1 .Values.x) }}`:                                           "1",
		`{{ hasKey .Values "x" }} {{ hasKey .Values.x "y" }}`:                                 "false false",
		`{{ dig "x" "y" "d" .Values }} {{ dig "x" "d" .Values.no }}`:                          "d d",
		`{{ get .Values "x" }}[{{ get .Values.x "y" }}]`:                                      "[]",
		`{{ kindIs "map" .Values.x }} {{ kindOf .Values.x }}`:                                 "false invalid",
		`{{ typeIs "string" .Values.x }}`:                                                     "false",
		`{{ eq .Values.x "y" }} {{ ne .Values.x "y" }} {{ eq .Values.x nil }}`:                "false true true",
		`{{ has "a" .Values.x }} {{ all .Values.x }} {{ any .Values.x 1 }}`:                   "false false true",
		`{{ $x := .Values.x }}{{ if $x }}a{{ end }}{{ default "d" $x }}`:                      "d",
		`{{ if not (hasKey .Values.sidecar "x") }}a{{ end }}`:                                 "a",
		`{{ (index .Values "x") | default "d" }}`:                                             "d",
		`{{ pluck "x" .Values (dict "x" 1) | first }}`:                                        "1",
		`{{ define "t" }}{{ if . }}a{{ else }}b{{ end }}{{ end }}{{ include "t" .Values.x }}`: "b",
		`[{{ .Values.sidecar.null }}]`:                                                        "[]",
		`{{ deepEqual .Values.x nil }}`:                                                       "true",
		`{{ if .Values.x }}{{ .Values.x.y.z }}{{ end }}`:                                      "",
		`{{ and .Values.list .Values.sidecar.name }}`:                                         "vector",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := execute(t, text, shop())
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NotContains(t, got, "<no value>")
		})
	}
}

// An error in an included template has its position, and those of the include calls that led there.
func TestError_ListsIncludesUpToError(t *testing.T) {
	set, err := gotemplate.Compile(map[string]string{
		"c/templates/_h.tpl": "{{ define \"inner\" }}\n  {{ .Values.nam }}\n{{ end }}\n{{ define \"outer\" }}{{ include \"inner\" . }}{{ end }}",
		"c/templates/a.yaml": "x: 1\ny: {{ include \"outer\" . | nindent 2 }}\n",
	}, gotemplate.Options{})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "c/templates/a.yaml", values("name", 1))
	found := findings(t, err)
	require.Equal(t, &gotemplate.Error{
		Template: "c/templates/_h.tpl", Define: "inner", Line: 2, Column: 6, Expression: ".Values.nam",
		SourceLine: "  {{ .Values.nam }}",
		Message:    `.Values has no key "nam"`,
		Hint:       `did you mean "name"?`,
		Trail:      []string{"c/templates/_h.tpl:4:24", "c/templates/a.yaml:2:7"},
	}, withoutCause(found[0]))
	require.Equal(t, `c/templates/_h.tpl:2:6: executing "inner" at <.Values.nam>: .Values has no key "nam"; did you mean "name"? `+
		`(called at c/templates/_h.tpl:4:24, from c/templates/a.yaml:2:7)`, err.Error())
}

func withoutCause(e *gotemplate.Error) *gotemplate.Error {
	return &gotemplate.Error{
		Template: e.Template, Define: e.Define, Line: e.Line, Column: e.Column, Expression: e.Expression, SourceLine: e.SourceLine,
		Message: e.Message, Hint: e.Hint, Budget: e.Budget, Trail: e.Trail,
	}
}
