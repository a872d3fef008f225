// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const objectsOfIt = "---\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  c: |\n    ---\n    x: 1\n  k: v\n  empty: \"\"\nlist: [{name: a}]\n---\nkind: Deployment\nmetadata:\n  name: cart\nspec:\n  replicas: 2\n"

// load writes and loads a scenario with further files.
func load(t *testing.T, further map[string]string) (*Scenario, error) {
	t.Helper()
	text := "-- workload.yaml --\n-- vectorsidecar.yaml --\n"
	for name, content := range further {
		text += "-- " + name + " --\n" + content
	}
	file := filepath.Join(t.TempDir(), "one.txtar")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	found, err := Load(file)
	if err != nil {
		return nil, err
	}
	require.Len(t, found, 1)
	return found[0], nil
}

// Each case is an expectation in YAML, and whether the sample outcome meets it.
func TestCompare_ChecksExpectations(t *testing.T) {
	for name, test := range map[string]struct {
		expect string
		passes bool
		err    string
	}{
		"equal":                     {"- {path: '{.spec.replicas}', equals: '2'}\n", true, ""},
		"not equal":                 {"- {path: '{.spec.replicas}', equals: '3'}\n", false, ""},
		"of another object":         {"- {object: ConfigMap/a, path: '{.data.k}', equals: v}\n", true, ""},
		"a part":                    {"- {path: '{.metadata.name}', contains: ar}\n", true, ""},
		"a pattern":                 {"- {path: '{.metadata.name}', matches: '^c.*t$'}\n", true, ""},
		"a pattern that fails":      {"- {path: '{.metadata.name}', matches: '^x'}\n", false, ""},
		"there":                     {"- {path: '{.spec}', exists: true}\n", true, ""},
		"not there":                 {"- {path: '{.status}', exists: false}\n", true, ""},
		"not there, but meant":      {"- {path: '{.status}', exists: true}\n", false, ""},
		"no object of that name":    {"- {object: Deployment/x, path: '{.spec}', exists: true}\n", false, ""},
		"absent object":             {"- {object: Deployment/x, exists: false}\n", true, ""},
		"absent kind":               {"- {object: Secret, exists: false}\n", true, ""},
		"object that exists":        {"- {object: ConfigMap/a, exists: false}\n", false, ""},
		"object, expected":          {"- {object: ConfigMap/a, exists: true}\n", true, ""},
		"path in an absent object":  {"- {object: Secret, path: '{.data}', exists: false}\n", true, ""},
		"text of an absent object":  {"- {object: Secret, path: '{.data}', equals: ''}\n", false, ""},
		"lacks a text":              {"- {object: ConfigMap/a, path: '{.data}', lacks: password}\n", true, ""},
		"does not lack a text":      {"- {object: ConfigMap/a, path: '{.data}', lacks: 'x: 1'}\n", false, ""},
		"lacks, absent path":        {"- {object: ConfigMap/a, path: '{.binaryData}', lacks: x}\n", true, ""},
		"lacks, absent object":      {"- {object: Secret, path: '{.data}', lacks: x}\n", false, ""},
		"absent item of a list":     {"- {path: '{.spec.items[5].name}', exists: false}\n", true, ""},
		"absent index":              {"- {object: ConfigMap/a, path: '{.list[5].name}', exists: false}\n", true, ""},
		"index, expected":           {"- {object: ConfigMap/a, path: '{.list[5].name}', equals: x}\n", false, ""},
		"empty value":               {"- {object: ConfigMap/a, path: '{.data.empty}', exists: true}\n", true, ""},
		"absent filter match":       {"- {object: ConfigMap/a, path: '{.list[?(@.name==\"x\")]}', exists: false}\n", true, ""},
		"nothing expected of it":    {"- {path: '{.spec}'}\n", false, "set exactly one of"},
		"two things at once":        {"- {path: '{.spec}', exists: true, equals: x}\n", false, "set exactly one of"},
		"a path that is none":       {"- {path: '{.spec', exists: true}\n", false, "{.spec"},
		"a pattern that is none":    {"- {path: '{.spec}', matches: '('}\n", false, "matches"},
		"a key that does not exist": {"- {pth: x}\n", false, "pth"},
		"a path without braces":     {"- {path: .status, exists: true}\n", false, `path ".status" is not a valid JSONPath; write it in braces`},
		"no path":                   {"- {equals: x}\n", false, "path is missing"},
		"nothing at all":            {"# later\n", false, "no expectations"},
	} {
		t.Run(name, func(t *testing.T) {
			one, err := load(t, map[string]string{Expectations: test.expect})
			require.NoError(t, err)
			differences, err := one.Compare(Outcome{Text: objectsOfIt})
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.passes, len(differences) == 0, differences)
		})
	}
}

