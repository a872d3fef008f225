// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/template"
)

func TestReads(t *testing.T) {
	for text, want := range map[string]bool{
		`{{ .Values.target.name }}`:                                             true,
		`{{ .Values.target }}`:                                                  true,
		`{{ if .Values.target }}{{ end }}`:                                      true,
		`{{ $.Values.target.kind }}`:                                            true,
		`{{ with .Values }}{{ .target.name }}{{ end }}`:                         true,
		`{{ $v := .Values }}{{ with .Values.sidecar }}{{ $v.target }}{{ end }}`: true,
		`{{ toYaml .Values }}`:                                                  true,
		`{{ .Values | toJson | sha256sum }}`:                                    true,
		`{{ .Values }}`:                                                         true,
		`{{ . }}`:                                                               true,
		`{{ range $k, $v := .Values }}{{ $k }}{{ end }}`:                        true,
		`{{ index .Values "target" "name" }}`:                                   true,
		`{{ get .Values "target" }}`:                                            true,
		`{{ dig "target" "name" "x" .Values }}`:                                 true,
		`{{ dig "target" "name" "x" (.Values) }}`:                               true,
		`{{ pluck "target" .Values }}`:                                          true,
		`{{ hasKey .Values "target" }}`:                                         true,
		`{{ index .Values (print "tar" "get") }}`:                               true,
		`{{ (.Values).target }}`:                                                true,
		`{{ tpl "x" . }}`:                                                       true,
		`{{ $x := dict "a" . }}{{ $x.a.Values.target }}`:                        true,
		`{{ toYaml (dict "a" .) }}`:                                             true,
		`{{ $x := dict "a" (dict "b" $) }}{{ with $x.a }}{{ .b.Values.target }}{{ end }}`: true,
		`{{ list . | toYaml }}`:               true,
		`{{ (default dict .Values).target }}`: true,
		`{{ template "name" . }}{{ define "name" }}{{ .Values.target }}{{ end }}`:                               true,
		`{{ include "name" (dict "root" $) }}{{ define "name" }}{{ .root.Values.target }}{{ end }}`:             true,
		`{{ include (print "na" "me") . }}{{ define "name" }}{{ .Values.target }}{{ end }}`:                     true,
		`{{ $x := "" }}{{ range .Values.list }}{{ with $x }}{{ .target }}{{ end }}{{ $x = $.Values }}{{ end }}`: true,

		`plain`:                                             false,
		`{{ .Values.sidecar.name }}`:                        false,
		`{{ toYaml .Values.sidecar }}`:                      false,
		`{{ .Values.targets }}`:                             false,
		`{{ .Release.Name }}`:                               false,
		`{{ with .Values }}{{ .sidecar }}{{ end }}`:         false,
		`{{ index .Values "sidecar" "name" }}`:              false,
		`{{ range .Values.list }}{{ .target }}{{ end }}`:    false,
		`{{ dict "a" .Values.sidecar | toYaml }}`:           false,
		`{{ if .Values }}x{{ end }}`:                        false,
		`{{ define "name" }}{{ .Values.target }}{{ end }}x`: false,
		`{{ include "name" . }}{{ define "name" }}{{ .Values.sidecar }}{{ end }}`:                                false,
		`{{ include "name" .Values.sidecar }}{{ define "name" }}{{ .Values.target }}{{ end }}`:                   false,
		`{{ include "name" (dict "r" $ "x" 1) }}{{ define "name" }}{{ .r.Values.sidecar }}{{ .x }}{{ end }}`:     false,
		`{{ include "name" . }}{{ define "name" }}{{ if .Values.deep }}{{ include "name" . }}{{ end }}{{ end }}`: false,
		`{{ .Files.Get "target" }}{{ .Capabilities.APIVersions.Has "target" }}`:                                  false,
	} {
		t.Run(text, func(t *testing.T) {
			set, err := compileOne(text, template.Budget{})
			require.NoError(t, err)
			require.Equal(t, want, set.Reads("Values", "target"))
		})
	}
}

// Sets that are made to be hard to follow count as reading, soon.
func TestReadsOfHostileSets(t *testing.T) {
	for name, text := range map[string]string{
		"dicts of dicts":     `{{ $d := dict "a" . }}` + strings.Repeat(`{{ $d = dict "a" $d "b" $d }}`, 60),
		"ever deeper roots":  `{{ define "x" }}{{ include "x" (dict "a" .) }}{{ end }}{{ include "x" . }}`,
		"ever broader roots": `{{ define "x" }}{{ include "x" (dict "a" . "b" .) }}{{ include "x" (dict "c" . "d" $) }}{{ end }}{{ include "x" . }}`,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := compileOne(text, template.Budget{})
			require.NoError(t, err)
			require.True(t, set.Reads("Values", "target"))
		})
	}
}

