// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	require.NoError(t, os.WriteFile(file, []byte("-- workload.yaml --\n"+text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())+
		"-- vectorsidecar.yaml --\n"+text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build())+"-- want.yaml --\n"), 0o600))
	return file
}

// A test uses the templates of the nearest chart above its file, and the built-in templates if there is none.
func TestNewTest_UsesTemplatesOfNearestChart(t *testing.T) {
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

// A test that cannot be loaded, and a path without tests, are errors, not failed tests. The flag --update writes
// nothing of them.
func TestNewTest_RejectsInvalidTests(t *testing.T) {
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
		"a path without a test":         {[]string{good, filepath.Join(root, "empty")}, "no tests in " + filepath.Join(root, "empty")},
		"a file that is none":           {[]string{good, filepath.Join(chart, "values.yaml")}, "no tests in " + filepath.Join(chart, "values.yaml")},
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

// If some tests cannot be loaded, the output reports them as errors, and has the result of every other test.
func TestTestOptions_ContinuesAfterInvalidTest(t *testing.T) {
	files := func(t *testing.T) map[string]string {
		t.Helper()
		good, err := os.ReadFile(testIn(t, t.TempDir()))
		require.NoError(t, err)
		scenario := strings.TrimSuffix(string(good), "-- want.yaml --\n")
		return map[string]string{
			"good.txtar":       scenario + "-- expect.yaml --\n- {path: '{.metadata.name}', equals: cart}\n",
			"fails.txtar":      scenario + "-- expect.yaml --\n- {object: Secret, exists: true}\n",
			"absent.txtar":     scenario + "-- expect.yaml --\n- {object: Secret, exists: false}\n",
			"incomplete.txtar": "-- workload.yaml --\n",
			"orphan.txtar":     "base: none.txtar\n" + scenario,
			"expects.txtar":    scenario + "-- expect.yaml --\n- {pth: x}\n",
			"path.txtar":       scenario + "-- expect.yaml --\n- {path: '{.metadata', exists: true}\n",
		}
	}
	t.Run("one fails", func(t *testing.T) {
		out, err := run(t, files(t), "test", ".")
		require.ErrorAs(t, err, new(*foundError))
		for _, part := range []string{
			"ok   absent\n", "ok   good\n", "FAIL fails\n", "ERROR incomplete\n", "ERROR orphan\n", "ERROR expects\n", "ERROR path\n",
			`"vectorsidecar.yaml" is missing`, `base "none.txtar" does not exist`, "the outcome has no object Secret", "7 tests, 1 failed, 4 not run",
		} {
			require.Contains(t, out, part)
		}
	})
	t.Run("none fails", func(t *testing.T) {
		all := files(t)
		delete(all, "fails.txtar")
		out, err := run(t, all, "test", ".", "-o", "junit")
		require.ErrorContains(t, err, `"vectorsidecar.yaml" is missing`)
		require.NotErrorAs(t, err, new(*foundError))
		require.Contains(t, out, `tests="6" failures="0" errors="4"`)
	})
}

// Flags have the same effect on each test as on render, and take precedence over the files of a test.
func TestTestOptions_AppliesFlagsToAllTests(t *testing.T) {
	good, err := os.ReadFile(testIn(t, t.TempDir()))
	require.NoError(t, err)
	scenario := strings.TrimSuffix(string(good), "-- want.yaml --\n")
	const image = "{.spec.template.spec.initContainers[0].image}"
	level := `{.spec.template.spec.initContainers[0].env[?(@.name=="VECTOR_LOG")].value}`
	for name, test := range map[string]struct {
		more      string // in the test
		arguments []string
		expects   map[string]string
	}{
		"files of the test": {
			more:    "-- values.yaml --\nsidecar: {image: registry.example/vector:own, logLevel: trace}\n",
			expects: map[string]string{image: "registry.example/vector:own", level: "trace"},
		},
		"values over them": {
			more:      "-- values.yaml --\nsidecar: {image: registry.example/vector:own, logLevel: trace}\n",
			arguments: []string{"--values", "values.yaml"},
			expects:   map[string]string{image: "registry.example/vector:flag", level: "trace"},
		},
		"values from the standard input": {arguments: []string{"--values", "-"}, expects: map[string]string{image: "registry.example/vector:stdin"}},
		"set":                            {arguments: []string{"--set", "sidecar.logLevel=error", "--set-file", "sidecar.image=image.txt"}, expects: map[string]string{image: "registry.example/vector:file", level: "error"}},
		"environment":                    {more: "-- environment --\nstaging\n", arguments: []string{"--environment", "production"}, expects: map[string]string{level: "warn"}},
		"versions":                       {more: "-- kube-version --\nv1.36.0\n", arguments: []string{"--kube-version", "v1.27.0", "--kubelet-version", "v1.27.0"}, expects: map[string]string{image: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			expectations := "-- expect.yaml --\n"
			for path, value := range test.expects {
				expectations += fmt.Sprintf("- {path: '%s', equals: %q}\n", path, value)
			}
			out, err := runWith(t, map[string]string{
				"one.txtar": scenario + test.more + expectations, "two.txtar": scenario + test.more + expectations,
				"values.yaml": "sidecar: {image: registry.example/vector:flag}\n", "image.txt": "registry.example/vector:file",
			}, "sidecar: {image: registry.example/vector:stdin}\n", append([]string{"test", "."}, test.arguments...)...)
			require.NoError(t, err, out)
		})
	}
	t.Run("values that cannot be read", func(t *testing.T) {
		_, err := run(t, map[string]string{"one.txtar": scenario}, "test", ".", "--values", "none.yaml", "--update")
		require.ErrorContains(t, err, "none.yaml")
	})
}
