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
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// watching compiles one template with helpers, and watches .Values.target.
func watching(t testing.TB, text, helpers string, budget gotemplate.Budget) *gotemplate.Set {
	t.Helper()
	set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": helpers}, gotemplate.Options{Budget: budget, Watch: [][]string{{"Values", "target"}}})
	require.NoError(t, err)
	return set
}

// watched are the values that a rendering may share.
var watched = [][]string{{"Values", "target"}, {"Release"}}

// cart is a target.
func cart() map[string]any {
	return map[string]any{
		"kind": "Deployment", "name": "cart", "labels": map[string]any{"team": "shop", "tier": "web"}, "annotations": map[string]any{},
		"containers": []any{map[string]any{"name": "app", "ports": []any{}}}, "none": []any{}, "null": nil,
	}
}

// readsText prints one read per line: a path, and the aspect.
func readsText(reads []tree.Read) string {
	var text []string
	for _, read := range reads {
		text = append(text, strings.TrimSpace(strings.Join(read.Path, ".")+" "+[]string{"", "length", "whole"}[read.Aspect]))
	}
	return strings.Join(text, ", ")
}

// Each case is a template and the paths of the workload that it reads.
func TestExecuteWatched_RecordsPathsThatTemplatesRead(t *testing.T) {
	const helpers = `{{ define "name" }}{{ .Values.target.name }}{{ end }}{{ define "of" }}{{ .of.name }}{{ end }}{{ define "no" }}{{ .Values.list }}{{ end }}`
	for text, want := range map[string]string{
		"plain":                                          "",
		`{{ .Values.text }}`:                             "",
		`{{ toYaml .Values.list }}`:                      "",
		`{{ .Values.target.name }}`:                      "name",
		`{{ $.Values.target.name }}`:                     "name",
		`{{ (.Values).target.name }}`:                    "name",
		`{{ with .Values }}{{ .target.name }}{{ end }}`:  "name",
		`{{ $t := .Values.target }}{{ $t.name }}`:        "name",
		`{{ $t := .Values.target }}`:                     "",
		`{{ if .Values.target }}x{{ end }}`:              "",
		`{{ len .Values.target }}`:                       "length",
		`{{ .Values.target }}`:                           "whole",
		`{{ .Values }}`:                                  "whole",
		`{{ . }}`:                                        "whole",
		`{{ toYaml .Values }}`:                           "whole",
		`{{ .Values | toJson | sha256sum }}`:             "whole",
		`{{ printf "%v" .Values }}`:                      "whole",
		`{{ range .Values.target }}{{ end }}`:            "whole",
		`{{ range $k, $v := .Values }}{{ $k }}{{ end }}`: "",
		`{{ range .Values }}{{ if kindIs "map" . }}{{ .name }}{{ end }}{{ end }}`: "name",
		`{{ keys .Values.target }}`:           "whole",
		`{{ values .Values.target | first }}`: "whole",
		`{{ values .Values | last | len }}`:   "",

		// Absence.
		`{{ .Values.target.other | default "x" }}`:                "other",
		`{{ hasKey .Values.target "other" }}`:                     "other",
		`{{ hasKey .Values.target "name" }}`:                      "name",
		`{{ get .Values.target "other" }}`:                        "other",
		`{{ get .Values.target.labels "team" }}`:                  "labels, labels.team",
		`{{ pluck "team" .Values.target.labels (dict) | first }}`: "labels, labels.team",
		`{{ dig "labels" "none" "x" .Values.target }}`:            "labels, labels.none",
		`{{ index .Values "target" "labels" "team" }}`:            "labels, labels.team",
		`{{ index .Values.target.labels (print "te" "am") }}`:     "labels, labels.team",
		`{{ with .Values.target.labels.none }}{{ . }}{{ end }}`:   "labels, labels.none",
		`{{ coalesce .Values.target.null .Values.target.name }}`:  "name, null",
		`{{ required "x" .Values.target.name }}`:                  "name",
		`{{ ternary 1 2 (eq .Values.target.name "cart") }}`:       "name",
		`{{ and .Values.text .Values.target.name }}`:              "name",
		`{{ or .Values.text .Values.target.name }}`:               "",
		`{{ .Values.target.labels.none }}`:                        "labels whole",
		`{{ .Values.target.other }}`:                              "whole",
		`{{ $x := .Values.target.other }}{{ if $x }}{{ end }}`:    "other",

		// Emptiness, length, and the whole of maps and lists.
		`{{ if .Values.target.annotations }}x{{ end }}`:             "annotations",
		`{{ with .Values.target.labels }}{{ .team }}{{ end }}`:      "labels, labels.team",
		`{{ not .Values.target.labels }}`:                           "labels",
		`{{ empty .Values.target.containers }}`:                     "containers",
		`{{ default "x" .Values.target.none }}`:                     "none",
		`{{ len .Values.target.containers }}`:                       "containers, containers length",
		`{{ len .Values.target.none }}`:                             "none, none length",
		`{{ range .Values.target.none }}{{ end }}`:                  "none whole",
		`{{ range .Values.target.containers }}{{ .name }}{{ end }}`: "containers whole",
		`{{ (index .Values.target.containers 0).name }}`:            "containers whole",
		`{{ (first .Values.target.containers).name }}`:              "containers whole",
		`{{ range $k, $v := .Values.target.labels }}{{ end }}`:      "labels whole",
		`{{ toYaml .Values.target.labels }}`:                        "labels whole",
		`{{ print .Values.target.labels }}`:                         "labels whole",
		`{{ has "app" .Values.target.containers }}`:                 "containers whole",
		`{{ kindOf .Values.target.labels }}`:                        "labels",

		// Values that a template stores elsewhere.
		`{{ $d := dict "t" .Values.target }}{{ $d.t.name }}`:                                           "name",
		`{{ $d := dict "a" (dict "b" $) }}{{ $d.a.b.Values.target.name }}`:                             "name",
		`{{ (index (list 1 .Values.target) 1).name }}`:                                                 "name",
		`{{ (first (list .Values.target)).name }}`:                                                     "name",
		`{{ toYaml (dict "a" (list .)) }}`:                                                             "whole",
		`{{ list .Values.target | toJson }}`:                                                           "whole",
		`{{ $d := dict }}{{ $_ := set $d "t" $ }}{{ $d.t.Values.target.name }}`:                        "name",
		`{{ $d := dict }}{{ $_ := set $d "t" .Values.target }}`:                                        "whole",
		`{{ $_ := set .Values.target "name" "x" }}{{ .Values.target.name }}`:                           "whole",
		`{{ $_ := set .Values "target" "x" }}{{ .Values.target }}`:                                     "",
		`{{ $_ := unset .Values.target.labels "team" }}{{ .Values.target.labels.team | default "x" }}`: "labels whole",
		`{{ $m := merge (dict) .Values }}{{ $m.text }}`:                                                "whole",
		`{{ $m := mergeOverwrite .Values (dict "text" "y") }}`:                                         "whole",
		`{{ $m := merge (dict "labels" (dict)) .Values.target }}`:                                      "whole",
		`{{ $c := deepCopy .Values.target.labels }}{{ $c.team }}`:                                      "labels whole",
		`{{ $o := omit .Values "text" }}{{ $o.target.name }}`:                                          "name",
		`{{ $o := pick .Values.target "name" }}`:                                                       "whole",
		`{{ concat .Values.target.containers (list) }}`:                                                "containers whole",
		`{{ include "name" . }}`:                                                                       "name",
		`{{ template "name" . }}`:                                                                      "name",
		`{{ include (print "na" "me") . }}`:                                                            "name",
		`{{ include "of" (dict "of" .Values.target) }}`:                                                "name",
		`{{ include "no" . }}`:                                                                         "",
		`{{ tpl "{{ .Values.target.name }}" . }}`:                                                      "name",
		`{{ tpl "x" . }}`:                 "",
		`{{ tpl .Values.target.name . }}`: "name",

		// What is executed counts, not what is written.
		`{{ if .Values.none }}{{ .Values.target.name }}{{ end }}`:                            "",
		`{{ if .Values.text }}{{ fail .Values.target.name }}{{ end }}`:                       "name",
		`{{ range 2 }}{{ $.Values.target.name }}{{ end }}`:                                   "name",
		`{{ range 1000 }}{{ index $.Values.target.labels (print .) | default "" }}{{ end }}`: "labels whole",

		// A bound that is hit depends on the size of everything.
		`{{ range 1000000 }}{{ end }}`: "whole",
	} {
		t.Run(text, func(t *testing.T) {
			_, reads, _ := watching(t, text, helpers, gotemplate.Budget{}).ExecuteWatched(t.Context(), "c/templates/a.yaml", values("text", "x", "none", "", "list", []any{"a"}, "target", cart()))
			require.Equal(t, want, readsText(reads[0]))
		})
	}
}

