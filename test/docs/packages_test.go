// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listedPackage is an item of the lists in the comment of the root package: path – input – output.
var listedPackage = regexp.MustCompile(`(?m)^//   - (\S+) – (.+) – (.+)\.$`)

// The table of packages has the lists in the comment of the root package. Package arch ensures that they are complete.
func TestDocs_ContainGeneratedPackageTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "embed.go"))
	require.NoError(t, err)
	comment := strings.ReplaceAll(string(text), "\n//     ", " ")
	items := listedPackage.FindAllStringSubmatch(comment, -1)
	require.Len(t, items, strings.Count(comment, "\n//   - "))
	var table strings.Builder
	table.WriteString("| Package | Input | Output |\n|---|---|---|\n")
	for _, item := range items {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", item[1], item[2], item[3])
	}
	isGenerated(t, filepath.Join(root, "docs", "explanation", "packages.md"), "packages", table.String())
}
