// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// For each logger in docs/how-to/sidecar/log-files.md, the include patterns match its files, and the cleanup patterns match only its
// rotated files.
func TestSidecar_ReadsFileNamesOfLoggers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "how-to", "sidecar", "log-files.md"))
	require.NoError(t, err)
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	usual := texts(tree.List(branch(values(t), "sidecar.logs")["include"]))
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 || strings.HasPrefix(line, "| Logger") {
			continue
		}
		rows++
		t.Run(strings.TrimPrefix(cells[0], "| "), func(t *testing.T) {
			live, rotated := one(t, cells[2]), one(t, cells[3])
			include, removed := all(cells[4]), all(cells[5])
			if cells[4] == "the default" {
				include = usual
			} else {
				require.False(t, matches(t, usual, rotated), "the default reads it, too")
			}
			require.True(t, matches(t, include, live), "what is written to is read")
			require.True(t, matches(t, include, rotated), "a rotated file is read")
			require.True(t, matches(t, removed, rotated), "a rotated file is removed")
			require.False(t, matches(t, removed, live), "what is written to is not")
			_, err := tryExecute(t, chart, "development", mountsLogs, fmt.Sprintf(
				"sidecar: {logs: {include: [%s], cleanup: {evenUnacknowledged: true, rotated: [%s]}}}", inYAML(include), inYAML(removed)))
			require.NoError(t, err)
		})
	}
	require.Greater(t, rows, 6)
}

// texts returns a list of texts as what it is.
func texts(items []any) []string {
	var all []string
	for _, item := range items {
		all = append(all, item.(string))
	}
	return all
}

// all returns what a cell has between back quotes.
func all(cell string) []string {
	var found []string
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		found = append(found, match[1])
	}
	return found
}

func one(t *testing.T, cell string) string {
	t.Helper()
	found := all(cell)
	require.Len(t, found, 1, cell)
	return found[0]
}

func matches(t *testing.T, patterns []string, name string) bool {
	t.Helper()
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		isMatch, err := path.Match(pattern, name)
		require.NoError(t, err)
		return isMatch
	})
}

func inYAML(patterns []string) string { return `"` + strings.Join(patterns, `", "`) + `"` }
