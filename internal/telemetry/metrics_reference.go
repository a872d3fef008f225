// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"
	"strings"
)

// MetricsReference is the text of docs/metrics.md.
func MetricsReference() string {
	var b strings.Builder
	b.WriteString(`<!--
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
-->
<!-- Made from internal/telemetry: go test ./internal/telemetry -update writes it. -->

# Metrics

The operator serves them over HTTPS at ` + "`/metrics`" + ` of ` + "`--metrics-bind-address`" + `, in Prometheus's text format, to callers whom the API server
knows and who may get ` + "`/metrics`" + `. Every process serves them; the one that leads does the work that most of them count.

## The operator's own

No label has names of users' objects as values, so the number of series does not grow with the cluster.

`)
	table(&b, MetricDefinitions())
	b.WriteString(`
## Of the libraries in it

There are more of them; these are worth knowing.

`)
	table(&b, LibraryMetrics())
	return b.String()
}

func table(b *strings.Builder, definitions []MetricDefinition) {
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
