// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// values returns template data whose .Values are the given pairs.
func values(pairs ...any) map[string]any {
	tree := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tree[pairs[i].(string)] = pairs[i+1]
	}
	return map[string]any{"Values": tree}
}

func TestCompile_ReportsFaultsWithPosition(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		place   string
		message string
	}{
		"a parse error names the line":         {files: map[string]string{"c/a.yaml": "x\n{{ if }}\n"}, place: "c/a.yaml:2", message: "missing value for if"},
		"an action that is not closed":         {files: map[string]string{"c/a.yaml": "x\ny: {{ .Values.a }\n"}, place: "c/a.yaml:2:4", message: "unexpected"},
		"a block that is not closed":           {files: map[string]string{"c/a.yaml": "{{ if true }}"}, place: "c/a.yaml:1", message: "unexpected EOF"},
		"an include of nothing":                {files: map[string]string{"c/a.yaml": "\n {{ include \"c.nam\" . }}{{ define \"c.name\" }}x{{ end }}"}, place: "c/a.yaml:2:13", message: `unknown template "c.nam"`},
		"a template action of nothing":         {files: map[string]string{"c/a.yaml": "{{ template \"none\" }}"}, place: "c/a.yaml:1", message: `unknown template "none"`},
		"a define in two files":                {files: map[string]string{"c/_a.tpl": "\n{{ define \"n\" }}1{{ end }}", "c/_b.tpl": "\n\n  {{- define \"n\" }}2{{ end }}"}, place: "c/_b.tpl:3:3", message: `template "n" is already defined at c/_a.tpl:2:1`},
		"a define twice in one file":           {files: map[string]string{"c/_a.tpl": "{{ define \"n\" }}1{{ end }}\n{{ define \"n\" }}2{{ end }}"}, place: "c/_a.tpl:2", message: `multiple definition of template "n"`},
		"a text that is too long":              {files: map[string]string{"c/a.yaml": strings.Repeat("x", 2<<20)}, place: "c/a.yaml:1", message: "longer than"},
		"more actions than any chart has":      {files: map[string]string{"c/a.yaml": strings.Repeat("{{.}}", 30_000)}, place: "c/a.yaml:1", message: "actions"},
		"blocks nested beyond reason":          {files: map[string]string{"c/a.yaml": strings.Repeat("{{if 1}}", 30_000)}, place: "c/a.yaml:1", message: "actions"},
		"parentheses nested beyond reason":     {files: map[string]string{"c/a.yaml": "{{" + strings.Repeat("(", 100_000)}, place: "c/a.yaml:1", message: "depth"},
		"a variable that is not defined":       {files: map[string]string{"c/a.yaml": "a\nb {{ $x }}"}, place: "c/a.yaml:2", message: `undefined variable "$x"`},
		"an unknown function, deep in a block": {files: map[string]string{"c/a.yaml": "{{ range .a }}{{ else }}{{ with .x }}{{ (foo) }}{{ end }}{{ end }}"}, place: "c/a.yaml:1:42", message: `unknown function "foo"`},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := gotemplate.Compile(c.files, gotemplate.Options{})
			require.Nil(t, set)
			found := findings(t, err)
			require.Contains(t, found[0].Error(), c.place)
			require.Contains(t, found[0].Message, c.message)
		})
	}
}

func TestCompile_SortsFindingsByFileAndLine(t *testing.T) {
	_, err := gotemplate.Compile(map[string]string{
		"c/b.yaml": "{{ now }}", "c/a.yaml": "{{ env \"A\" }}\n{{ uuidv4 }}",
	}, gotemplate.Options{})
	var places []string
	for _, one := range findings(t, err) {
		places = append(places, one.Template+":"+one.Message[10:13])
	}
	require.Equal(t, []string{"c/a.yaml:env", "c/a.yaml:uui", "c/b.yaml:now"}, places)
}

// At most 20 errors are reported, and only their explanations are computed.
func TestCompile_ExplainsOnlyReportedErrors(t *testing.T) {
	const many = 9_000
	var defined strings.Builder
	for i := range many {
		fmt.Fprintf(&defined, "{{ define \"d%d\" }}x{{ end }}\n", i)
	}
	for name, c := range map[string]struct {
		files map[string]string
		last  string
	}{
		"functions": {map[string]string{"c/a.yaml": strings.Repeat("{{ abcdefghijk 1 }}\n", many)}, "c/a.yaml:20:"},
		"includes":  {map[string]string{"c/_a.tpl": defined.String(), "c/b.yaml": strings.Repeat("{{ include \"d\" . }}\n", many)}, "c/b.yaml:20:"},
		"formats":   {map[string]string{"c/a.yaml": strings.Repeat("{{ printf \"%p\" 1 }}\n", many)}, "c/a.yaml:20:"},
		"defines":   {map[string]string{"c/_a.tpl": defined.String(), "c/_b.tpl": defined.String()}, "c/_b.tpl:20:"},
		"files":     {map[string]string{"c/_a.tpl": defined.String(), "c/_b.tpl": "\n" + defined.String(), "c/a.yaml": "{{"}, "c/_b.tpl:21:"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := gotemplate.Compile(c.files, gotemplate.Options{})
			runtime.ReadMemStats(&after)
			found := findings(t, err)
			require.Len(t, found, 20)
			require.Contains(t, found[19].Error(), c.last)
			requireAllocated(t, int(after.TotalAlloc-before.TotalAlloc), mostAllocated, name)
		})
	}
}

// The names are those of the template files, sorted. Files whose names start with _ contain only definitions.
func TestNames_ListFilesToRender(t *testing.T) {
	set, err := gotemplate.Compile(map[string]string{
		"c/templates/z.yaml": "", "c/templates/_h.tpl": "{{ define \"x\" }}{{ end }}", "c/templates/sub/a.yaml": "x",
	}, gotemplate.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"c/templates/sub/a.yaml", "c/templates/z.yaml"}, set.Names())
	text, err := set.Execute(t.Context(), "c/templates/z.yaml", nil)
	require.NoError(t, err)
	require.Empty(t, text)
}
