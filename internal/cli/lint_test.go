// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
)

// The path of the chart may contain dots, a slash at the end or a symlink, and the values file in it is always linted
// as that of the chart.
func TestLintChart_AcceptsAnyPathToChart(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root+"/chart", vectorsidecar.FS))
	require.NoError(t, os.Symlink("chart", root+"/link"))
	for _, path := range []string{"/chart", "/chart/", "/./chart", "/link/", "/chart/../chart", "/chart/values.yaml"} {
		out, err := run(t, nil, "lint", root+path)
		require.NoError(t, err, path+": "+out)
	}
	out, err := run(t, nil, "lint", root+"/chart/")
	require.NoError(t, err, out)
	require.Contains(t, out, "4 files checked")
}

func TestNewLint_RejectsDirectoryWithoutFilesToLint(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/empty", 0o700))
	require.NoError(t, os.WriteFile(root+"/logs.yaml", []byte(shopFiles(t)["logs.yaml"]), 0o600))
	_, err := run(t, nil, "lint", root+"/logs.yaml", root+"/empty")
	require.EqualError(t, err, "no files to lint in "+root+"/empty; expected extensions: .yaml, .yml, .json, .toml")
	require.NotErrorAs(t, err, new(*foundError))
}

// If lint can check none of the named files, it returns an error. Otherwise, a pipeline would pass with a mistyped
// path.
func TestNewLint_FailsIfAllFilesAreSkipped(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/other", 0o700))
	for name, text := range map[string]string{"/other/compose.yaml": "services: {}\n", "/README.md": "# Shop\n", "/logs.yaml": shopFiles(t)["logs.yaml"]} {
		require.NoError(t, os.WriteFile(root+name, []byte(text), 0o600))
	}
	for _, arguments := range [][]string{{root + "/README.md"}, {root + "/other"}, {root + "/other/compose.yaml", root + "/README.md"}, {root + "/other", "-o", "json"}} {
		out, err := run(t, nil, append([]string{"lint"}, arguments...)...)
		require.EqualError(t, err, "no file was checked: name files with objects, values or Vector configuration", out)
		require.NotErrorAs(t, err, new(*foundError))
		require.Contains(t, out, arguments[0], "what was skipped is named")
	}
	out, err := run(t, nil, "lint", root+"/README.md", root+"/logs.yaml")
	require.NoError(t, err, "one of many may be skipped, as with a glob: %s", out)
}

// A directory with only the changed templates is linted if --templates names it. A define that is called only with some
// values is a note, not a finding.
func TestNewLint_ReportsUnusedDefines(t *testing.T) {
	helpers := "{{ define \"own\" }}{{ end }}\n{{ define \"kind.a\" }}{{ end }}\n"
	files := map[string]string{
		"logs.yaml": shopFiles(t)["logs.yaml"], "own/_own.tpl": helpers,
		"own/extra.yaml": "{{ if .Values.unknown }}{{ include (print \"kind.\" .Values.environment) . }}{{ end }}\n",
	}
	out, err := run(t, files, "lint", "--templates", "own", "logs.yaml")

	require.ErrorAs(t, err, new(*foundError), out)
	require.Contains(t, out, "own/_own.tpl:1:1: warning VSC012: no rendered template uses the define \"own\"\n")
	require.Contains(t, out, "own/extra.yaml:1: this call depends on values, and may use kind.a\n")
	require.NotContains(t, out, "define \"kind.a\"")
	require.Contains(t, out, "2 files checked, 1 finding")

	out, err = run(t, files, "lint", "--templates", "own", "logs.yaml", "-o", "json")
	require.ErrorAs(t, err, new(*foundError), out)
	var result lint.Result
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	require.Equal(t, []lint.Note{{File: "own/extra.yaml", Line: 1, Text: "this call depends on values, and may use kind.a"}}, result.Notes)
}

