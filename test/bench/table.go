// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// table is printed in Markdown.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for n, cell := range cells {
		row[n] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w io.Writer) {
	rule := make([]string, len(t.head))
	for n := range rule {
		rule[n] = "---"
	}
	_, _ = fmt.Fprintf(w, "\n**%s**\n\n", t.title)
	for _, row := range append([][]string{t.head, rule}, t.rows...) {
		_, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}

// rounded rounds a duration to about three digits.
func rounded(d time.Duration) string {
	for unit := time.Microsecond; unit <= time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }
