// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// If a library looks up methods by name at run time, the linker keeps each method of each type, which costs a fifth of
// the program's size. The operator must not contain such a lookup.
func TestOperator_LinksOnlyCalledMethods(t *testing.T) {
	symbols, caller := linked(t)
	at := slices.IndexFunc(symbols, func(symbol string) bool { return strings.HasSuffix(symbol, " <ReflectMethod>") })
	require.Negative(t, at, "a look-up of methods by name is reached by %s", chain(caller, symbols, at))
}

// linked links the operator as it is released. It returns the symbols in the order in which the linker reaches
// them, and the caller of each.
func linked(t *testing.T) (symbols []string, caller map[string]string) {
	t.Helper()
	// go test must see that these files are read, because make reads them. Otherwise it reuses an old result.
	files(t, func(string, []byte) {})
	// The main package is compiled only for this link, because go repeats the linker's output at each later build
	// that finds the program up to date.
	command := exec.CommandContext(t.Context(), "make", "build", "BIN="+t.TempDir(),
		"PROGRAMS=-gcflags=./cmd/operator=-dwarf=false ./cmd/operator", "LDFLAGS=-s -w -dumpdep")
	command.Dir = root
	told, err := command.CombinedOutput()
	require.NoError(t, err, "%.2000s", told)
	caller = map[string]string{}
	for line := range strings.Lines(string(told)) {
		if from, to, ok := strings.Cut(strings.TrimSpace(line), " -> "); ok {
			symbols = append(symbols, to)
			caller[to] = from
		}
	}
	require.Contains(t, caller, "main.main", "this is not what a linker tells of a program")
	return symbols, caller
}

// chain returns the calls by which the program reaches a symbol, starting with the program's entry.
func chain(caller map[string]string, symbols []string, at int) string {
	if at < 0 {
		return ""
	}
	names := []string{symbols[at]}
	for from := caller[names[0]]; from != "" && len(names) < 100; from = caller[from] {
		names = append(names, from)
	}
	slices.Reverse(names)
	return strings.Join(names, " → ")
}
