// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// node is the part of a JSON schema that the tests read.
type node struct {
	Description          string          `json:"description"`
	Properties           map[string]node `json:"properties"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

// leaves returns the paths of the schema below which the chart has no keys of its own.
func leaves(t *testing.T, chart *helmchart.Chart) map[string]node {
	t.Helper()
	var top node
	require.NoError(t, json.Unmarshal(chart.Schema, &top))
	found := map[string]node{}
	walk("", top, func(path string, n node) {
		if len(n.Properties) == 0 {
			found[path] = n
		}
	})
	return found
}

func walk(path string, n node, visit func(string, node)) {
	visit(path, n)
	for key, child := range n.Properties {
		at := key
		if path != "" {
			at = path + "." + key
		}
		walk(at, child, visit)
	}
}

func TestSchema_DescribesEveryKeyAndRejectsOthers(t *testing.T) {
	var top node
	require.NoError(t, json.Unmarshal(load(t).Schema, &top))
	walk("", top, func(path string, n node) {
		if path != "" {
			require.NotEmpty(t, n.Description, path)
		}
		if len(n.Properties) > 0 && path != "global" { // Which holds what people like.
			require.JSONEq(t, "false", string(n.AdditionalProperties), "%q is open", path)
		}
	})
}

// The schema and values.yaml have the same keys. Helm itself checks the default values.
func TestSchema_HasKeysOfValues(t *testing.T) {
	inSchema := leaves(t, load(t))
	inValues := map[string]*yaml.Node{}
	collect(document(t, chartDir+"/values.yaml"), "", inSchema, inValues)
	for path := range inSchema {
		require.Contains(t, inValues, path, "values.schema.json has a key that values.yaml has not")
	}
	for path, key := range inValues {
		require.Contains(t, inSchema, path, "values.yaml has a key that values.schema.json has not")
		require.NotEmpty(t, key.HeadComment, "values.yaml says nothing about %s", path)
	}
}

// The schema of the root chart accepts all keys of this chart, so that both charts can use one values file.
func TestSchema_IncludesEveryKeyInRootChart(t *testing.T) {
	text, err := os.ReadFile(root + "/values.schema.json")
	require.NoError(t, err)
	var sidecar, installation node
	require.NoError(t, json.Unmarshal(text, &sidecar))
	require.NoError(t, json.Unmarshal(load(t).Schema, &installation))
	for key := range installation.Properties {
		require.Contains(t, sidecar.Properties, key)
	}
}

func document(t *testing.T, file string) *yaml.Node {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &document))
	return document.Content[0]
}

// collect finds the key nodes of a values file down to the schema's leaves.
func collect(n *yaml.Node, path string, until map[string]node, found map[string]*yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := key.Value
		if path != "" {
			at = path + "." + at
		}
		if _, leaf := until[at]; leaf || value.Kind != yaml.MappingNode {
			found[at] = key
			continue
		}
		collect(value, at, until, found)
	}
}
