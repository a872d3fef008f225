// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The decoder accepts tables that are defined twice and one time zone that TOML 1.0 rejects; docs/limits.md lists them. They
// are read without an error, and none of them ends the process.
func TestParseTOML_AcceptsTablesDefinedTwice(t *testing.T) {
	for name, text := range map[string]string{
		"a header for a table of dotted keys":       "[a]\nb.c = 1\n[a.b]\n",
		"a header for one at the top":               "a.b = 1\n[a]\n",
		"a header below a table of dotted keys":     "[a]\nb.c.d = 1\n[a.b.c]\n",
		"a header below an inline table":            "a = {}\n[a.b]\n",
		"dotted keys for a table with a header":     "[a.b]\nc = 1\n[a]\nb.d = 2\n",
		"dotted keys for an inline table":           "[a]\nb = {c = 1}\nb.d = 2\n",
		"dotted keys for an inline table in one":    "a = {b = {c = 1}, b.d = 2}\n",
		"dotted keys for an array of tables":        "[[a.b]]\n[a]\nb.c = 1\n",
		"a value in place of a table":               "a.b.c = 1\na.b = 2\n",
		"an offset of sixty minutes":                "a = 1985-06-18 17:04:07+12:60\n",
		"a time without seconds, which is TOML 1.1": "a = 17:45\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, fault := parseTOML(text)
			require.Nil(t, fault)
		})
	}
	for name, text := range map[string]string{
		"a key twice":                "a = 1\na = 2\n",
		"a header twice":             "[a]\n[a]\n",
		"a table for a value":        "a = 1\n[a]\n",
		"an array of tables for one": "[a]\n[[a]]\n",
		"a key twice in one table":   "a = {b = 1, b = 2}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, fault := parseTOML(text)
			require.NotNil(t, fault)
			require.Equal(t, unreadable, fault.code)
		})
	}
}
