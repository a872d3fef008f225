// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// function is a row of the VRL table. Its parameters are NAME!:KINDS.
type function struct {
	name, closure string
	parameters    []string
}

// functions returns the functions of the newest release.
func functions(t *testing.T) []function {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "internal", "vectorlint", "vrl", "data", "functions.tsv"))
	require.NoError(t, err)
	var all []function
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Split(line, "\t"); len(fields) == 6 && fields[2] == strconv.Itoa(vectoroptions.Newest) {
			all = append(all, function{fields[0], fields[4], strings.Fields(fields[3])})
		}
	}
	require.Greater(t, len(all), 200)
	return all
}

// calls returns calls of every function of the newest release that are wrong in one way for any types of the
// arguments, so they fail before the types are checked.
func calls(t *testing.T) []remap {
	t.Helper()
	var all []remap
	for _, one := range functions(t) {
		all = append(all, remap{"misspelled", ".a = " + misspelled(one.name) + "!()"}, remap{"extra", ".a = " + one.name + "!(" + strings.Repeat("1, ", len(one.parameters)) + "1)"},
			remap{"keyword", ".a = " + one.name + "!(color: 1)"})
		if slices.ContainsFunc(one.parameters, isRequired) {
			all = append(all, remap{"missing", ".a = " + one.name + "!()"})
		}
	}
	require.Greater(t, len(all), 600)
	return all
}

func isRequired(parameter string) bool { return strings.Contains(parameter, "!") }

// ofKind has values by the letter of their type.
var ofKind = map[byte][]string{
	's': {`"t"`, "string!(.q)"}, 'i': {"1", "int!(.q)"}, 'f': {"1.5"}, 'b': {"true", "exists(.q)"}, 'o': {`{"k": 1}`, "object!(.q)"}, 'a': {`["t"]`, "[]"}, 't': {"now()"}, 'r': {"r'a'"}, 'n': {"null"},
	'*': {".q", "1", `"t"`, "null", "[1]"},
}

// ways are uses of a call's result.
var ways = []string{
	".z = %", ".z, err = %", ".z = % ?? 1", "%", "if % { .y = 1 }", ".z = !(%)", ".z = 1 + (%)", `.z = "a" + (%)`, ".z = (%) * 2", ".z = 4 / (%)", ".z = (%) / 2", ".z = (%) < 3", ".z = (%) && true", ".z = (%) || true",
	".z = upcase(%)", ".z = to_string(%)", ".z = abs(%)", ".z = length(%)", ".z = (%) | {}", "x = %\n.z = upcase(x)", ".q = %\n.z = to_int(.q)", ".z, err = %\n.y = err + .z", "x = 1\nif exists(.a) { x = % }\n.z = x + 1",
	".z = [%]", `.z = {"k": %}`, "abort %", "return %", ".z = { %; 1 }", ".z = if exists(.a) { % } else { 2 }", ".z = map_values([1]) -> |v| { % }",
}

// uses returns calls of every function, with arguments that mostly have a valid type, and with uses of the result.
func uses(t *testing.T, random *rand.Rand) []remap {
	t.Helper()
	var all []remap
	for _, one := range functions(t) {
		for range 12 {
			way := ways[random.IntN(len(ways))]
			all = append(all, remap{"use", strings.ReplaceAll(way, "%", one.call(random))})
		}
	}
	return all
}

func (f *function) call(random *rand.Rand) string {
	var arguments []string
	for _, parameter := range f.parameters {
		name, kinds, _ := strings.Cut(parameter, ":")
		if !isRequired(parameter) && random.IntN(5) > 0 {
			continue
		}
		if random.IntN(8) == 0 {
			kinds = "*"
		}
		values := ofKind[kinds[random.IntN(len(kinds))]]
		arguments = append(arguments, strings.TrimSuffix(name, "!")+": "+values[random.IntN(len(values))])
	}
	call := f.name + []string{"", "!"}[random.IntN(2)] + "(" + strings.Join(arguments, ", ") + ")"
	switch f.closure {
	case "":
	case "1":
		call += " -> |k| { k }"
	default:
		call += " -> |k, v| { v == k }"
	}
	return call
}
