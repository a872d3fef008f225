// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"
	"strings"
)

// metricsReference returns the text of docs/reference/metrics.md.
func metricsReference() string {
	var b strings.Builder
	b.WriteString(`<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
<!-- Generated from internal/telemetry: go test ./internal/telemetry -update writes it. -->

# Metrics

The operator serves metrics over HTTPS at ` + "`/metrics`" + ` of ` + "`--metrics-bind-address`" + `, in Prometheus's text format, to clients that the API server
authenticates and that may ` + "`get /metrics`" + `. Every replica serves metrics; the leader does the work that most of them count.

## Metrics of the operator

Values of labels exclude the names of users' objects, so the number of series is independent of the size of the cluster.

`)
	writeTable(&b, MetricDefinitions())
	b.WriteString(`
## Metrics of libraries

The table lists the most useful metrics of libraries.

`)
	writeTable(&b, LibraryMetrics())
	return b.String()
}

// writeTable writes a Markdown table of metrics, sorted by name.
func writeTable(b *strings.Builder, definitions []MetricDefinition) {
	b.WriteString("| Metric | Kind | Labels | Meaning |\n|---|---|---|---|\n")
	sorted := slices.SortedFunc(slices.Values(definitions), func(a, b MetricDefinition) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range sorted {
		var labels []string
		for _, label := range d.Labels {
			labels = append(labels, "`"+label.Name+"`: "+label.Values)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, strings.Join(labels, "<br>"), d.Help)
	}
}
