// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The TOML library accepts some tables that are defined twice. As TOML 1.0 and Vector, the check rejects them.
func TestParseTOML_RejectsTablesDefinedTwice(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		code Code
		line int
	}{
		"a key twice":                            {"a = 1\na = 2\n", unreadable, 2},
		"a header twice":                         {"[a]\n[a]\n", unreadable, 2},
		"a table for a value":                    {"a = 1\n[a]\n", unreadable, 2},
		"an array of tables for one":             {"[a]\n[[a]]\n", unreadable, 2},
		"a key twice in one table":               {"a = {b = 1, b = 2}\n", unreadable, 1},
		"a header for a table of dotted keys":    {"[a]\nb.c = 1\n[a.b]\n", repeatedKey, 3},
		"a header for one at the top":            {"a.b = 1\n[a]\n", repeatedKey, 2},
		"a header below a table of dotted keys":  {"[a]\nb.c.d = 1\n[a.b.c]\n", repeatedKey, 3},
		"a header below an inline table":         {"a = {}\n[a.b]\n", repeatedKey, 2},
		"dotted keys for a table with a header":  {"[a.b]\nc = 1\n[a]\nb.d = 2\n", repeatedKey, 4},
		"dotted keys for an inline table":        {"[a]\nb = {c = 1}\nb.d = 2\n", repeatedKey, 3},
		"dotted keys for an inline table in one": {"a = {b = {c = 1}, b.d = 2}\n", repeatedKey, 1},
		"dotted keys for an array of tables":     {"[[a.b]]\n[a]\nb.c = 1\n", repeatedKey, 3},
		"a value in place of a table":            {"a.b.c = 1\na.b = 2\n", repeatedKey, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, fault := reader().parseTOML(test.text)
			require.NotNil(t, fault)
			require.Equal(t, test.code, fault.code)
			require.Equal(t, test.line, fault.pos.line)
		})
	}
}

func TestParseTOML_AcceptsTablesInParts(t *testing.T) {
	for name, text := range map[string]string{
		"a header above a table with a header":      "[a.b]\n[a]\nc = 1\n",
		"a header below a table of dotted keys":     "[a]\nb.c = 1\n[a.b.d]\n",
		"dotted keys of one table":                  "a.b = 1\na.c = 2\na.d.e = 3\n",
		"dotted keys in braces":                     "a = {b.c = 1, b.d = 2}\n",
		"tables of an array":                        "[[a]]\nb.c = 1\n[a.d]\n[[a]]\nb.c = 2\n[a.d]\n",
		"tables in braces of a list":                "a = [{b = 1}, {b = 2}]\n",
		"an offset that TOML 1.0 does not allow":    "a = 1985-06-18 17:04:07+12:60\n",
		"a time without seconds, which is TOML 1.1": "a = 17:45\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, fault := reader().parseTOML(text)
			require.Nil(t, fault)
		})
	}
}