// The reads of two values, such as the workload and the namespace, are recorded separately.
func TestExecuteWatched_RecordsReadsOfTwoValues(t *testing.T) {
	for text, want := range map[string][2]string{
		`{{ .Release.Name }}`:                               {"", "Name"},
		`{{ .Release.Namespace }}{{ .Values.target.name }}`: {"name", "Namespace"},
		`{{ toYaml .Release }}`:                             {"", "whole"},
		`{{ range $k, $v := .Release }}{{ end }}`:           {"", "whole"},
		`{{ range $k, $v := . }}{{ $k }}{{ end }}`:          {"", ""},
		`{{ $ | toYaml }}`:                                  {"whole", "whole"},
		`{{ .Values.target | toYaml }}`:                     {"whole", ""},
		`{{ set .Release "Namespace" "x" | len }}`:          {"", "whole"},
		`{{ range 1000000 }}{{ end }}`:                      {"whole", "whole"},
	} {
		t.Run(text, func(t *testing.T) {
			set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text}, gotemplate.Options{Watch: watched})
			require.NoError(t, err)
			data := values("target", cart())
			data["Release"] = map[string]any{"Name": "logs", "Namespace": "shop"}
			_, reads, _ := set.ExecuteWatched(t.Context(), "c/templates/a.yaml", data)
			require.Equal(t, want, [2]string{readsText(reads[0]), readsText(reads[1])})
		})
	}
}

