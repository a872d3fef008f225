// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

var update = flag.Bool("update", false, "rewrite what is generated in the pages")

func TestDocs_ContainGeneratedRulesTable(t *testing.T) {
	isGenerated(t, filepath.Join(root, "docs", "reference", "vector-config.md"), "rules", rulesTable())
}

// isGenerated compares the part of a page between two comments with the generated text.
func isGenerated(t *testing.T, file, name, generated string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, found := strings.Cut(string(text), "<!-- "+name+": ")
	require.True(t, found)
	marker, rest, found := strings.Cut(rest, "-->\n")
	require.True(t, found)
	_, tail, found := strings.Cut(rest, "<!-- end of "+name+" -->")
	require.True(t, found)

	want := head + "<!-- " + name + ": " + marker + "-->\n" + generated + "<!-- end of " + name + " -->" + tail
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
	}
	require.Equal(t, want, string(text), "run this test with -update and read the difference")
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("| Code | Level | What is wrong | What to do |\n|---|---|---|---|\n")
	for _, rule := range vectorconfig.Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", rule.Code, rule.Level, rule.Title, strings.ReplaceAll(rule.Help, "|", `\|`))
	}
	return b.String()
}
