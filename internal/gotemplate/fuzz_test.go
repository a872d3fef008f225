// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

func seeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/ordinary/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	for _, text := range []string{
		doubling, doublingList, cyclic + "{{ $d }}", deep + "{{ $d }}", wide + "{{ $d }}", mutating,
		`{{ range 1000000000 }}{{ end }}`, `{{ repeat 1000000000 "x" }}`, `{{ printf "%*[2]d%[1]*.[9]d" 1 2 3 }}`,
		`{{ tpl .Values.text . }}`, `{{ define "x" }}{{ include "x" . }}{{ end }}{{ template "x" }}`, `{{ .Values.a.b.c.d }}`,
		"{{ if }}", "{{ (((", "{{/* */}}", "{{- - }}", "{{ $x := 1 }}{{ $x.y }}", "{{ nil }}", "{{ 1i | print }}", "{{ 'a' .x }}",
	} {
		f.Add(text)
	}
}

// Each error of Compile has a position.
func FuzzCompile(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": `{{ define "h" }}{{ end }}`}, gotemplate.Options{})
		if err != nil {
			require.Nil(t, set)
			for _, one := range findings(t, err) {
				require.NotEmpty(t, one.Template)
				require.NotEmpty(t, one.Message)
			}
			return
		}
		require.Contains(t, set.Names(), "c/templates/a.yaml")
	})
}

// For any template, Execute ends within its budget, and returns the same result each time.
func FuzzExecute(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := compileOne(text, gotemplate.Budget{})
		if err != nil {
			return
		}
		data := mutable("fuzz")
		data["Files"] = gotemplate.Files{"a.txt": []byte("A\nB\n")}
		first, err := measured(t, set, "one/templates/a.yaml", data)
		var located *gotemplate.Error
		if err != nil {
			require.ErrorAs(t, err, &located)
			require.Empty(t, first)
		}
		require.NotContains(t, first, "<no value>")
		second, again := measured(t, set, "one/templates/a.yaml", data)
		if isOutOfTime(err) || isOutOfTime(again) {
			return
		}
		require.Equal(t, first, second)
		require.Equal(t, err == nil, errors.Is(again, nil))
	})
}

// isOutOfBounds reports whether an error depends on the size of everything.
func isOutOfBounds(err error) bool {
	var located *gotemplate.Error
	return errors.As(err, &located) && located.Budget != ""
}

// isOutOfTime reports whether the error is the one bound that also depends on the load of the
// machine, so that it may not occur again.
func isOutOfTime(err error) bool {
	var located *gotemplate.Error
	return errors.As(err, &located) && located.Budget == "time"
}
