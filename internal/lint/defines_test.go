// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// podTemplate is a template that passes the default policy.
const podTemplate = "kind: PodTemplate\napiVersion: v1\nmetadata: {name: x}\ntemplate: {spec: {containers: [{name: vector, image: 'timberio/vector:0.57.0', securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}}]}}\n"

// A define in a chart that no executed template can reach is reported at its line.
func TestLintChart_ReportsUnusedDefines(t *testing.T) {
	const file, old = "templates/_sinks.tpl", `{{- define "vector-sidecar.sinks" }}`
	unused := "{{ define \"own\" }}{{ include \"own.other\" . }}{{ end }}\n{{ define \"own.other\" }}{{ end }}\n" + old
	addresses, err := fs.ReadFile(vectorsidecar.FS, "templates/_addresses.tpl")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		chart  fs.FS
		places []string
		notes  []Note
	}{
		"built-in":             {chart: vectorsidecar.FS},
		"a define and another": {chart: chartWith(t, file, old, unused), places: []string{"chart/templates/_sinks.tpl:10:1 VSC012", "chart/templates/_sinks.tpl:11:1 VSC012"}},
		"a template without built-in helpers": {
			chart: fstest.MapFS{
				"Chart.yaml": {Data: []byte("apiVersion: v2\nname: own\nversion: 0.1.0\n")}, "values.yaml": {Data: []byte("sidecar: {}\n")}, "values.schema.json": {Data: []byte(`{"type": "object"}`)},
				"templates/podtemplate.yaml": {Data: []byte(podTemplate)}, "templates/_own.tpl": {Data: []byte(`{{ define "own" }}{{ end }}`)}, "templates/_addresses.tpl": {Data: addresses},
			},
			places: []string{"chart/templates/_own.tpl:1:1 VSC012"},
		},
		"both called": {chart: chartWith(t, file, old, unused+`{{ include "own" . }}`)},
		"a computed name": {
			chart: chartWith(t, file, old, unused+`{{ if false }}{{ include (printf "own.%s" .kind) . }}{{ end }}`), places: []string{"chart/templates/_sinks.tpl:10:1 VSC012"},
			notes: []Note{{File: "chart/templates/_sinks.tpl", Line: 12, Text: "this call depends on values, and may use own.other"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			builtIn := fs.FS(vectorsidecar.FS)
			if name == "built-in" {
				builtIn = nil // It has no unused define itself.
			}
			result, err := linterFor(t, builtInPlatform(t)).LintChart(t.Context(), &Folder{Name: "chart", Files: test.chart, Chart: test.chart, BuiltIn: builtIn})

			require.NoError(t, err)
			require.Equal(t, test.places, placesOfFindings(result.Findings))
			require.Equal(t, test.notes, result.Notes)
		})
	}
}

// A directory with only the changed files is linted together with the built-in files. Built-in defines that are unused
// because of the changes are not reported.
func TestLintChart_ReportsUnusedDefinesOfChangedFiles(t *testing.T) {
	const helper = "\n{{ define \"own\" }}{{ end }}\n"
	for name, test := range map[string]struct {
		files  fstest.MapFS
		places []string
	}{
		"at the root":         {files: fstest.MapFS{"podtemplate.yaml": {Data: []byte(podTemplate)}, "_own.tpl": {Data: []byte(helper)}}, places: []string{"dir/_own.tpl:2:1 VSC012"}},
		"below templates":     {files: fstest.MapFS{"templates/_own.tpl": {Data: []byte(helper)}}, places: []string{"dir/templates/_own.tpl:2:1 VSC012"}},
		"as a key":            {files: fstest.MapFS{"templates__sub___own.tpl": {Data: []byte(helper)}}, places: []string{"dir/templates__sub___own.tpl:2:1 VSC012"}},
		"no define":           {files: fstest.MapFS{"podtemplate.yaml": {Data: []byte(podTemplate)}}},
		"a fault of a preset": {files: fstest.MapFS{"_own.tpl": {Data: []byte("{{ define \"own\" }}{{ fail \"no files\" }}{{ end }}")}, "podtemplate.yaml": {Data: []byte("{{ if .Values.sidecar.logs.path }}{{ include \"own\" . }}{{ end }}\n" + podTemplate)}}, places: []string{"dir/_own.tpl:1:22 InvalidTemplate"}},
	} {
		t.Run(name, func(t *testing.T) {
			builtin, err := render.ReadFiles(vectorsidecar.FS)
			require.NoError(t, err)
			files, err := builtin.WithDirectory(test.files)
			require.NoError(t, err)
			chart, err := files.FS()
			require.NoError(t, err)

			result, err := linterFor(t, builtInPlatform(t)).LintChart(t.Context(), &Folder{Name: "dir", Files: test.files, Chart: chart})

			require.NoError(t, err)
			require.Equal(t, test.places, placesOfFindings(result.Findings))
		})
	}
}

// Unused defines in a template set of values are reported. Those of the built-in files that the set replaces are not.
func TestLinter_ReportsUnusedDefinesOfTemplateSet(t *testing.T) {
	const template = "    podtemplate.yaml: |\n      kind: PodTemplate\n      apiVersion: v1\n      metadata: {name: x}\n      template: {spec: {containers: [{name: vector, image: timberio/vector:0.57.0}]}}\n"
	const helper = "      {{ define \"own\" }}\n      {{ end }}\n"
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"in the default set":            {"templates:\n  default:\n    _own.tpl: |\n" + helper, []string{"values.yaml:4 VSC012"}},
		"in a set that nothing chooses": {"templates:\n  other:\n" + template + "    _own.tpl: |\n" + helper, []string{"values.yaml:9 VSC012"}},
		"in a subdirectory":             {"templates:\n  other:\n    templates__sub___own.tpl: |\n" + helper, []string{"values.yaml:4 VSC012"}},
		"called in a branch":            {"templates:\n  other:\n" + template + "      {{ if .Values.never }}{{ include \"own\" . }}{{ end }}\n    _own.tpl: |\n" + helper, nil},
		"ignored":                       {"templates:\n  other:\n    _own.tpl: |\n      # vectorsidecar: ignore VSC012 because the next release uses it\n" + helper, nil},
		"built-in helpers":              {"templates:\n  other:\n" + template, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, lintFiles(t, map[string]string{"values.yaml": test.values}))
		})
	}
}