// A scenario expects an error. Another error, or no error, is a difference.
func TestCompare_ChecksWholeOutcome(t *testing.T) {
	one, err := load(t, map[string]string{WantError: "broken\n"})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		outcome Outcome
		differs bool
	}{
		"the same":        {Outcome{Failed: true, Text: "broken\n"}, false},
		"another error":   {Outcome{Failed: true, Text: "worse\n"}, true},
		"no error at all": {Outcome{Text: objectsOfIt}, true},
	} {
		t.Run(name, func(t *testing.T) {
			differences, err := one.Compare(test.outcome)
			require.NoError(t, err)
			require.Equal(t, test.differs, len(differences) > 0)
		})
	}

	require.NoError(t, one.Update(Outcome{Text: objectsOfIt}))
	again, err := Load(one.path)
	require.NoError(t, err)
	_, isThere := again[0].File(WantError)
	require.False(t, isThere, "the old outcome is gone")
	differences, err := again[0].Compare(Outcome{Text: objectsOfIt})
	require.NoError(t, err)
	require.Empty(t, differences)
}

// If a file has Windows line ends or a byte order mark, an update keeps them.
func TestStyle_KeepsWindowsLineEnds(t *testing.T) {
	windows := func(text string) string { return "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n") }
	const child = "base: base.txtar\n-- vectorsidecar.diff --\n~  level: warn\n-- want.diff --\n"
	root := folder(t, map[string]string{
		"base.txtar": windows(standing), "child.txtar": windows(child), "linux.txtar": child,
		"folder/workload.yaml": windows("replicas: 2\n"), "folder/vectorsidecar.yaml": "spec: {}\n", "folder/want.yaml": windows("a: 1\n"),
		"new/workload.yaml": windows("replicas: 2\n"), "new/vectorsidecar.yaml": "spec: {}\n",
	})
	found, err := Load(root)
	require.NoError(t, err)
	byName := map[string]*Scenario{}
	for _, one := range found {
		byName[filepath.Base(one.Name)] = one
	}
	require.Equal(t, "It stands alone.", byName["base"].Story)
	for name, text := range map[string]string{
		"base": "image: vector:1\nlevel: info\nreplicas: 2\n", "child": "image: vector:1\nlevel: info\nreplicas: 2\n",
		"linux": "image: vector:1\nlevel: info\nreplicas: 2\n", "folder": "a: 1\n",
	} {
		differences, err := byName[name].Compare(Outcome{Text: text})
		require.NoError(t, err, name)
		require.Empty(t, differences, name)
	}
	require.Equal(t, "spec:\n  level: warn\n", string(byName["child"].Files()[Sidecar]))

	for _, name := range []string{"base", "child", "linux", "folder", "new"} {
		require.NoError(t, byName[name].Update(Outcome{Text: "image: vector:1\nlevel: warn\nreplicas: 2\n"}))
	}
	require.Equal(t, windows(strings.Replace(standing, "vector:1\nlevel: info", "vector:1\nlevel: warn", 1)), read(t, root, "base.txtar"))
	require.Equal(t, windows(child), read(t, root, "child.txtar"))
	require.Equal(t, child, read(t, root, "linux.txtar"))
	require.Equal(t, windows("image: vector:1\nlevel: warn\nreplicas: 2\n"), read(t, root, "folder", WantYAML))
	require.Equal(t, windows("image: vector:1\nlevel: warn\nreplicas: 2\n"), read(t, root, "new", WantYAML))
}

func TestLoad_RejectsInvalidScenarios(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		names string
	}{
		"a file of another name": {map[string]string{"want.yml": ""}, "want.yml"},
		"two outcomes":           {map[string]string{WantYAML: "a\n", WantError: "b\n"}, "one outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, test.files)
			require.ErrorContains(t, err, test.names)
		})
	}
	file := filepath.Join(t.TempDir(), "one.txtar")
	require.NoError(t, os.WriteFile(file, []byte("-- workload.yaml --\n"), 0o600))
	_, err := Load(file)
	require.ErrorContains(t, err, `"vectorsidecar.yaml" is missing`)
}

func TestLoad_ReturnsValidScenariosDespiteErrors(t *testing.T) {
	root := folder(t, map[string]string{
		"broken.txtar": "-- workload.yaml --\n", "good.txtar": standing, "orphan.txtar": "base: broken.txtar\n-- vectorsidecar.yaml --\n",
	})
	found, err := Load(root)
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, found, 1)
	require.Equal(t, filepath.Join(root, "good"), found[0].Name)
	require.Len(t, invalid.Scenarios, 2)
	require.Equal(t, filepath.Join(root, "broken"), invalid.Scenarios[0].Name)
	require.Equal(t, filepath.Join(root, "orphan"), invalid.Scenarios[1].Name)
}
