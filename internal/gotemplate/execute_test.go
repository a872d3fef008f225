// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// mutating changes all of its data, and prints it.
const mutating = `{{ $_ := set .Values "added" .Release.Name }}{{ $_ := set .Values.nested "deep" 1 }}{{ $_ := unset .Values "gone" }}
{{- $_ := merge .Values (dict "merged" true) }}{{ $_ := mergeOverwrite .Values.nested (dict "x" 2) }}
{{- $_ := set (index .Values.list 0) "k" "v" }}{{ $_ := sortAlpha .Values.words }}{{ $_ := set . "Top" 1 }}
{{- range until 20 }}{{ $_ := set $.Values (print "n" .) . }}{{ end }}{{ tpl .Values.text . }}{{ toYaml .Values }}`

func mutable(name string) map[string]any {
	data := values("nested", map[string]any{"x": 1}, "gone", true, "list", []any{map[string]any{}},
		"words", []string{"c", "a"}, "text", "{{ .Release.Name }}{{ include \"h\" . }}")
	data["Release"] = map[string]any{"Name": name}
	return data
}

// Concurrent executions of one set share data. They neither affect each other nor change the data.
func TestSet_SupportsConcurrentExecutions(t *testing.T) {
	set, err := compileOne(mutating+`{{ define "h" }}{{ regexReplaceAll "a+" "xaay" "-" }}{{ end }}`, gotemplate.Budget{})
	require.NoError(t, err)
	shared := mutable("shared")
	want, err := set.Execute(t.Context(), "one/templates/a.yaml", shared)
	require.NoError(t, err)
	require.Contains(t, want, "added: shared")
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("worker-%d", worker)
			for range 20 {
				got, err := set.Execute(t.Context(), "one/templates/a.yaml", shared)
				if err != nil || got != want {
					t.Errorf("the shared data gave another text: %v", err)
				}
				got, err = set.Execute(t.Context(), "one/templates/a.yaml", mutable(name))
				if err != nil || got != strings.ReplaceAll(want, "shared", name) {
					t.Errorf("%s saw another worker's data: %v", name, err)
				}
			}
		})
	}
	group.Wait()
	require.Empty(t, cmp.Diff(mutable("shared"), shared), "the caller's data stays as it was")
}

// A deadline or a cancellation ends an execution with an error of its own kind, not with that of a template.
func TestExecute_StopsIfContextEnds(t *testing.T) {
	busy := gotemplate.Budget{Steps: 1 << 40, Memory: 1 << 50, Timeout: time.Hour}
	set, err := compileOne(`{{ range 1000000000000 }}{{ end }}`, busy)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = set.Execute(ctx, "one/templates/a.yaml", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, "time", findings(t, err)[0].Budget)

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = set.Execute(ctx, "one/templates/a.yaml", nil)
	require.ErrorIs(t, err, context.Canceled)

	busy.Timeout = 20 * time.Millisecond
	set, err = compileOne(`{{ range 1000000000000 }}{{ end }}`, busy)
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "one/templates/a.yaml", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Contains(t, err.Error(), "one/templates/a.yaml:1:")
}

// CPU time of other goroutines does not count against the limit of an execution.
func TestExecute_CountsOnlyItsOwnCPUTime(t *testing.T) {
	const limit = 400 * time.Millisecond
	set, err := compileOne(`{{ range 500000 }}{{ end }}`, gotemplate.Budget{Steps: 1 << 40, Timeout: limit})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 30 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; ctx.Err() == nil; n++ {
				_ = n
			}
		}()
	}
	for hasWaited := false; !hasWaited; {
		began := time.Now()
		_, err = set.Execute(t.Context(), "one/templates/a.yaml", nil)
		require.NoError(t, err)
		hasWaited = time.Since(began) > limit
	}
}

// Each limit of the budget stops an execution that exceeds it.
func TestOptions_SetBudget(t *testing.T) {
	text := `{{ define "x" }}{{ upper "abc" }}{{ end }}{{ range 10 }}{{ include "x" . }}{{ end }}{{ toYaml (until 5) }}`
	for name, budget := range map[string]gotemplate.Budget{
		"steps": {Steps: 20}, "nodes": {Nodes: 4}, "bytes": {Bytes: 10}, "memory": {Memory: 2000}, "time": {Timeout: 1},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := compileOne(text, budget)
			require.NoError(t, err)
			_, err = set.Execute(t.Context(), "one/templates/a.yaml", nil)
			require.Equal(t, name, findings(t, err)[0].Budget)
		})
	}
	set, err := compileOne(text, gotemplate.Budget{})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "one/templates/a.yaml", nil)
	require.NoError(t, err, "the defaults have room")
}

// Data that is too deep or too large, or contains itself, is an error before a template is executed.
func TestExecute_RejectsDataThatCannotBeCopied(t *testing.T) {
	set, err := compileOne("x", gotemplate.Budget{})
	require.NoError(t, err)
	cycle := map[string]any{}
	cycle["self"] = cycle
	var deep any = 1
	for range 10_000 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		budget string
		data   map[string]any
	}{
		{"depth", cycle}, {"depth", values("deep", deep)}, {"nodes", values("wide", make([]any, 60_000))},
	} {
		_, err = set.Execute(t.Context(), "one/templates/a.yaml", c.data)
		require.Equal(t, c.budget, findings(t, err)[0].Budget)
	}
}

func TestExecute_RejectsUnknownTemplate(t *testing.T) {
	set, err := compileOne("x", gotemplate.Budget{})
	require.NoError(t, err)
	_, err = set.Execute(t.Context(), "one/templates/b.yaml", nil)
	require.ErrorContains(t, err, `unknown template "one/templates/b.yaml"; did you mean "one/templates/a.yaml"?`)
}

// Keys and values of a map are in sorted order, not in the random order of Go's maps.
func TestExecute_SortsMapKeys(t *testing.T) {
	text := `{{ keys .Values | toJson }}{{ values .Values | toJson }}{{ .Values }}{{ range .Values }}{{ . }}{{ end }}`
	for range 20 {
		got, err := execute(t, text, values("c", 3, "a", 1, "b", 2, "d", 4))
		require.NoError(t, err)
		require.Equal(t, `["a","b","c","d"][1,2,3,4]map[a:1 b:2 c:3 d:4]1234`, got)
	}
}

func TestFromTOML_ReturnsDatesAsText(t *testing.T) {
	got, err := execute(t, `{{ $t := fromToml .Values.toml }}{{ $t.local }} {{ $t.zoned }} {{ $t.day }} {{ (index $t.list 0).at }}`,
		values("toml", "local = 2024-05-01T10:00:00\nzoned = 2024-05-01T10:00:00+02:00\nday = 2024-05-01\n[[list]]\nat = 10:00:00\n"))
	require.NoError(t, err)
	require.Equal(t, "2024-05-01T10:00:00 2024-05-01T10:00:00+02:00 2024-05-01 10:00:00", got)
}
