// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// With this schema, an editor reports misspelled Vector options and accepts valid ones, for the oldest and the newest
// known release.
func TestWithOptions_ValidatesVectorOptions(t *testing.T) {
	plain, err := fs.ReadFile(vectorsidecar.FS, schemaFile)
	require.NoError(t, err)
	const fine = `
sidecar:
  sinks:
    out: {type: elasticsearch, endpoints: ["https://es.example.com"], bulk: {index: "logs-%F"}, batch: {max_events: 100}}
    gone: null
    open: {type: http, uri: "https://${HOST}", batch: {max_events: "${MAX}"}, encoding: {codec: json}}
  config:
    raw:
      data_dir: /var/lib/vector
      sources: {in: {type: file, include: [/var/log/*.log], ignore_older_secs: 600}}
      transforms: {t: {type: remap, inputs: [in], source: ".a = 1", drop_on_error: true}}
      sinks: {console: {type: console, inputs: [t], encoding: {codec: json}, buffer: {type: memory, max_events: 500}}}
`
	for _, minor := range []int{vectoroptions.Oldest, vectoroptions.Newest} {
		text, err := withOptions(plain, minor)
		require.NoError(t, err)
		check := validatorOf(t, text)
		require.NoError(t, check(fine), "0.%d", minor)
		for mistake, right := range map[string]string{
			"endpoint: [":               "endpoints: [",
			"inclde: [":                 "include: [",
			"source: {a: 1}":            `source: ".a = 1"`,
			"type: consol,":             "type: console,",
			"ignore_older_secs: ten":    "ignore_older_secs: 600",
			"codec: jason}":             "codec: json}",
			"buffer: {type: memry":      "buffer: {type: memory",
			`drop_on_error: "yes"`:      "drop_on_error: true",
			"max_events: -1":            "max_events: 500",
			"include: /var/log/all.log": "include: [/var/log/*.log]",
		} {
			require.Contains(t, fine, right)
			require.Error(t, check(strings.ReplaceAll(fine, right, mistake)), "0.%d %s", minor, mistake)
		}
	}
}

// validatorOf holds YAML against a schema.
func validatorOf(t *testing.T, schema []byte) func(text string) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("values.schema.json", parsed))
	compiled, err := compiler.Compile("values.schema.json")
	require.NoError(t, err)
	return func(text string) error {
		data, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		require.NoError(t, err)
		return compiled.Validate(document)
	}
}
