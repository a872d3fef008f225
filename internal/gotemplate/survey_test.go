// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// largeValues have about the maximum size of values, so a function that is safe with these is safe
// with all.
func largeValues() map[string]any {
	list, tree := make([]any, 2000), make(map[string]any, 2000)
	for i := range list {
		list[i] = fmt.Sprintf("item %d", i)
		tree[fmt.Sprintf("key %d", i)] = i
	}
	return map[string]any{
		"s": strings.Repeat("aB c_d,<&>\"'=\u00e9\n\x01/", 50_000),
		"t": strings.Repeat("y", 1<<20),
		"n": 1_000_000_000, "f": 1e300, "l": list, "d": tree,
	}
}

// largeCalls returns calls of a function with large arguments of many kinds. Most are wrong, which
// must be an error as well.
func largeCalls(name string) []string {
	calls := []string{name, name + " $t", name + " $t $t", name + " $f $f"}
	for _, a := range []string{"$s", "$n", "$l", "$d"} {
		calls = append(calls, fmt.Sprintf("%s %s", name, a))
		for _, b := range []string{"$s", "$n", "$l", "$d"} {
			calls = append(calls, fmt.Sprintf("%s %s %s", name, a, b))
		}
	}
	for _, three := range []string{
		"$s $s $s", "$t $t $t", "5 $s $s", "$n $s $s", "$s 5 $t", `"y" $t $t`, `"" $s $t`, "$s $s 5", "1 $n 1", "$n 1 -1", "$d $d $d",
		"$l $l $l", `"[a-z]*" $s "$0$0"`, `"y*" $t $t`, `"(y|a)+?b" $t -1`, "5 7 $s", "1 2 $t", `"%s%v%q" $s $t`, `"%x%+v" $s $d`,
	} {
		calls = append(calls, name+" "+three)
	}
	return calls
}

// An execution is charged at least half of the memory that it allocates. So a budget of 32 MiB keeps it below 64 MiB.
func TestBudget_LimitsMemoryOfFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("calls every function with large arguments, which takes some seconds")
	}
	names := slices.Sorted(maps.Keys(sprig.TxtFuncMap()))
	names = append(names, strings.Fields(`toToml fromToml toYaml toYamlPretty fromYaml fromYamlArray fromJsonArray tpl required
		html index js len print printf println urlquery eq ne lt le gt ge not and or`)...)
	values := largeValues()
	var slowest, largest string
	var longest time.Duration
	var most float64
	for _, name := range names {
		for _, call := range largeCalls(name) {
			set, err := compileOne(`{{ $s := .s }}{{ $t := .t }}{{ $n := .n }}{{ $f := .f }}{{ $l := .l }}{{ $d := .d }}{{ $r := `+call+` }}`, gotemplate.Budget{})
			if err != nil {
				break // refused
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, charged, err := gotemplate.ExecuteCharged(t.Context(), set, "one/templates/a.yaml", values)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := int(after.TotalAlloc - before.TotalAlloc)
			require.Less(t, took, mostTime, "%s: %v", call, err)
			requireAllocated(t, allocated, 2*charged+256<<10, call)
			if took > longest {
				longest, slowest = took, call
			}
			if over := float64(allocated) / float64(charged+256<<10); over > most {
				most, largest = over, call
			}
		}
	}
	t.Logf("slowest: %s, %s; allocates %.2f times its charge: %s", slowest, longest, most, largest)
}

// Texts and values that need the most memory for their size stay within the budget.
func TestBudget_LimitsMemoryOfDecodersAndPrinters(t *testing.T) {
	keys := strings.Builder{}
	nested := strings.Builder{}
	rows := make([]any, 3000)
	for i := range 5000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
		fmt.Fprintf(&nested, "k%d:\n  - name: x\n    value: some text here\n", i)
	}
	for i := range rows {
		rows[i] = map[string]any{"name": "x", "value": map[string]any{"a": 1, "b": []any{true, "y", 1.5}}}
	}
	data := map[string]any{
		"keys": keys.String(), "nested": nested.String(), "flow": "{" + strings.ReplaceAll(keys.String(), "\n", ", ") + "}",
		"toml":   strings.ReplaceAll(keys.String(), ": v", "= 1"),
		"tables": strings.ReplaceAll(strings.ReplaceAll(keys.String(), ": v", "]"), "k", "[k"),
		"rows":   rows, "tree": map[string]any{"rows": rows},
		"text": strings.Repeat("\x01<é\"\n", 20_000), "map": map[string]any{"a": map[string]any{"b": strings.Repeat("x\n", 40_000)}},
	}
	for _, call := range strings.Split(`fromYamlArray (printf "[%s]" (repeat 10000 "1,"))
fromYamlArray (printf "[%s]" (repeat 10000 "[],"))
fromYamlArray (printf "[%s]" (repeat 10000 "a: b,"))
fromYamlArray (repeat 10000 "- a\n")
fromYamlArray (repeat 900 "- ")
fromYamlArray (print (repeat 900 "[") (repeat 900 "]"))
fromYaml (print (repeat 900 "{a: ") (repeat 900 "}"))
fromYaml .keys
fromYaml .nested
fromYaml .flow
fromYaml (printf "a: |\n%s" (repeat 20000 " x\n"))
fromYaml (printf "a: |\n%s" (repeat 20000 " some text of a line in here\n"))
fromYaml (printf "a: %s" (repeat 800000 "b "))
fromYaml (printf "a: \"%s\"" (repeat 400000 "\\n"))
fromYaml (printf "%s: 1" (repeat 900000 "a"))
fromToml .toml
fromToml .tables
fromToml (printf "a%s = 1" (repeat 500 ".a"))
fromToml (repeat 30 (printf "[[a%s]]\nb=1\n" (repeat 100 ".a")))
fromToml (printf "a = %s%s" (repeat 900 "[") (repeat 900 "]"))
fromToml (printf "a = %s1%s" (repeat 400 "{a=") (repeat 400 "}"))
fromToml (printf "a = [%s]" (repeat 20000 "1,"))
mustFromJson (printf "[%s1]" (repeat 30000 "1,"))
mustFromJson (printf "[%s1]" (repeat 20000 "[],"))
mustFromJson (printf "[%s1]" (repeat 20000 "{},"))
toYaml .rows
toYaml .text
toYaml .map
toYamlPretty .rows
toYamlPretty .text
toJson .rows
toPrettyJson .rows
toRawJson .rows
toToml .tree
toToml .map
deepCopy .rows
merge (dict) .tree
deepEqual .rows (deepCopy .rows)
print .rows
printf "%+v" .rows
tpl (repeat 10000 "{{1}}") .
tpl (printf "{{ list %s }}" (repeat 40000 "1 ")) .
tpl (printf "%s1%s" (repeat 9000 "{{if 1}}") (repeat 9000 "{{end}}")) .
tpl (printf "{{ %s1%s }}" (repeat 9000 "(") (repeat 9000 ")")) .`, "\n") {
		set, err := compileOne(`{{ $x := `+call+` }}`, gotemplate.Budget{Memory: 1 << 30, Steps: 1 << 30, Depth: 10_000})
		require.NoError(t, err, call)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, charged, err := gotemplate.ExecuteCharged(t.Context(), set, "one/templates/a.yaml", data)
		runtime.ReadMemStats(&after)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%.2f times its charge of %d KiB: %s: %v", float64(allocated)/float64(charged), charged>>10, call, err)
		requireAllocated(t, allocated, 2*charged+256<<10, call)
		require.NoError(t, err, call)
	}
}
