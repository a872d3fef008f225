// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const testSchema = `{
  "type": "object", "additionalProperties": false,
  "properties": {
    "environment": {"type": "string"},
    "sidecar": {"type": "object", "additionalProperties": false, "properties": {
      "image": {"type": "string"}, "threads": {"type": "integer"},
      "sinks": {"type": "object"}, "args": {"type": "array"}
    }},
    "values": {"type": "object"}
  }
}`

const testDefaults = `sidecar:
  image: vector:1
  threads: 0
  args: [a, b]
  sinks:
    console: {type: console}
`

func testSet(t *testing.T, files map[string]string) *Set {
	t.Helper()
	set, err := Load(map[string][]byte{
		"values.schema.json":  []byte(testSchema),
		"values.yaml":         []byte(testDefaults),
		"values/staging.yaml": []byte("sidecar:\n  threads: 2\n  sinks:\n    console: null\n    http: {type: http}\n"),
	})
	require.NoError(t, err)
	return set.WithInstallation("ConfigMap system/values", files)
}

func layer(t *testing.T, text string) Layer {
	t.Helper()
	parsed, err := ParseLayer("VectorSidecar shop/logs", []byte(text))
	require.NoError(t, err)
	return parsed
}

// A value of a later layer replaces that of an earlier one. Maps are merged, and lists are replaced as a whole.
func TestValues_PreferLaterLayers(t *testing.T) {
	set := testSet(t, map[string]string{"staging.yaml": "sidecar: {image: 'vector:2'}"})

	values, err := set.Values("staging", layer(t, "sidecar: {args: [c]}"))

	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"environment": "staging",
		"sidecar": map[string]any{
			"image":   "vector:2",
			"threads": 2.0,
			"args":    []any{"c"}, // Lists are replaced whole.
			"sinks":   map[string]any{"http": map[string]any{"type": "http"}},
		},
	}, values.Tree)
}

// For each value, the result has the file and the line that set it.
func TestValues_RecordOriginOfEachValue(t *testing.T) {
	set := testSet(t, map[string]string{"staging.yaml": "sidecar:\n  image: vector:2"})

	values, err := set.Values("staging", layer(t, "sidecar: {args: [c]}"))

	require.NoError(t, err)
	require.Equal(t, "ConfigMap system/values staging.yaml:2", values.Origin("sidecar", "image"))
	require.Equal(t, "values/staging.yaml:2", values.Origin("sidecar", "threads"))
	require.Equal(t, "VectorSidecar shop/logs:1", values.Origin("sidecar", "args"))
	require.Equal(t, "values/staging.yaml:5", values.Origin("sidecar", "sinks", "http"), "the origin of a map is that of a leaf in it")
	require.Empty(t, values.Origin("sidecar", "nothing"))
}

// A later layer sets a key to null, which removes it.
func TestValues_RemoveKeysSetToNull(t *testing.T) {
	set := testSet(t, nil)

	values, err := set.Values("staging", layer(t, "sidecar: {threads: null, sinks: {http: null}}"))

	require.NoError(t, err)
	sidecar := values.Tree["sidecar"].(map[string]any)
	require.NotContains(t, sidecar, "threads")
	require.Nil(t, sidecar["sinks"].(map[string]any)["http"])
}

// Merging layers of values does not change the layers.
func TestValues_DoNotChangeMergedLayers(t *testing.T) {
	set := testSet(t, nil)
	first, err := set.Values("staging", layer(t, "sidecar: {sinks: {mine: {type: blackhole}}}"))
	require.NoError(t, err)
	first.Tree["sidecar"].(map[string]any)["image"] = "changed by a template"

	second, err := set.Values("staging")

	require.NoError(t, err)
	require.Equal(t, "vector:1", second.Tree["sidecar"].(map[string]any)["image"])
	require.NotContains(t, second.Tree["sidecar"].(map[string]any)["sinks"], "mine")
}

// The installation's values can define environments in addition to the built-in ones.
func TestWithInstallation_AddsEnvironments(t *testing.T) {
	set := testSet(t, map[string]string{"qa.yaml": "sidecar: {threads: 7}", "notes.txt": "no values"})
	require.Equal(t, []string{"qa", "staging"}, set.Names())

	values, err := set.Values("qa")

	require.NoError(t, err)
	require.EqualValues(t, 7, values.Tree["sidecar"].(map[string]any)["threads"])
}

// The error lists the existing environments.
func TestUnknownError_ListsEnvironments(t *testing.T) {
	_, err := testSet(t, nil).Values("stagging")

	var unknown *UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, []string{"staging"}, unknown.Available)
	require.ErrorContains(t, err, `did you mean "staging"?`)
}

// If the file of one environment is invalid, the other environments can still be used.
func TestValues_FailsOnlyForInvalidEnvironment(t *testing.T) {
	set := testSet(t, map[string]string{"qa.yaml": "sidecar: [", "staging.yaml": "sidecar: {threads: 1}"})

	_, err := set.Values("staging")
	require.NoError(t, err)
	_, err = set.Values("qa")
	require.ErrorContains(t, err, "ConfigMap system/values qa.yaml")
}

// An error about a value has its file, line and path.
func TestValues_NameInvalidValues(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a wrong key":         {"sidecar:\n  imagee: x", []string{"qa.yaml:2: sidecar.imagee", "unknown key", "did you mean image?"}},
		"a key like none":     {"zzzzzz: 1", []string{"qa.yaml:1: zzzzzz", "known keys: environment, sidecar, values"}},
		"a wrong type":        {"sidecar:\n  threads: many", []string{"qa.yaml:2: sidecar.threads", "got string, want integer"}},
		"several at once":     {"sidecar:\n  imagee: x\n  threads: many", []string{"sidecar.imagee", "sidecar.threads"}},
		"not YAML":            {"sidecar:\n\tx: 1", []string{"qa.yaml", "line 2"}},
		"a key given twice":   {"sidecar:\n  image: a\n  image: b", []string{"qa.yaml:3: duplicate key sidecar.image, first in line 2"}},
		"several documents":   {"sidecar: {}\n---\nsidecar: {}", []string{"qa.yaml", "second document"}},
		"a list at the top":   {"- sidecar", []string{"qa.yaml:1", "must be a map"}},
		"a text at the top":   {"sidecar", []string{"qa.yaml:1", "must be a map"}},
		"an alias bomb":       {aliasBomb(), []string{"qa.yaml", "with aliases replaced"}},
		"too many levels":     {"values: " + strings.Repeat("[", 10000) + strings.Repeat("]", 10000), []string{"qa.yaml", "deep"}},
		"too large":           {"values: {x: " + strings.Repeat("x", 16<<20) + "}", []string{"qa.yaml", "bytes"}},
		"levels of maps":      {"values: " + strings.Repeat("{a: ", 200) + "1" + strings.Repeat("}", 200), []string{"qa.yaml:1", "nested deeper than the limit of a values file (100 levels)"}},
		"an alias of nothing": {"values: *none", []string{"qa.yaml", "unknown anchor"}},
		"a key with a dot":    {"sidecar:\n  \"a.b\": 1", []string{`sidecar["a.b"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testSet(t, map[string]string{"qa.yaml": test.text}).Values("qa")
			require.Error(t, err)
			for _, part := range test.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// Findings about values always have the same order, because a changed message would cause a status write.
func TestValues_SortFindings(t *testing.T) {
	const text = "sidecar: {image: 1, threads: many, sinks: [], args: {}}"
	_, first := testSet(t, map[string]string{"qa.yaml": text}).Values("qa")
	for range 50 {
		_, again := testSet(t, map[string]string{"qa.yaml": text}).Values("qa")
		require.Equal(t, first.Error(), again.Error(), "a message that changes by itself is written to the status again and again")
	}
}

func TestValues_AcceptEmptyFilesAndYAMLAnchors(t *testing.T) {
	for name, text := range map[string]string{
		"an empty file":      "",
		"only a comment":     "# nothing\n",
		"a byte order mark":  "\xef\xbb\xbfsidecar: {image: x}",
		"an anchor":          "values: {a: &a {b: 1}, c: *a}",
		"a document's start": "---\nsidecar: {}\n",
		"null at the top":    "null",
	} {
		_, err := testSet(t, map[string]string{"qa.yaml": text}).Values("qa")
		require.NoError(t, err, name)
	}
}

func aliasBomb() string {
	text := "values:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		previous := "*a" + string(rune('0'+i))
		text += "  a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.TrimSuffix(strings.Repeat(previous+", ", 9), ", ") + "]\n"
	}
	return text
}

