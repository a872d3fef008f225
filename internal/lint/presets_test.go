// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// chartWith returns the built-in chart with another text in one of its files.
func chartWith(t *testing.T, file, old, text string) fs.FS {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, vectorsidecar.FS))
	content, err := fs.ReadFile(vectorsidecar.FS, file)
	require.NoError(t, err)
	require.Contains(t, string(content), old)
	require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(strings.Replace(string(content), old, text, 1)), 0o600))
	return os.DirFS(root)
}

// A template can be reached only with some VectorSidecars. It is rendered with sample VectorSidecars (presets), and the
// finding names the preset.
func TestLintChart_RendersEveryPreset(t *testing.T) {
	const pipeline, sinks = "templates/_pipeline.tpl", "templates/_sinks.tpl"
	for name, test := range map[string]struct {
		chart fs.FS
		want  string
	}{
		"built-in":                 {chart: vectorsidecar.FS},
		"fails with logs":          {chartWith(t, pipeline, `{{- define "vector-sidecar.fileSource" }}`, `{{- define "vector-sidecar.fileSource" }}{{ fail "no files" }}`), "VectorSidecars with aws_s3, console, elasticsearch, http, kafka, logs, loki, splunk_hec_logs, vector: "},
		"fails with a kind":        {chartWith(t, sinks, `{{- $sink = mergeOverwrite $preset $sink }}`, `{{- $sink = mergeOverwrite $preset $sink }}{{ if eq $sink.type "loki" }}{{ fail "no Loki" }}{{ end }}`), "VectorSidecars with loki: "},
		"fails in one environment": {chartWith(t, "templates/podtemplate.yaml", "kind: PodTemplate", `kind: PodTemplate{{ if eq .Values.environment "staging" }}{{ if .Values.sidecar.logs.path }}{{ fail "no files" }}{{ end }}{{ end }}`), "environment staging: no files"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := linterFor(t, builtInPlatform(t)).LintChart(t.Context(), &Folder{Name: "chart", Files: test.chart, Chart: test.chart})

			require.NoError(t, err)
			findings := result.Findings
			if test.want == "" {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.Equal(t, "InvalidTemplate", findings[0].Code)
			require.Contains(t, findings[0].Message, test.want)
			require.Positive(t, findings[0].Line)
		})
	}
}

// Values are rendered with all sample VectorSidecars (presets). A finding with each of them is reported for the values.
func TestLinter_RendersValuesWithPresets(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"a sink of no such type":        {"sidecar:\n  sinks:\n    out: {type: htttp, uri: 'http://x'}\n", []string{"values.yaml:3:11 VSC302"}},
		"in another environment":        {"environments:\n  production:\n    sidecar:\n      sinks:\n        out: {type: htttp}\n", []string{"values.yaml:5:15 VSC302"}},
		"an option of the sink":         {"sidecar:\n  sinks:\n    out: {type: http, uri: 'http://x', encodng: {codec: json}}\n", []string{"values.yaml:3:40 VSC308"}},
		"a sink that needs logs":        {"sidecar:\n  sinks:\n    out: {type: http, uri: 'http://x', inputs: [logs]}\n", nil},
		"a template set that fails":     {"templates:\n  default:\n    _own.tpl: |\n      {{ define \"own\" }}{{ end }}\n    podtemplate.yaml: |\n      {{ include \"own\" . }}{{ if .Values.sidecar.logs.path }}\n      {{ fail \"no\" }}\n      {{ end }}\n", []string{"values.yaml:7 InvalidTemplate"}},
		"a set that nothing has chosen": {"templates:\n  other:\n    podtemplate.yaml: |\n      {{ fail \"no\" }}\n", []string{"values.yaml:4 InvalidTemplate"}},
		"nothing":                       {"environment: development\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := lintFiles(t, map[string]string{"values.yaml": test.values})

			require.Equal(t, test.want, found)
		})
	}
}
