// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template_test

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

	"kontroloop.ai/vector-sidecar-operator/internal/template"
)

// largeValues are about the largest that values can be: what a function does with
// these, it does with all.
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

// calls of a function with large arguments of many kinds; most are wrong, and
// that must be an error as well.
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

// An execution is charged at least half of what it allocates: so the default of
// 32 MiB for Budget.Memory keeps it under 64.
func TestFunctionsStayInBounds(t *testing.T) {
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
			set, err := compileOne(`{{ $s := .s }}{{ $t := .t }}{{ $n := .n }}{{ $f := .f }}{{ $l := .l }}{{ $d := .d }}{{ $r := `+call+` }}`, template.Budget{})
			if err != nil {
				break // refused
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, charged, err := template.ExecuteCharged(t.Context(), set, "one/templates/a.yaml", values)
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