// If the value is not a map, one read of the whole value is recorded.
func TestExecuteWatched_ReportsNonMapsAsWhole(t *testing.T) {
	for _, target := range []any{nil, "x", []any{"x"}, map[string]any{}, map[string]string{"a": "b"}} {
		_, reads, err := watching(t, "x", "", gotemplate.Budget{}).ExecuteWatched(t.Context(), "c/templates/a.yaml", values("target", target))
		require.NoError(t, err)
		require.Equal(t, "whole", readsText(reads[0]))
	}
	_, reads, err := watching(t, "x", "", gotemplate.Budget{}).ExecuteWatched(t.Context(), "c/templates/a.yaml", nil)
	require.NoError(t, err)
	require.Equal(t, "whole", readsText(reads[0]))
}

// After a number of maps and lists, another one that a template looks up is recorded as read as a whole.
func TestExecuteWatched_LimitsTrackedMaps(t *testing.T) {
	var deep any = "x"
	for range 50 {
		deep = map[string]any{"a": deep}
	}
	_, reads, err := watching(t, `{{ .Values.target.a.a.a.a.a.a.a.a.a.a.a.a | kindOf }}`, "", gotemplate.Budget{}).ExecuteWatched(t.Context(), "c/templates/a.yaml", values("target", deep))
	require.NoError(t, err)
	require.Contains(t, readsText(reads[0]), "a.a.a.a.a.a.a.a whole")
	require.Len(t, reads[0], 8)
}

// A read of a path includes the paths below it, so these are dropped.
func TestReads_DropCoveredPaths(t *testing.T) {
	name, labels, team := tree.Read{Path: []string{"name"}}, tree.Read{Path: []string{"labels"}, Aspect: tree.WholeValue}, tree.Read{Path: []string{"labels", "team"}}
	length := tree.Read{Path: []string{"labels"}, Aspect: tree.Length}
	require.Equal(t, []tree.Read{labels, name}, tree.JoinReads([]tree.Read{name, team}, nil, []tree.Read{length, labels, name}))
	require.Equal(t, []tree.Read{length, team}, tree.JoinReads([]tree.Read{team, length}))
	require.Equal(t, []tree.Read{{Aspect: tree.WholeValue}}, tree.JoinReads([]tree.Read{team, length}, []tree.Read{{Aspect: tree.WholeValue}}))
}

func findTheSame(reads []tree.Read, a, b any) bool {
	for _, read := range reads {
		if random.FormatRead(a, read) != random.FormatRead(b, read) {
			return false
		}
	}
	return true
}

// If two executions read the same values, their results are equal.
func FuzzReads(f *testing.F) {
	seeds(f)
	f.Add(`{{ if .Values.text }}{{ .Values.target }}{{ end }}`)
	f.Add(`{{ range $k, $v := . }}{{ if ne $k "Values" }}{{ $v }}{{ end }}{{ end }}`)
	f.Add(`{{ with .Release }}{{ .Name }}{{ end }}{{ get .Release "Namespace" }}`)
	f.Add(`{{ with .Values }}{{ range $k, $v := . }}{{ $v }}{{ end }}{{ end }}`)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text}, gotemplate.Options{
			// Small, so that many texts are tried.
			Budget: gotemplate.Budget{Steps: 5000, Memory: 4 << 20, Timeout: 100 * time.Millisecond},
			Watch:  watched,
		})
		if err != nil {
			return
		}
		requireReadsTell(t, set, targets()[1:10])
	})
}

// requireReadsTell executes a set for each target, and compares those that the reads do not
// distinguish. Exceeded bounds are left out, because they depend on sizes.
func requireReadsTell(t *testing.T, set *gotemplate.Set, targets []map[string]any) (shared int) {
	t.Helper()
	type outcome struct {
		// given are the watched values.
		given []any
		text  string
		reads gotemplate.Reads
		err   error
	}
	var all []outcome
	for n, target := range targets {
		one := outcome{given: []any{target, map[string]any{"Name": "logs", "Namespace": []string{"shop", "pay"}[n%2]}}}
		data := values("text", "x", "key", "team", "list", []any{"a", "b"}, "target", target)
		data["Release"] = one.given[1]
		one.text, one.reads, one.err = set.ExecuteWatched(t.Context(), "c/templates/a.yaml", data)
		if isOutOfBounds(one.err) {
			return 0
		}
		for _, other := range all {
			if !findTheSame(other.reads[0], other.given[0], target) || !findTheSame(other.reads[1], other.given[1], one.given[1]) {
				continue
			}
			shared++
			said := fmt.Sprintf("read: %s and %s\nof %v\nand %v", readsText(other.reads[0]), readsText(other.reads[1]), other.given, one.given)
			require.Equal(t, other.text, one.text, said)
			require.Equal(t, fmt.Sprint(other.err), fmt.Sprint(one.err), said)
			require.Equal(t, other.reads, one.reads, said)
		}
		all = append(all, one)
	}
	return shared
}