// Values of another chart are skipped, and the output lists each skipped file with the reason.
func TestNewLint_SkipsValuesOfOtherCharts(t *testing.T) {
	const card, ours = "apiVersion: v2\nname: web\nversion: 0.1.0\n", "sidecar: {logz: x}\n"
	const template = "{{- if .Values.sidecar }}\nkind: VectorSidecar\nmetadata: {name: {{ .Release.Name }}}\n{{- end }}\n"
	for name, test := range map[string]struct {
		files     map[string]string
		arguments []string
		findings  []string
		skipped   map[string]string // Reasons by file.
	}{
		"values of another chart": {
			files: map[string]string{"web/Chart.yaml": card, "web/values.yaml": "image: example/web\nsidecar: true\n", "web/values-prod.yml": "image: [", "web/values.schema.json": "{}", "web/templates/sidecar.yaml": template, "web/templates/app.yaml": "kind: {{ .x }}\n"},
			skipped: map[string]string{
				"web/Chart.yaml": "metadata of a Helm chart", "web/values.yaml": "values of the Helm chart web", "web/values-prod.yml": "values of the Helm chart web",
				"web/values.schema.json": "neither objects", "web/templates/sidecar.yaml": "template of a Helm chart with a VectorSidecar",
			},
		},
		"links of another chart":           {files: map[string]string{"web/Chart.yaml": card + "sources: [https://example.com]\n"}, skipped: map[string]string{"web/Chart.yaml": "metadata"}},
		"components of other values":       {files: map[string]string{"web/Chart.yaml": card, "web/values.yaml": "sources: {a: {type: http}}\n"}, skipped: map[string]string{"web/Chart.yaml": "metadata", "web/values.yaml": "values of"}},
		"a file below another chart":       {files: map[string]string{"web/Chart.yaml": card, "web/ci/one-values.yaml": "sidecar: true\n"}, skipped: map[string]string{"web/Chart.yaml": "metadata", "web/ci/one-values.yaml": "values of the Helm chart web"}},
		"a map of ours in another chart":   {files: map[string]string{"web/Chart.yaml": card, "web/values.yaml": ours}, findings: []string{"web/values.yaml:1:11"}, skipped: map[string]string{"web/Chart.yaml": "metadata"}},
		"environments in another chart":    {files: map[string]string{"web/Chart.yaml": card, "web/prod.yaml": "environments: {qa: {sidecar: {logz: x}}}\n"}, findings: []string{"web/prod.yaml:1:31"}, skipped: map[string]string{"web/Chart.yaml": "metadata"}},
		"a chart of ours in another chart": {files: map[string]string{"web/Chart.yaml": card, "web/charts/op/Chart.yaml": "name: vector-sidecar-operator\n", "web/charts/op/values.yaml": "sidecar: true\n"}, findings: []string{"web/charts/op/values.yaml:1:1"}, skipped: map[string]string{"web/Chart.yaml": "metadata", "web/charts/op/Chart.yaml": "metadata"}},
		"named with --values":              {files: map[string]string{"web/Chart.yaml": card, "web/values.yaml": "environment: qa\n"}, arguments: []string{"--values", "web/values.yaml"}, skipped: map[string]string{"web/Chart.yaml": "metadata"}},
		"no chart at all":                  {files: map[string]string{"deploy/values-prod.yaml": "sidecar: true\n", "deploy/other.yaml": "sidecar: true\n"}, findings: []string{"deploy/values-prod.yaml:1:1"}, skipped: map[string]string{"deploy/other.yaml": "neither objects"}},
		"TOML of other tools":              {files: map[string]string{"pyproject.toml": "[tool.black]\nline-length = 9\n", "values.yaml": "environment: development\n"}, skipped: map[string]string{"pyproject.toml": "neither objects"}},
		"a plain object of a template":     {files: map[string]string{"web/Chart.yaml": card, "web/templates/sidecar.yaml": "kind: VectorSidecar\nmetadata: {name: a}\nspec: {selektor: {}}\n"}, findings: []string{"web/templates/sidecar.yaml:3:8", "web/templates/sidecar.yaml:3:1"}, skipped: map[string]string{"web/Chart.yaml": "metadata"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, test.files, append([]string{"lint", ".", "-o", "json"}, test.arguments...)...)

			require.Equal(t, len(test.findings) > 0, err != nil, "%s: %v", out, err)
			var result lint.Result
			require.NoError(t, json.Unmarshal([]byte(out), &result), out)
			places := []string{}
			for i := range result.Findings {
				places = append(places, result.Findings[i].Position())
			}
			require.ElementsMatch(t, test.findings, places, out)
			skipped := map[string]string{}
			for _, file := range result.Skipped {
				skipped[file.File] = file.Reason
				require.Contains(t, file.Reason, test.skipped[file.File], file.File)
			}
			require.Len(t, skipped, len(test.skipped), out)
		})
	}
}