// What a set may read and what one execution of it reads are two things.
func TestAnExecutionTellsWhetherItReadTheTarget(t *testing.T) {
	const set = `{{ define "path" }}{{ if .Values.logs }}{{ include "mount" . }}{{ end }}{{ end }}
{{ define "mount" }}{{ range .Values.target.containers }}{{ .name }}{{ end }}{{ end }}`
	for text, want := range map[string]struct{ with, without bool }{
		`{{ include "path" . }}`:                                                    {with: true},
		`{{ if .Values.logs }}{{ .Values.target.name }}{{ end }}`:                   {with: true},
		`{{ if .Values.logs }}x{{ else }}{{ .Values.target.name }}{{ end }}`:        {without: true},
		`{{ if .Values.logs }}{{ tpl "x" . }}{{ end }}`:                             {with: true},
		`{{ if .Values.logs }}{{ fail .Values.target.name }}{{ end }}`:              {with: true},
		`{{ $v := .Values }}{{ if $v.logs }}{{ toYaml $v }}{{ end }}`:               {with: true},
		`{{ with .Values.target }}{{ end }}`:                                        {with: true, without: true},
		`{{ $t := .Values.target }}{{ if .Values.logs }}{{ $t.name }}{{ end }}`:     {with: true, without: true},
		`{{ range .Values.logs }}{{ $.Values.target.name }}{{ end }}`:               {with: true},
		`{{ if and .Values.logs .Values.other }}{{ .Values.target.name }}{{ end }}`: {},
		`{{ include (print "pa" "th") . }}`:                                         {with: true},
		`{{ .Values.logs }}`:                                                        {},
	} {
		t.Run(text, func(t *testing.T) {
			compiled, err := template.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": set}, template.Options{Watch: [][]string{{"Values", "target"}}})
			require.NoError(t, err)
			for logs, expected := range map[string]bool{"x": want.with, "": want.without} {
				values := map[string]any{
					"logs": []any{}, "other": "", "target": map[string]any{"name": "cart", "containers": []any{}},
				}
				if logs != "" {
					values["logs"] = []any{logs}
				}
				_, read, _ := compiled.ExecuteWatched(t.Context(), "c/templates/a.yaml", map[string]any{"Values": values})
				require.Equal(t, expected, read != 0, "logs: %q", logs)
			}
		})
	}
}

func TestEachWatchedPathIsToldApart(t *testing.T) {
	for text, want := range map[string]template.Reads{
		`{{ .Values.target.name }}`:                                    1,
		`{{ range .Values.target.containers }}{{ .name }}{{ end }}`:    2,
		`{{ .Values.target.name }}{{ .Values.target.containers }}`:     3,
		`{{ toYaml .Values.target }}`:                                  3,
		`{{ with .Values.target }}{{ .name }}{{ end }}`:                1,
		`{{ with .Values.target }}x{{ end }}{{ .Values.target.kind }}`: 0,
		`{{ .Release.Name }}`:                                          0,
	} {
		compiled, err := template.Compile(map[string]string{"c/templates/a.yaml": text}, template.Options{
			Watch: [][]string{{"Values", "target", "name"}, {"Values", "target", "containers"}},
		})
		require.NoError(t, err)
		_, read, err := compiled.ExecuteWatched(t.Context(), "c/templates/a.yaml", map[string]any{
			"Release": map[string]any{"Name": "logs"},
			"Values":  map[string]any{"target": map[string]any{"name": "cart", "kind": "Deployment", "containers": []any{}}},
		})
		require.NoError(t, err)
		require.Equal(t, want, read, text)
	}
}

// The proof: an execution that says it read no target gives the same for another.
func FuzzWatch(f *testing.F) {
	seeds(f)
	f.Add(`{{ if .Values.text }}{{ .Values.target }}{{ end }}`)
	f.Add(`{{ with .Values }}{{ range $k, $v := . }}{{ $v }}{{ end }}{{ end }}`)
	f.Fuzz(func(t *testing.T, text string) {
		compiled, err := template.Compile(map[string]string{"c/templates/a.yaml": text}, template.Options{
			// Small, so that many texts are tried.
			Budget: template.Budget{Steps: 5000, Memory: 4 << 20, Timeout: 100 * time.Millisecond},
			Watch:  [][]string{{"Values", "target"}},
		})
		if err != nil {
			return
		}
		execute := func(target any) (string, bool, error) {
			text, read, err := compiled.ExecuteWatched(t.Context(), "c/templates/a.yaml", map[string]any{
				"Values": map[string]any{"text": "x", "list": []any{"a", "b"}, "target": target},
			})
			return text, read != 0, err
		}
		first, read, err := execute(map[string]any{"name": "cart"})
		if read {
			return
		}
		second, _, again := execute("another one")
		if isOutOfTime(err) || isOutOfTime(again) {
			return
		}
		require.Equal(t, first, second)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(again))
	})
}
