// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// chartOf makes a folder a sidecar chart, with another template of the pod.
func chartOf(t *testing.T, folder, template string) {
	t.Helper()
	require.NoError(t, os.CopyFS(folder, vectorsidecar.FS))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "templates", "podtemplate.yaml"), []byte("kind: PodTemplate\n"+template+"\n"), 0o600))
}

// testIn writes a test into a folder.
func testIn(t *testing.T, folder string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o700))
	file := filepath.Join(folder, "base.txtar")
	require.NoError(t, os.WriteFile(file, []byte("-- workload.yaml --\n"+text(t, objects.NewDeployment("cart", "shop").Labelled("logs", "vector").Build())+
		"-- vectorsidecar.yaml --\n"+text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build())+"-- want.yaml --\n"), 0o600))
	return file
}

func TestATestIsOfTheNearestChart(t *testing.T) {
	root := t.TempDir()
	outer, inner, builtin := filepath.Join(root, "sets", "outer"), filepath.Join(root, "sets", "outer", "tests", "inner"), filepath.Join(t.TempDir(), "builtin")
	chartOf(t, outer, `{{ fail "of outer" }}`)
	chartOf(t, inner, `{{ fail "of inner" }}`)
	require.NoError(t, os.CopyFS(builtin, vectorsidecar.FS))
	ofOuter, ofInner := testIn(t, filepath.Join(outer, "tests")), testIn(t, filepath.Join(inner, "more", "tests"))
	ofNone := testIn(t, filepath.Join(root, "none"))
	for name, test := range map[string]struct {
		arguments []string
		has, not  []string
	}{
		"a folder above all charts":  {[]string{root}, []string{"of outer", "of inner", "FAIL " + filepath.Join(root, "none", "base"), "name: vector"}, nil},
		"a chart":                    {[]string{outer}, []string{"of outer", "of inner"}, nil},
		"one in a chart":             {[]string{inner}, []string{"of inner"}, []string{"of outer"}},
		"a file in a chart":          {[]string{ofOuter}, []string{"of outer"}, nil},
		"a folder in a chart":        {[]string{filepath.Dir(ofInner)}, []string{"of inner"}, nil},
		"a file in none":             {[]string{ofNone}, []string{"name: vector"}, []string{"of outer", "of inner"}},
		"other templates":            {[]string{ofOuter, "--templates", builtin}, []string{"name: vector"}, []string{"of outer"}},
		"another chart's templates":  {[]string{ofNone, ofOuter, "--templates", inner}, []string{"of inner"}, []string{"of outer"}},
		"the same one by two paths":  {[]string{outer, filepath.Join(outer, "..", "outer")}, []string{"of outer", "2 tests, 2 failed"}, nil},
		"a file and a folder of it":  {[]string{filepath.Dir(ofOuter), ofOuter}, []string{"2 tests, 2 failed"}, nil},
		"a test that is also a base": {[]string{ofOuter, ofOuter}, []string{"1 test, 1 failed"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, nil, append([]string{"test"}, test.arguments...)...)
			require.ErrorAs(t, err, new(*foundError), out)
			for _, part := range test.has {
				require.Contains(t, out, part)
			}
			for _, part := range test.not {
				require.NotContains(t, out, part)
			}
		})
	}
}

// Neither is a test that fails, and --update writes nothing of it.
func TestTestsThatCannotBeRunAreAnError(t *testing.T) {
	root := t.TempDir()
	chart := filepath.Join(root, "chart")
	chartOf(t, chart, "{{ if }}")
	file := testIn(t, filepath.Join(chart, "tests"))
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	good := testIn(t, filepath.Join(root, "good"))
	require.NoError(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"a chart that cannot be loaded": {[]string{file, "--update"}, chart},
		"a path without a test":         {[]string{good, filepath.Join(root, "empty")}, "there are no tests in " + filepath.Join(root, "empty")},
		"a file that is none":           {[]string{good, filepath.Join(chart, "values.yaml")}, "there are no tests in " + filepath.Join(chart, "values.yaml")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, nil, append([]string{"test"}, test.arguments...)...)
			require.ErrorContains(t, err, test.says)
			require.NotErrorAs(t, err, new(*foundError))
		})
	}
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}
