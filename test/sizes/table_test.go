// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sizes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The table stands between these lines of the page.
const (
	begin = "<!-- sizes: written by make sizes ROWS=write -->\n"
	end   = "<!-- end of sizes -->"
)

// tableOf is the table in Markdown. loop is what reference says.
func tableOf(all []cell, results []measured, loop float64) string {
	var b strings.Builder
	b.WriteString(begin + "| Preset | Lines a second | Bytes of a line | Files | Collector | Peak | Steady | of that anonymous | CPU | CPU per line |\n|---|---|---|---|---|---|---|---|---|---|\n")
	mebibytes := func(bytes int64) string { return fmt.Sprintf("%d Mi", (bytes+1<<19)>>20) }
	for i, one := range all {
		found, collector := results[i], "takes all"
		if one.isAway {
			collector = "away"
		}
		perLine := "–"
		if found.lines > 0 {
			perLine = fmt.Sprintf("%.0f s per million, %.0f × the loop", found.cpu/found.lines*1e6, found.cpu/found.lines*1e6/loop)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %s | %s | %.0fm | %s |\n", one.preset, one.rate, one.size, one.files, collector,
			mebibytes(found.peak), mebibytes(found.steady), mebibytes(found.anonymous), found.cpu/found.elapsed.Seconds()*1000, perLine)
	}
	fmt.Fprintf(&b, "\nThe loop took %.2f s per million lines.\n", loop)
	return b.String() + end
}

// write puts the table into its page.
func write(t *testing.T, table string) {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	file := filepath.Join(root, "docs", "how-to", "sidecar", "sizing.md")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, isThere := strings.Cut(string(text), begin)
	require.True(t, isThere, "the page has a place for the table")
	_, tail, isThere := strings.Cut(rest, end)
	require.True(t, isThere, "the page has a place for the table")
	require.NoError(t, os.WriteFile(file, []byte(head+table+tail), 0o644))
}
