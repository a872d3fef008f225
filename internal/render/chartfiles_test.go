// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// Test files next to the templates are not part of the template set, because they would change what they test.
func TestReadFiles_ExcludesTests(t *testing.T) {
	source := fstest.MapFS{"templates/tests/a.yaml": {Data: []byte("a")}}
	alone, err := ReadFiles(source)
	require.NoError(t, err)
	require.Len(t, alone, 1)
	source["tests/cart.golden"] = &fstest.MapFile{Data: []byte("b")}
	beside, err := ReadFiles(source)
	require.NoError(t, err)
	require.Equal(t, alone.digest(), beside.digest())
}

func TestReadFiles_FollowsHelmignore(t *testing.T) {
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

// Helm parses some files of a chart without limits. The operator rejects too large ones before.
func TestLoad_RejectsOversizedFiles(t *testing.T) {
	const card = "apiVersion: v2\nname: own\nversion: 1.0.0\n"
	laughs := "a: &a [" + strings.Repeat("x, ", 9000) + "]\nb: [" + strings.Repeat("*a, ", 5000) + "]\n"
	for name, test := range map[string]struct {
		file, text string
		want       string
	}{
		"a card that laughs":      {"Chart.yaml", card + laughs, "Chart.yaml:4: with aliases replaced"},
		"values that go deep":     {"values.yaml", "a: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "values.yaml:1: nested deeper"},
		"a lock of many":          {"Chart.lock", strings.Repeat("-\n", 50_000), "Chart.lock:"},
		"a dependency in it":      {"charts/other/Chart.yaml", card, "has a dependency, charts/other/Chart.yaml, which is not rendered"},
		"a large template":        {"templates/a.yaml", strings.Repeat("x", 512<<10+1), "templates/a.yaml: the text has 524289 bytes, more than the limit of a template file (524288): split it"},
		"a packed dependency":     {"charts/other.tgz", "x", "has a dependency, charts/other.tgz"},
		"a schema that reads":     {"values.schema.json", `{"$ref": "file:///etc/passwd"}`, "the schema refers to another document"},
		"a schema without an end": {"values.schema.json", `{"$ref": "#"}`, "refers to itself"},
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

// A template set from a directory is the same as from the ConfigMap of that directory.
func TestWithDirectory_EqualsWithConfigMap(t *testing.T) {
	builtin := Files{"Chart.yaml": []byte("name: vector"), "values.yaml": []byte("a: 1"), "templates/podtemplate.yaml": []byte("old"), "templates/_lib.tpl": []byte("lib")}
	want, err := builtin.WithConfigMap(map[string]string{"podtemplate.yaml": "new", "values.yaml": "a: 2", "files__rules.toml": "r"}, nil)
	require.NoError(t, err)
	require.Len(t, want, 5)
	for name, directory := range map[string]fstest.MapFS{
		"keys":  {"podtemplate.yaml": {Data: []byte("new")}, "values.yaml": {Data: []byte("a: 2")}, "files__rules.toml": {Data: []byte("r")}},
		"paths": {"templates/podtemplate.yaml": {Data: []byte("new")}, "values.yaml": {Data: []byte("a: 2")}, "files/rules.toml": {Data: []byte("r")}},
		"tests": {"podtemplate.yaml": {Data: []byte("new")}, "values.yaml": {Data: []byte("a: 2")}, "files/rules.toml": {Data: []byte("r")}, "tests/a.txtar": {Data: []byte("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := builtin.WithDirectory(directory)
			require.NoError(t, err)
			require.Equal(t, want, files)
			packed, err := files.FS()
			require.NoError(t, err)
			again, err := ReadFiles(packed)
			require.NoError(t, err)
			require.Equal(t, want, again)
		})
	}

	below, err := builtin.WithDirectory(fstest.MapFS{"templates/_lib.tpl": {Data: []byte("new")}})
	require.NoError(t, err)
	require.Equal(t, "new", string(below["templates/_lib.tpl"]))
	_, err = builtin.WithDirectory(fstest.MapFS{})
	require.ErrorContains(t, err, "no files; add the files that differ")
	_, err = builtin.WithDirectory(fstest.MapFS{"a.yaml": {Data: []byte("x")}, "templates/a.yaml": {Data: []byte("y")}})
	require.ErrorContains(t, err, "a.yaml and templates/a.yaml are the same file of the chart; remove one of them")
}
