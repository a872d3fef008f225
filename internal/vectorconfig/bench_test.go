// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fiftyComponents is a configuration of 50: files, a remap and a filter for each,
// routes, and sinks of several kinds.
func fiftyComponents() string {
	var b strings.Builder
	b.WriteString("data_dir: /var/lib/vector\napi:\n  enabled: true\n  address: 127.0.0.1:8686\nsources:\n")
	for i := range 15 {
		fmt.Fprintf(&b, "  app_%d:\n    type: file\n    include:\n      - /var/log/app/%d/*.log\n    read_from: beginning\n", i, i)
	}
	b.WriteString("transforms:\n")
	for i := range 15 {
		fmt.Fprintf(&b, "  parsed_%d:\n    type: remap\n    inputs: [app_%d]\n    source: |\n      . |= parse_json!(.message)\n      .n = %d\n", i, i, i)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "  routed_%d:\n    type: route\n    inputs: [\"parsed_%d*\"]\n    route:\n      errors: .level == \"error\"\n", i, i)
	}
	b.WriteString("sinks:\n")
	for i := range 5 {
		fmt.Fprintf(&b, "  loki_%d:\n    type: loki\n    inputs: [routed_%d.errors]\n    endpoint: http://loki:3100\n    labels:\n      app: cart\n    encoding:\n      codec: json\n", i, i)
		fmt.Fprintf(&b, "  rest_%d:\n    type: http\n    inputs: [routed_%d._unmatched]\n    uri: https://ingest.example/\n    encoding:\n      codec: json\n", i, i)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "  all_%d:\n    type: elasticsearch\n    inputs: [\"parsed_*\"]\n    endpoints: [http://es:9200]\n", i)
	}
	return b.String()
}

func TestTheConfigurationOfTheBenchmarkIsClean(t *testing.T) {
	files := []File{{Name: "vector.yaml", Text: fiftyComponents()}}
	require.Empty(t, checked(files, Options{Image: image, Container: sidecar()}).Findings)
	require.Equal(t, 50, strings.Count(files[0].Text, "\n    type: "))
}

func BenchmarkFiftyComponents(b *testing.B) {
	files := []File{{Name: "vector.yaml", Text: fiftyComponents()}}
	options := Options{Image: image, Container: sidecar()}
	b.ReportAllocs()
	for b.Loop() {
		checked(files, options)
	}
}
