// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/test/hostile"
)

// reportedTexts returns texts that would end the surrounding text in a format of a report.
func reportedTexts() map[string]string {
	texts := hostile.Texts()
	for name, text := range map[string]string{
		"the end of a section": "]]>", "the end of an attribute": `"><failure message="x"/>`, "an entity": "&lt;&xxe;&#x1b;", "the end of JSON": `"}]}, {"a": "\u0000`,
		"a line break that is written": "%0A::error::owned", "properties": "x,line=1,col=1::y", "a surrogate": "\\ud800", "no character": "\ufffe\uffff", "very long": strings.Repeat("x<&\"%:", 50_000),
	} {
		texts[name] = text
	}
	return texts
}

// findingLine is a finding as GitHub reads it: one line, whose properties end with two colons.
var findingLine = regexp.MustCompile(`^::(?:error|warning) file=[^:,\r\n]+(?:,line=\d+)?(?:,col=\d+)?,title=\w+::[^\r\n]+$`)

// Names, keys and values of files may contain anything. A report is complete in each format, with the same number of
// findings.
func TestReport_StaysCompleteWithHostileNames(t *testing.T) {
	t.Parallel()
	for name, text := range reportedTexts() {
		t.Run(name, func(t *testing.T) {
			folder, quoted := t.TempDir(), strconv.QuoteToASCII(strings.ToValidUTF8(text, "\ufffd"))
			file := strings.NewReplacer("/", "|", "\x00", "|").Replace(text)
			for path, content := range map[string]string{
				file[:min(len(file), 200)] + ".yaml": "a: [",
				"vector.json":                        `{"sources": {` + jsonOf(t, text) + `: {"type": ` + jsonOf(t, text) + `}}, "sinks": {"out": {"type": "blackhole", "inputs": [` + jsonOf(t, text) + `], ` + jsonOf(t, text) + `: 1}}}`,
				"values.yaml":                        "sidecar:\n  ? " + quoted + "\n  : 1\n",
				"sidecar.yaml":                       write(selecting, "SPEC", "environment: "+quoted+", sidecar: {config: {inline: "+quoted+"}}"),
				"field.yaml":                         write(selecting, "SPEC", quoted+": 1"),
				"raw.toml":                           text,
			} {
				require.NoError(t, os.WriteFile(filepath.Join(folder, path), []byte(content), 0o600), path)
			}
			count := strings.Count(linted(t, folder, "github"), "\n")
			require.Greater(t, count, 5)
			for line := range strings.Lines(linted(t, folder, "github")) {
				require.Regexp(t, findingLine, strings.TrimSuffix(line, "\n"))
			}
			var report struct {
				Findings []struct{ File, Message string }
			}
			require.NoError(t, json.Unmarshal([]byte(linted(t, folder, "json")), &report))
			require.Len(t, report.Findings, count)
			var sarif struct{ Runs []struct{ Results []any } }
			require.NoError(t, json.Unmarshal([]byte(linted(t, folder, "sarif")), &sarif))
			require.Len(t, sarif.Runs[0].Results, count)
			var suite struct {
				Tests int                      `xml:"tests,attr"`
				Cases []struct{ Failure *any } `xml:"testcase"`
			}
			require.NoError(t, xml.Unmarshal([]byte(linted(t, folder, "junit")), &suite))
			require.Equal(t, count, suite.Tests)
			require.Len(t, suite.Cases, count)
		})
	}
}

func jsonOf(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return string(quoted)
}

// linted returns the report about a folder.
func linted(t *testing.T, folder, format string) string {
	t.Helper()
	var out, rest bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &rest}
	code := cli.Run(t.Context(), []string{"lint", folder, "-o", format}, streams, builtin, "test")
	require.Equal(t, 1, code, rest.String())
	require.True(t, utf8.Valid(out.Bytes()), "%s is no text", format)
	if format != "github" {
		hostile.RequireHarmless(t, out.String(), format)
	}
	return out.String()
}