// Given contains neither the defaults of the chart nor the name of the template set.
func TestInstallationValues_ExcludeChartDefaults(t *testing.T) {
	set := testSet(t, map[string]string{"staging.yaml": "templateSet: edge\nsidecar: {threads: 3}\n", "production.yaml": ""})
	require.Equal(t, map[string]any{"sidecar": map[string]any{"threads": float64(3)}}, set.InstallationValues("staging"))
	require.Empty(t, set.InstallationValues("production"))
	require.Empty(t, set.InstallationValues("nowhere"))
}

// As with helm, a later file takes precedence. Each value keeps the file and line from which it is.
func TestMergeLayers_KeepsPositions(t *testing.T) {
	base, err := ParseLayer("base.yaml", []byte("a:\n  kept: 1\n  changed: 1\n  gone: 1\nb: [1, 2]\nc: 1\n"))
	require.NoError(t, err)
	over, err := ParseLayer("over.yaml", []byte("a:\n\n  changed: 2\n  gone: null\nb: [3]\nc: {d: 1}\n"))
	require.NoError(t, err)
	flags := Layer{Name: "--set", Tree: map[string]any{"a": map[string]any{"set": "x"}}}

	merged := MergeLayers(base, over, flags)

	require.Equal(t, map[string]any{
		"a": map[string]any{"kept": 1.0, "changed": 2.0, "gone": nil, "set": "x"}, "b": []any{3.0}, "c": map[string]any{"d": 1.0},
	}, merged.Tree)
	for path, where := range map[string]string{
		"a.kept": "base.yaml:2", "a.changed": "over.yaml:3", "a.gone": "over.yaml:4", "a.set": "--set", "b": "over.yaml:5", "b.1": "over.yaml:5",
		"c.d": "over.yaml:6", "a": "--set", "none": "base.yaml, over.yaml, --set",
	} {
		require.Equal(t, where, merged.Position(strings.Split(path, ".")...), path)
	}
	require.Equal(t, "base.yaml:3", base.Position("a", "changed"), "the layers are not changed")
	require.Equal(t, base, MergeLayers(base))
}
