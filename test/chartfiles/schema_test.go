// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	require.NoError(t, err)
	return text
}

// The generated files of the chart, such as its schema and README, are committed as make manifests writes them.
func TestGenerate_EqualsCommittedFiles(t *testing.T) {
	files, err := generate("../..")
	require.NoError(t, err)
	for name, text := range files {
		require.Equal(t, string(text), string(read(t, name)), "%s: make manifests writes it", name)
	}
	for _, name := range []string{installationSchema, sidecarNames, valuesPage, chartReadme, chartMetadata, "chart/LICENSE", "chart/values/production.yaml"} {
		require.Contains(t, files, name)
	}
}

// The schema of a layer of values allows null for each key, which removes the key.
func TestValues_AllowNullToRemoveKeys(t *testing.T) {
	var given any
	require.NoError(t, json.Unmarshal([]byte(`{"type": "object", "additionalProperties": false, "properties": {
		"level": {"enum": ["info", "warn"]}, "ports": {"type": "array", "items": {"type": "integer"}},
		"sinks": {"type": ["object", "null"], "additionalProperties": {"type": "object"}}}}`), &given))

	text, err := json.Marshal(values(given))
	require.NoError(t, err)
	require.JSONEq(t, `{"type": ["object", "null"], "properties": {
		"level": {"enum": ["info", "warn", null]}, "ports": {"type": ["array", "null"], "items": {"type": "integer"}},
		"sinks": {"type": ["object", "null"], "additionalProperties": {"type": ["object", "null"]}}}}`, string(text))
	text, err = json.Marshal(onlyNames(given))
	require.NoError(t, err)
	require.JSONEq(t, `{"additionalProperties": false, "properties": {"level": {}, "ports": {}, "sinks": {"additionalProperties": {}}}}`, string(text))
}

// A schema without the keys to which the definitions are added is an error.
func TestWithDefinitions_RejectsMissingKeys(t *testing.T) {
	_, err := withDefinitions(read(t, installationSchema), []byte(`{"properties": {}}`))
	require.ErrorContains(t, err, `no property "global"`)
	_, err = withDefinitions([]byte(`{}`), read(t, sidecarSchema))
	require.ErrorContains(t, err, "definitions")
}

// The plugin reads the names of global values from _environments.tpl, without the other files of the chart.
func TestOnlyNames_EqualsBuiltInGlobals(t *testing.T) {
	properties, err := propertiesOf(read(t, sidecarSchema))
	require.NoError(t, err)
	want, err := json.Marshal(withoutClosed(onlyNames(properties["global"])))
	require.NoError(t, err)

	_, rest, ok := strings.Cut(string(read(t, "chart/templates/_environments.tpl")), `{{- define "vector-sidecar-operator.builtInGlobals" -}}`)
	require.True(t, ok)
	globals, _, ok := strings.Cut(rest, "{{-")
	require.True(t, ok)
	require.JSONEq(t, string(want), globals)
}

// withoutClosed removes additionalProperties: false, which other keys have implicitly.
func withoutClosed(schema any) any {
	names, isNode := schema.(node)
	if !isNode {
		return schema
	}
	delete(names, "additionalProperties")
	if properties, hasProperties := names["properties"].(node); hasProperties {
		names["properties"] = each(properties, withoutClosed)
	}
	return names
}
