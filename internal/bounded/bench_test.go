// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// ordinary is a typical Vector configuration of about 2 KiB.
const ordinary = `# Logs of the application, as JSON, to the platform's collector.
sources:
  files:
    type: file
    include: ["/var/log/app/*.log"]
    ignore_older_secs: 600
  metrics:
    type: internal_metrics
transforms:
  parsed:
    type: remap
    inputs: [files]
    drop_on_error: true # There is a dead letter queue.
    source: |
      . = parse_json!(.message)
      .service = "cart"
      if exists(.user.password) { del(.user.password) }
      .level = downcase(string(.level) ?? "info")
  routed:
    type: route
    inputs: [parsed]
    route:
      errors: '.level == "error"'
      audit: 'exists(.audit) && .audit == true'
sinks:
  collector:
    type: vector
    inputs: [parsed]
    address: "collector.observability:6000"
    buffer: {type: disk, max_size: 268435488, when_full: block}
  archive:
    type: aws_s3
    inputs:
      - routed.errors
      - routed.audit
    bucket: audit
    region: eu-central-1
    encoding: {codec: json}
`

// The overhead of this package is the time of "measured" compared with the parser alone.
func BenchmarkOrdinary(b *testing.B) {
	values, err := os.ReadFile("../../values.yaml")
	require.NoError(b, err)
	asJSON, err := sigsyaml.YAMLToJSON([]byte(ordinary))
	require.NoError(b, err)
	var tree map[string]any
	require.NoError(b, json.Unmarshal(asJSON, &tree))
	asTOML, err := toml.Marshal(tree)
	require.NoError(b, err)
	for _, file := range []struct {
		name string
		text []byte
	}{{"configuration", []byte(ordinary)}, {"values", values}, {"a hundred configurations", []byte(strings.Repeat("- "+strings.ReplaceAll(strings.TrimSpace(ordinary), "\n", "\n  ")+"\n", 100))}} {
		run(b, file.name+"/measured", file.text, func() error { _, err := Object().MeasureYAML(file.text); return err })
		run(b, file.name+"/nodes alone", file.text, func() error { return yaml.NewDecoder(bytes.NewReader(file.text)).Decode(&yaml.Node{}) })
		run(b, file.name+"/values alone", file.text, func() error { return sigsyaml.Unmarshal(file.text, new(any)) })
	}
	run(b, "JSON/measured", asJSON, func() error { _, err := Object().MeasureJSON(asJSON); return err })
	run(b, "JSON/values alone", asJSON, func() error { return json.Unmarshal(asJSON, new(any)) })
	run(b, "TOML/measured", asTOML, func() error { _, err := Object().MeasureTOML(asTOML); return err })
	run(b, "TOML/values alone", asTOML, func() error { return toml.Unmarshal(asTOML, &map[string]any{}) })
}

func run(b *testing.B, name string, text []byte, do func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
