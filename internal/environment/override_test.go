// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const annotation = "Deployment shop/cart annotation x"

// The key of an annotation is the path of a value, and its text is the value in YAML.
func TestParseValue_ReadsPathAndValue(t *testing.T) {
	for text, want := range map[string]any{
		`{"limits": {"memory": "1Gi"}}`: map[string]any{"limits": map[string]any{"memory": "1Gi"}},
		"limits:\n  memory: 1Gi\n":      map[string]any{"limits": map[string]any{"memory": "1Gi"}},
		"3":                             3.0,
		"debug":                         "debug",
		"[a, b]":                        []any{"a", "b"},
		"null":                          nil,
		"":                              nil,
	} {
		parsed, err := ParseValue(annotation, "sidecar.x", []byte(text))
		require.NoError(t, err, text)
		require.Equal(t, map[string]any{"sidecar": map[string]any{"x": want}}, parsed.Tree, text)
		require.Equal(t, annotation, parsed.Position("sidecar", "x"))
	}
}

func TestParseValue_NamesInvalidValues(t *testing.T) {
	for name, test := range map[string]struct{ path, text, want string }{
		"no YAML":           {"a", "{", "reading YAML"},
		"a key given twice": {"a", "b: 1\nb: 2", "line 2: duplicate key b"},
		"two documents":     {"a", "1\n---\n2", "second document"},
		"too many levels":   {"a", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested deeper"},
		"too long":          {"a", strings.Repeat("x", 2<<20), "bytes"},
		"an alias bomb":     {"a", strings.TrimPrefix(aliasBomb(), "values:\n"), "anchors and aliases (& and *) are not allowed in the values of a namespace or a workload"},
		"no path":           {"", "1", "not the path of a value"},
		"a path with a gap": {"a..b", "1", "not the path of a value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseValue(annotation, test.path, []byte(test.text))
			require.ErrorContains(t, err, annotation+": ")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDisallowedPaths_ListsPathsThatPolicyForbids(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		allowed []string
		want    []string
	}{
		"the path itself":       {"sidecar: {threads: 1}", []string{"sidecar.threads"}, nil},
		"below it":              {"sidecar: {resources: {limits: {cpu: 1}}}", []string{"sidecar.resources"}, nil},
		"beside it":             {"sidecar: {resources: {limits: {cpu: 1}}, image: x}", []string{"sidecar.resources"}, []string{"sidecar.image"}},
		"above it":              {"sidecar: {resources: null}", []string{"sidecar.resources.limits"}, []string{"sidecar.resources"}},
		"an empty map above":    {"sidecar: {}", []string{"sidecar.resources"}, []string{"sidecar"}},
		"a name that is longer": {"sidecars: 1", []string{"sidecar"}, []string{"sidecars"}},
		"nothing allowed":       {"a: 1\nb: {c: [1]}", nil, []string{"a", "b.c"}},
		"nothing said":          {"", nil, nil},
		"a key with a dot":      {`{"sidecar.image": x}`, []string{"sidecar.image"}, []string{`["sidecar.image"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			parsed := layer(t, test.text)
			require.Equal(t, test.want, parsed.DisallowedPaths(test.allowed))
		})
	}
}

// A path is allowed if it is listed, or if it is below or above a listed one.
func TestMaySet_AllowsOnlyListedPaths(t *testing.T) {
	for name, test := range map[string]struct {
		path    string
		allowed []string
		want    bool
	}{
		"nothing allowed":               {"sidecar.threads", nil, false},
		"anything, and nothing allowed": {"", nil, false},
		"anything":                      {"", []string{"sidecar.threads"}, true},
		"the path itself":               {"sidecar.threads", []string{"sidecar.threads"}, true},
		"below it":                      {"sidecar.resources.limits", []string{"sidecar.resources"}, true},
		"above it, which may go on so":  {"sidecar", []string{"sidecar.resources"}, true},
		"beside it":                     {"sidecar.image", []string{"sidecar.resources"}, false},
		"a name that is longer":         {"sidecars", []string{"sidecar"}, false},
	} {
		require.Equal(t, test.want, MaySet(test.path, test.allowed), name)
	}
}

// An environment without values of its own has the default values.
func TestWithNames_AddsEnvironmentWithDefaults(t *testing.T) {
	set := testSet(t, nil).WithNames("edge")
	require.Equal(t, []string{"edge", "staging"}, set.Names())

	values, err := set.Values("edge")

	require.NoError(t, err)
	require.Equal(t, "vector:1", values.Tree["sidecar"].(map[string]any)["image"])
}

// A template set's schema need not contain the key templateSet, which only selects the set.
func TestValues_ValidateWithoutTemplateSet(t *testing.T) {
	_, err := testSet(t, map[string]string{"staging.yaml": "templateSet: gateway"}).Values("staging")

	require.NoError(t, err)
}

// For any input, the result is values, or an error with its position.
func FuzzValues(f *testing.F) {
	for _, text := range []string{
		"", "sidecar: {image: x}", "sidecar: [", "a: &a {b: *a}", "- x", "sidecar: {threads: many}", "{}\n---\n{}",
		"? {a: b}\n: c", "a: 1\na: 2", "1: x", "\xef\xbb\xbfsidecar: null", "sidecar: !!binary aGk=", "<<: {a: 1}", "values: {a.b: {c: []}}",
	} {
		f.Add(text, "sidecar.args")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		set := testSet(t, map[string]string{"qa.yaml": text})
		values, err := set.Values("qa")
		if err != nil {
			require.ErrorContains(t, err, "qa.yaml")
			return
		}
		visitLeaves(values.Tree, nil, func(leaf []string) bool {
			if len(leaf) > 0 && leaf[0] != "environment" && !isEmptyMap(values.Tree, leaf) {
				require.NotEmpty(t, values.Origin(leaf...), leaf)
			}
			return true
		})
		override, err := ParseValue(annotation, path, []byte(text))
		if err != nil {
			require.ErrorContains(t, err, annotation)
			return
		}
		require.Empty(t, override.DisallowedPaths([]string{path}))
	})
}

// isEmptyMap reports whether a path leads to an empty map, as a layer without values leaves.
func isEmptyMap(tree map[string]any, path []string) bool {
	var value any = tree
	for _, key := range path {
		value = value.(map[string]any)[key]
	}
	branch, ok := value.(map[string]any)
	return ok && len(branch) == 0
}
