// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// The generated configurations of the benchmarks are valid, and have the expected number of components.
func TestCheck_AcceptsBenchmarkConfiguration(t *testing.T) {
	files := []File{{Name: "vector.yaml", Text: fiftyComponents()}}
	require.Empty(t, checked(files, Options{Image: image, Container: sidecar()}).Findings)
	require.Equal(t, 50, strings.Count(files[0].Text, "\n    type: "))
	files[0].Text = largestConfiguration()
	require.Empty(t, checked(files, Options{Image: image, Container: sidecar()}).Findings)
	require.Greater(t, strings.Count(files[0].Text, "\n    type: "), 2000)
}

// largestConfiguration has nearly as many values as a file may have: 50 components again
// and again, of which each fifty read their own.
func largestConfiguration() string {
	text := patterned.ReplaceAllString(strings.ReplaceAll(fiftyComponents(), `"parsed_*"`, "parsed_5, parsed_6, parsed_7, parsed_8, parsed_9, parsed_10, parsed_11, parsed_12, parsed_13, parsed_14"), "[$1]")
	sections := strings.Split(strings.NewReplacer("transforms:\n", "\n---\n", "sinks:\n", "\n---\n").Replace(text), "\n---\n")
	var all [3]strings.Builder
	for i := range 80 {
		for section := range all {
			_, text, hasHead := strings.Cut(sections[section], "sources:\n")
			if !hasHead {
				text = sections[section]
			}
			named := numbered.ReplaceAllString(text, fmt.Sprintf("${1}_%d_", i))
			all[section].WriteString(named + "\n")
		}
	}
	return "data_dir: /var/lib/vector\nsources:\n" + all[0].String() + "transforms:\n" + all[1].String() + "sinks:\n" + all[2].String()
}

// The ids of fiftyComponents, and the patterns in their inputs.
var (
	numbered  = regexp.MustCompile(`\b(app|parsed|routed|loki|rest|all)_`)
	patterned = regexp.MustCompile(`\["(parsed_\d+)\*"\]`)
)

// The smallest configuration, one as sidecars have it, one of 50 components and the largest.
func BenchmarkCheck(b *testing.B) {
	typical, err := os.ReadFile(filepath.Join("testdata", "clean", "sidecar", "logs-and-own-metrics.yaml"))
	require.NoError(b, err)
	options := Options{Image: image, Container: sidecar()}
	for _, one := range []struct{ name, text string }{
		{"smallest", "sources: {in: {type: internal_logs}}\nsinks: {out: {type: blackhole, inputs: [in]}}\n"}, {"typical", string(typical)}, {"50 components", fiftyComponents()}, {"largest", largestConfiguration()},
	} {
		b.Run(one.name, func(b *testing.B) {
			files := []File{{Name: "vector.yaml", Text: one.text}}
			b.ReportAllocs()
			for b.Loop() {
				checked(files, options)
			}
		})
	}
}
