// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var (
	root       = os.DirFS("../..")
	schemaLine = regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=(\S+)$`)
	siteURL    = regexp.MustCompile(`(?m)^site_url = "(.+)"$`)
)

// schemas returns the published schemas by their addresses.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	config, err := fs.ReadFile(root, configuration)
	require.NoError(t, err)
	address := siteURL.FindSubmatch(config)
	require.NotNil(t, address)
	files := map[string][]byte{}
	require.NoError(t, addSchemas(root, files))
	compiled := map[string]*jsonschema.Schema{}
	for name, text := range files {
		url := string(address[1]) + strings.TrimPrefix(name, "pages/")
		compiler := jsonschema.NewCompiler()
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource(url, schema))
		compiled[url], err = compiler.Compile(url)
		require.NoError(t, err)
	}
	require.Len(t, compiled, 4)
	return compiled
}

// schemaNamed returns the published schema of a file name.
func schemaNamed(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	for url, schema := range schemas(t) {
		if path.Base(url) == name {
			return schema
		}
	}
	t.Fatalf("no schema is published as %s", name)
	return nil
}

// decoded returns a document as the validator reads it.
func decoded(t *testing.T, document string) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(document))
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	object, ok := value.(map[string]any)
	require.True(t, ok)
	return object
}

// Each object of the product's kinds, and each values file, names its schema in a comment that editors read, and is
// valid with it.
func TestSite_PublishesSchemasOfSamples(t *testing.T) {
	published := schemas(t)
	used := map[string]bool{}
	require.NoError(t, fs.WalkDir(root, "docs/samples", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object := decoded(t, document)
			kind, _ := object["kind"].(string)
			match := schemaLine.FindStringSubmatch(document)
			if kind != "" && !strings.HasSuffix(kind, "VectorSidecar") {
				require.Nil(t, match, name)
				continue
			}
			require.NotNil(t, match, "%s names no schema", name)
			require.Contains(t, published, match[1], name)
			require.NoError(t, published[match[1]].Validate(object), name)
			require.Equal(t, kind == "", path.Base(match[1]) == "installation-values.json", name)
			used[path.Base(match[1])] = true
		}
		return nil
	}))
	require.Len(t, used, 3)
}

// The values files of the environments and the defaults are valid with the published schema, and name it in a comment.
func TestSite_ValidatesValuesFilesOfEnvironments(t *testing.T) {
	schema := schemaNamed(t, "installation-values.json")
	files, err := fs.Glob(root, "values/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range append(files, "chart/values.yaml") {
		text, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		require.NoError(t, schema.Validate(decoded(t, string(text))), name)
		match := schemaLine.FindSubmatch(text)
		require.NotNil(t, match, "%s names no schema", name)
		require.Equal(t, "installation-values.json", path.Base(string(match[1])), name)
	}
}

func TestSite_RejectsInvalidObjects(t *testing.T) {
	const object = "apiVersion: observability.kontroloop.ai/v1alpha1\nkind: VectorSidecar\nmetadata: {name: logs}\n"
	tests := map[string]struct {
		schema, document string
		isValid          bool
	}{
		"a valid object":             {"vectorsidecar_v1alpha1.json", object + "spec: {selector: {matchLabels: {logs: vector}}}\n", true},
		"a misspelled field":         {"vectorsidecar_v1alpha1.json", object + "spec: {selektor: {}}\n", false},
		"a wrong type":               {"vectorsidecar_v1alpha1.json", object + "spec: {selector: {matchLabels: {logs: vector}}, rollout: {paused: often}}\n", false},
		"another version":            {"vectorsidecar_v1alpha1.json", strings.Replace(object, "v1alpha1", "v2", 1) + "spec: {selector: {matchLabels: {logs: vector}}}\n", false},
		"an object of another kind":  {"vectorsidecar_v1alpha1.json", "apiVersion: v1\nkind: Secret\nstringData: {a: b}\n", true},
		"values of the installation": {"installation-values.json", "replicas: 3\n", true},
		"an unknown value":           {"installation-values.json", "replica: 3\n", false},
		"values of the sidecar":      {"sidecar-values.json", "environment: staging\n", true},
		"an unknown sidecar value":   {"sidecar-values.json", "sidecars: {}\n", false},
		"a cluster-wide object":      {"clustervectorsidecar_v1alpha1.json", "kind: ClusterVectorSidecar\n", false},
		"an object without its kind": {"vectorsidecar_v1alpha1.json", "metadata: {name: logs}\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.isValid, schemaNamed(t, test.schema).Validate(decoded(t, test.document)) == nil)
		})
	}
}
