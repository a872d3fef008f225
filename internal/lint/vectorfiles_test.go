// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// A configuration that is split into several files is checked as one, for each way of splitting it.
func TestLinter_ChecksSplitConfiguration(t *testing.T) {
	const sources, sinks = "sources:\n  in: {type: stdin}\n", "sinks:\n  out: {type: blackhole, inputs: [in]}\n"
	for name, test := range map[string]struct {
		// root is the folder that is named, "" if the files are.
		root    string
		files   map[string]string
		want    []string
		skipped []string
	}{
		"two files":                  {files: map[string]string{"a.yaml": sources, "b.yaml": sinks}},
		"two files of a folder":      {root: "v", files: map[string]string{"v/a.yaml": sources, "v/b.yaml": sinks}},
		"files of two folders":       {root: "v", files: map[string]string{"v/x/a.yaml": sources, "v/y/b.yaml": sinks}},
		"three formats":              {files: map[string]string{"a.yaml": sources, "b.json": `{"sinks": {"out": {"type": "blackhole", "inputs": ["in"]}}}`, "c.toml": "data_dir = \"/x\"\n"}},
		"options alone":              {files: map[string]string{"a.yaml": sources + sinks, "b.yaml": "data_dir: [/x]\n"}, want: []string{"b.yaml:1:11 VSC106"}},
		"a folder for each kind":     {root: "v", files: map[string]string{"v/sources/in.yaml": "type: stdin\n", "v/sinks/out.yaml": "type: blackhole\ninputs: [in]\n"}},
		"a folder in a folder":       {root: "v", files: map[string]string{"v/etc/vector.yaml": sources, "v/etc/sinks/out.yaml": "type: blackhole\ninputs: [i]\n"}, want: []string{"v/etc/sinks/out.yaml:2:10 VSC211"}},
		"nested transforms":          {root: "v", files: map[string]string{"v/a.yaml": sources, "v/transforms/r.yaml": "type: route\ninputs: [in]\n", "v/transforms/r/route.yaml": "a: 'true'\n", "v/sinks/out.yaml": "type: blackhole\ninputs: [r.a, r._unmatched]\n"}},
		"a fault of one":             {files: map[string]string{"a.yaml": sources, "b.yaml": "sinks:\n  out: {type: blackhole, inputs: [i]}\n"}, want: []string{"b.yaml:2:35 VSC211"}},
		"what is defined twice":      {files: map[string]string{"a.yaml": sources + sinks, "b.yaml": sources}, want: []string{"b.yaml:2:3 VSC104"}},
		"no sink in any":             {files: map[string]string{"a.yaml": sources, "b.yaml": "data_dir: /x\n"}, want: []string{"a.yaml:1:1 VSC204"}},
		"other files":                {root: "v", files: map[string]string{"v/a.yaml": sources + sinks, "v/notes.yaml": "something: else\n", "v/sources/x/y.yaml": "type: nothing\n"}, skipped: []string{"v/notes.yaml", "v/sources/x/y.yaml"}},
		"objects":                    {files: map[string]string{"a.yaml": sources + sinks, "b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}},
		"a comment that ignores one": {files: map[string]string{"a.yaml": sources + "  x: {type: internal_logs} # vectorsidecar: ignore VSC215 because it is not used yet\n", "b.yaml": sinks}},
	} {
		t.Run(name, func(t *testing.T) {
			chart, err := render.LoadChart(vectorsidecar.FS)
			require.NoError(t, err)
			linter := Linter{Platform: desired.NewPlatform(chart, "", map[string]string{}), IsTogether: true, Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"}, VectorVersion: "0.57.0"}
			var files []File
			for _, file := range slices.Sorted(maps.Keys(test.files)) {
				files = append(files, File{Name: file, Root: test.root, Text: []byte(test.files[file])})
			}

			result, err := linter.Lint(t.Context(), files)

			require.NoError(t, err)
			var found []string
			for _, finding := range result.Findings {
				found = append(found, finding.Position()+" "+finding.Code)
			}
			require.Equal(t, test.want, found)
			var skipped []string
			for _, file := range result.Skipped {
				skipped = append(skipped, file.File)
			}
			require.Equal(t, test.skipped, skipped)
			require.Equal(t, len(files)-len(test.skipped), result.Linted)
		})
	}
}
