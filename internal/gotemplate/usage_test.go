// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// A define is used if a call in an executed file can reach it with any data. A computed name may be each name that has
// the constant parts of the expression.
func TestUsage_FollowsCallsFromExecutedFiles(t *testing.T) {
	const helpers = `{{ define "a.one" }}1{{ end }}{{ define "a.two" }}2{{ end }}{{ define "b.one" }}{{ include "b.two" . }}{{ end }}{{ define "b.two" }}{{ end }}`
	const none, all = "", "a.one a.two b.one b.two"
	for name, test := range map[string]struct {
		main string
		// unused are the names that are reported, and unknown those that a computed call may reach.
		unused, unknown string
	}{
		"no call":                          {main: `x`, unused: all},
		"a constant name":                  {main: `{{ include "a.one" . }}`, unused: "a.two b.one b.two"},
		"a template action":                {main: `{{ template "a.one" }}`, unused: "a.two b.one b.two"},
		"a call within a define":           {main: `{{ include "b.one" . }}`, unused: "a.one a.two"},
		"a branch that no value selects":   {main: `{{ if .Values.never }}{{ with .x }}{{ range .y }}{{ else }}{{ if eq (include "a.one" .) "1" }}{{ end }}{{ end }}{{ end }}{{ end }}`, unused: "a.two b.one b.two"},
		"an argument of a pipeline":        {main: `{{ .Values | include "a.one" | nindent 2 }}`, unused: "a.two b.one b.two"},
		"a comment":                        {main: `{{/* include "a.one" . */}}`, unused: all},
		"a text that looks like a call":    {main: `include "a.one" .{{ "include \"a.one\" ." }}`, unused: all},
		"a define that only calls itself":  {main: `{{ define "own" }}{{ include "own" . }}{{ end }}`, unused: "own " + all},
		"a block":                          {main: `{{ block "own" . }}{{ include "a.one" . }}{{ end }}`, unused: "a.two b.one b.two"},
		"one of two constants":             {main: `{{ include (ternary "a.one" "a.two" .Values.x) . }}`, unused: "b.one b.two"},
		"the same in a pipeline":           {main: `{{ include (.Values.x | ternary "a.one" "a.two") . }}`, unused: "b.one b.two"},
		"a variable":                       {main: `{{ $n := "a.one" }}{{ if .x }}{{ $n = "a.two" }}{{ end }}{{ include $n . }}`, unused: "b.one b.two"},
		"a variable of a variable":         {main: `{{ $a := "a" }}{{ $n := printf "%s.%s" $a "one" }}{{ include $n . }}`, unused: "a.two b.one b.two"},
		"the items of a list":              {main: `{{ range $n := list "a.one" "a.two" }}{{ include $n . }}{{ end }}`, unused: "b.one b.two"},
		"the items of a list with indexes": {main: `{{ range $i, $n := list "a.one" }}{{ include $n . }}{{ end }}`, unused: "a.two b.one b.two"},
		"a constant text of tpl":           {main: `{{ tpl "{{ include \"a.one\" . }}" . }}`, unused: "a.two b.one b.two"},
		"a start":                          {main: `{{ include (printf "a.%s" .Values.x) . }}`, unused: "b.one b.two", unknown: "a.one a.two"},
		"a start that is a constant too":   {main: `{{ include (printf "a.%s" .Values.x) . }}{{ include "a.one" . }}`, unused: "b.one b.two", unknown: "a.two"},
		"an end":                           {main: `{{ include (print .Values.x ".one") . }}`, unused: "a.two", unknown: "a.one b.one b.two"},
		"a middle":                         {main: `{{ include (printf "%s.o%s" .x .y) . }}`, unused: "a.two", unknown: "a.one b.one b.two"},
		"a percent sign":                   {main: `{{ include (printf "a%%%s" .x) . }}`, unused: all},
		"a default":                        {main: `{{ include (default "a.one" .Values.x) . }}`, unused: none, unknown: "a.two b.one b.two"},
		"arguments by number":              {main: `{{ include (printf "%[2]s.one" .x "a") . }}`, unused: none, unknown: all},
		"a value":                          {main: `{{ include .Values.x . }}`, unused: none, unknown: all},
		"a field of a variable":            {main: `{{ $n := dict "x" "a.one" }}{{ include $n.x . }}`, unused: none, unknown: all},
		"a variable of itself":             {main: `{{ $n := "a" }}{{ $n = print $n "." }}{{ include (print $n "one") . }}`, unused: "a.two", unknown: "a.one b.one b.two"},
		"the key of a map":                 {main: `{{ range $n, $v := .Values.x }}{{ include $n . }}{{ end }}`, unused: none, unknown: all},
		"a value as text of tpl":           {main: `{{ tpl .Values.x . }}`, unused: none, unknown: all},
		"a text of tpl that is composed":   {main: `{{ tpl (printf "{{ include %q . }}" .Values.x) . }}`, unused: none, unknown: all},
		"a computed call in a define":      {main: `{{ include .Values.x . }}{{ include "own" . }}{{ define "own" }}{{ include (print .y ".two") . }}{{ end }}`, unused: none, unknown: all},
		"a computed call nobody reaches":   {main: `{{ define "own" }}{{ include .Values.x . }}{{ end }}`, unused: "own " + all},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := gotemplate.Compile(map[string]string{"c/templates/_helpers.tpl": helpers, "c/templates/main.yaml": test.main}, gotemplate.Options{})
			require.NoError(t, err)
			usage := set.Usage()

			var unused, unknown []string
			for _, define := range usage.Unused {
				unused = append(unused, define.Name)
			}
			for _, call := range usage.Computed {
				unknown = append(unknown, call.Defines...)
			}
			require.ElementsMatch(t, strings.Fields(test.unused), unused)
			require.ElementsMatch(t, strings.Fields(test.unknown), unknown)
		})
	}
}

// Each define has the position of its keyword, and each call with a computed name has that of its function.
func TestUsage_HasPositions(t *testing.T) {
	set, err := gotemplate.Compile(map[string]string{
		"c/templates/_a.tpl":    "# text\n\n  {{- define \"a\" }}\n{{ end }}\n{{ define \"b.x\" }}{{ end }}",
		"c/templates/main.yaml": "x: y\nz: {{ include (print \"b.\" .x) . }}\n",
	}, gotemplate.Options{})
	require.NoError(t, err)

	require.Equal(t, gotemplate.Usage{
		Unused:   []gotemplate.Define{{Name: "a", Position: gotemplate.Position{File: "c/templates/_a.tpl", Line: 3, Column: 3}}},
		Computed: []gotemplate.ComputedCall{{Position: gotemplate.Position{File: "c/templates/main.yaml", Line: 2, Column: 7}, Defines: []string{"b.x"}}},
	}, set.Usage())
}

// Each assignment could make a computed name longer. The analysis limits its length.
func TestUsage_LimitsComputedNames(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{{ $x0 := ternary "a" "b" .x }}`)
	for n := range 2000 {
		fmt.Fprintf(&text, "{{ $x%d := print $x%d $x%d }}", n+1, n, n)
	}
	text.WriteString(`{{ include $x2000 . }}{{ define "d" }}{{ end }}`)
	set, err := gotemplate.Compile(map[string]string{"c/templates/main.yaml": text.String()}, gotemplate.Options{})
	require.NoError(t, err)
	start := time.Now()

	require.Empty(t, set.Usage().Unused)
	require.Less(t, time.Since(start), time.Minute)
}
