// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// Otherwise a golden file next to the templates would change what it is compared with.
func TestTheTestsOfAChartAreNoPartOfIt(t *testing.T) {
	source := fstest.MapFS{"templates/tests/a.yaml": {Data: []byte("a")}}
	alone, err := ReadFiles(source)
	require.NoError(t, err)
	require.Len(t, alone, 1)
	source["tests/cart.golden"] = &fstest.MapFile{Data: []byte("b")}
	beside, err := ReadFiles(source)
	require.NoError(t, err)
	require.Equal(t, alone.digest(), beside.digest())
}

func TestWhatHelmLeavesOutIsNoPartOfAChart(t *testing.T) {
	files, err := ReadFiles(fstest.MapFS{
		".helmignore": {Data: []byte("# ours\n/bin/\n*.md\n")}, "values.yaml": {Data: []byte("a: 1\n")},
		"bin/tool": {Data: make([]byte, 8<<20)}, "README.md": {Data: []byte("x")}, "files/a.txt": {Data: []byte("x")},
	})
	require.NoError(t, err)
	require.Contains(t, files, "values.yaml")
	require.Contains(t, files, "files/a.txt")
	require.NotContains(t, files, "bin/tool")
	require.NotContains(t, files, "README.md")
}

// Helm parses these itself, without limits.
func TestWhatHelmWouldReadIsMeasuredBefore(t *testing.T) {
	const card = "apiVersion: v2\nname: own\nversion: 1.0.0\n"
	laughs := "a: &a [" + strings.Repeat("x, ", 9000) + "]\nb: [" + strings.Repeat("*a, ", 5000) + "]\n"
	for name, test := range map[string]struct {
		file, text string
		want       string
	}{
		"a card that laughs":      {"Chart.yaml", card + laughs, "Chart.yaml: with its aliases written out"},
		"values that go deep":     {"values.yaml", "a: " + strings.Repeat("[", 1000), "values.yaml:1: nested deeper"},
		"a lock of many":          {"Chart.lock", strings.Repeat("-\n", 50_000), "Chart.lock:"},
		"a dependency in it":      {"charts/other/Chart.yaml", card, "has a dependency, charts/other/Chart.yaml, which is not rendered"},
		"a packed dependency":     {"charts/other.tgz", "x", "has a dependency, charts/other.tgz"},
		"a schema that reads":     {"values.schema.json", `{"$ref": "file:///etc/passwd"}`, "a schema must not load others"},
		"a schema without an end": {"values.schema.json", `{"$ref": "#"}`, "never ends"},
	} {
		t.Run(name, func(t *testing.T) {
			files := Files{"Chart.yaml": []byte(card), "values.yaml": nil, "values.schema.json": []byte(`{"type": "object"}`)}
			_, err := files.Load()
			require.NoError(t, err)
			files[test.file] = []byte(test.text)
			_, err = files.Load()
			require.ErrorContains(t, err, test.want)
		})
	}
}
