// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The check rejects an unknown time zone, so the table has each time zone of Go. It may contain more, which Vector may
// accept.
func TestTable_ContainsEveryTimeZoneOfGo(t *testing.T) {
	fresh, err := table()
	require.NoError(t, err)
	committed, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "vectorlint", "config", "data", "timezones.txt"))
	require.NoError(t, err)
	require.Subset(t, strings.Split(string(committed), "\n"), strings.Split(fresh, "\n"), "run make time-zones")
}
