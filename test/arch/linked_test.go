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

// A look-up of methods by a name that only running it tells came along unnoticed with a
// library, and cost a fifth of the program and as much of its memory: for one of these,
// the linker keeps every method of every type.
func TestOperator_LinksOnlyCalledMethods(t *testing.T) {
	symbols, caller := linked(t)
	at := slices.IndexFunc(symbols, func(symbol string) bool { return strings.HasSuffix(symbol, " <ReflectMethod>") })
	require.Negative(t, at, "a look-up of methods by name is reached by %s", chain(caller, symbols, at))
}

// linked links the operator as it is shipped. It returns what the linker came to,
// in this order, and from where it came to each.
func linked(t *testing.T) (symbols []string, caller map[string]string) {
	t.Helper()
	// What make reads, go test must see read, or it reuses a result of before.
	files(t, func(string, []byte) {})
	// The main package is compiled for this link alone: what a linker prints, go repeats at
	// each build that finds the program up to date, by the main package that it is linked of.
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

// chain is how the program comes to a symbol, the program's start first.
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
