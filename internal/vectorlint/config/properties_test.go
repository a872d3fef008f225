// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// flow is a random graph: transforms in an order, each fed by earlier ones or by
// the source, and sinks that take any of them.
type flow struct{ inputs, sinks [][]int }

func randomFlow(r *rand.Rand) flow {
	n := 1 + r.IntN(12)
	f := flow{inputs: make([][]int, n), sinks: make([][]int, 1+r.IntN(4))}
	for i := range f.inputs {
		f.inputs[i] = some(r, i)
	}
	for i := range f.sinks {
		f.sinks[i] = some(r, n)
	}
	return f
}

// some are a few of the first n transforms, and -1, the source, if there are none.
func some(r *rand.Rand, n int) []int {
	var chosen []int
	for range r.IntN(3) {
		if n > 0 {
			chosen = append(chosen, r.IntN(n))
		}
	}
	slices.Sort(chosen)
	if chosen = slices.Compact(chosen); len(chosen) == 0 {
		return []int{-1}
	}
	return chosen
}

func (f flow) text() string {
	name := func(ids []int) string {
		var names []string
		for _, id := range ids {
			if id < 0 {
				names = append(names, "app")
			} else {
				names = append(names, fmt.Sprintf("t%d", id))
			}
		}
		return strings.Join(names, ", ")
	}
	var b strings.Builder
	b.WriteString("sources: {app: {type: stdin}}\ntransforms:\n")
	for i, inputs := range f.inputs {
		fmt.Fprintf(&b, "  t%d: {type: remap, inputs: [%s], source: \"\"}\n", i, name(inputs))
	}
	b.WriteString("sinks:\n")
	for i, inputs := range f.sinks {
		fmt.Fprintf(&b, "  s%d: {type: blackhole, inputs: [%s]}\n", i, name(inputs))
	}
	return b.String()
}

// above are the transforms whose events reach a transform, itself included.
func (f flow) above(i int) []int {
	all := []int{i}
	for at := 0; at < len(all); at++ {
		for _, j := range f.inputs[all[at]] {
			if j >= 0 && !slices.Contains(all, j) {
				all = append(all, j)
			}
		}
	}
	return all
}

func TestCheckCycles_AcceptsAcyclicGraphs(t *testing.T) {
	for seed := range uint64(2000) {
		f := randomFlow(rand.New(rand.NewPCG(seed, 1)))
		report := checked([]File{{Name: "vector.yaml", Text: f.text()}}, Options{Image: image})
		require.Empty(t, Errors(report.Findings), f.text())
	}
}

// Each edge that leads back to a component on the way to a sink is reported as a cycle.
func TestCheckCycles_DetectsCycles(t *testing.T) {
	tried := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		f := randomFlow(r)
		sink := f.sinks[r.IntN(len(f.sinks))]
		last := sink[r.IntN(len(sink))]
		if last < 0 {
			continue
		}
		above := f.above(last)
		first := above[r.IntN(len(above))]
		below := slices.DeleteFunc(slices.Clone(above), func(i int) bool { return !slices.Contains(f.above(i), first) })
		f.inputs[first] = append(f.inputs[first], below[r.IntN(len(below))])
		tried++
		report := checked([]File{{Name: "vector.yaml", Text: f.text()}}, Options{Image: image})
		require.Contains(t, codes(report.Findings), cycle, f.text())
	}
	require.Greater(t, tried, 500)
}

// Findings always have the same order, because a changed message would cause a status write.
func TestCheck_SortsFindings(t *testing.T) {
	text := graph("transforms:\n  c: {}\n  b: {}\n  a: {type: x, inputs: [y]}\n", "inputs: [z]") + "w: 1\nv: 2\napi: {graphql: 1, playground: 2}\n"
	check := func() []Finding {
		return checked([]File{{Name: "vector.yaml", Text: text}}, Options{Image: image}).Findings
	}
	first := check()
	for range 20 {
		require.Equal(t, first, check(), "a message that changes by itself is written to the status again and again")
	}
}

// For any configuration, the check ends within its limits, and its findings have valid positions.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{fiftyComponents(), graph("", ok), "[sources.in]\ntype=\"x\"", "{}", "- a", "a: &a [*a]", "? {a: b} : c", `{"sinks": {"a": {"inputs": ["[", "[!", "[a-", "***"]}}}`, "a = [[1], {b.c = 2}]\n[[a.b]]\n[a.b.c]"} {
		for _, name := range []string{"vector.yaml", "vector.json", "vector.toml"} {
			f.Add(name, text, "second: 1")
		}
	}
	f.Fuzz(func(_ *testing.T, name, text, second string) {
		report := checked([]File{{Name: name, Text: text}, {Name: "second.yaml", Text: second}}, Options{Image: image, Container: sidecar()})
		for _, finding := range append(report.Findings, report.CheckPod(Pod{Ports: []Port{{"a", "tcp", 80}}, GraceSeconds: new(int64(1))})...) {
			_ = finding.String()
		}
	})
}

// A hostile configuration of the largest size is checked within limited time and memory.
func TestCheck_LimitsTimeAndMemory(t *testing.T) {
	many := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  t%d: {type: remap, inputs: [t%d, t%d]}\n", i, (i+1)%n, (i+n/2)%n)
		}
		return b.String()
	}
	permitted := Policy{
		Types:   Lists{Deny: []string{"sinks.console"}},
		Options: Lists{Deny: []string{"sinks.http.proxy", "**.tls.verify_certificate"}},
		Hosts:   Lists{Allow: strings.Fields(many("*.%d.example ", 1000))},
	}
	for name, text := range map[string]string{
		"many keys":               many("k%d: 1\n", 14_000),
		"more keys":               many("k%d: 1\n", 30_000),
		"keys like others":        many("transform%d: 1\n", 14_000),
		"many components":         "sources:\n" + many("  s%d: {type: stdin}\n", 7_000) + "sinks: {out: {type: blackhole, inputs: [\"*\"]}}\n",
		"patterns everywhere":     "sources:\n" + many("  s%d: {type: stdin}\n", 4000) + "sinks:\n" + many("  t%d: {type: blackhole, inputs: [\"*\"]}\n", 4000),
		"patterns of nothing":     "sources:\n" + many("  s%d: {type: stdin}\n", 4000) + "sinks:\n" + many("  t%d: {type: blackhole, inputs: [\"*x\"]}\n", 4000),
		"a name without end":      graph("", "inputs: ["+strings.Repeat("a", 500_000)+"]"),
		"a pattern of stars":      graph("  "+strings.Repeat("a", 1000)+": {type: stdin}\n", `inputs: ["`+strings.Repeat("*a", 250_000)+`b"]`),
		"a pattern of classes":    graph("  "+strings.Repeat("a", 1000)+": {type: stdin}\n", `inputs: ["*`+strings.Repeat("[a]", 500)+strings.Repeat("b", 1000)+`"]`),
		"programs all wrong":      graph("transforms:\n  r:\n    type: route\n    inputs: [app]\n    route:\n      r: &p \""+strings.Repeat("abcdefghij();", 20)+"true\"\n"+many("      r%d: *p\n", 3000), "inputs: [\"r.*\"]"),
		"many on one port":        "sources:\n" + many("  s%d: {type: vector, address: \"host-%[1]d:6000\"}\n", 4000),
		"many slips":              "sources:\n" + many("  s%d: {type: stdin}\n", 4000) + "sinks:\n" + many("  t%d: {type: blackhole, inputs: [x%[1]d]}\n", 4000),
		"two endless names":       graph("  "+strings.Repeat("b", 1000)+": {type: stdin}\n", "inputs: ["+strings.Repeat("a", 200_000)+"]"),
		"cycles upon cycles":      "sources: {app: {type: stdin}}\ntransforms:\n" + chain(4000) + "sinks: {out: {type: blackhole, inputs: [t0]}}\n",
		"variables":               graph("", "inputs: [app]\n    x: "+strings.Repeat("$a", 250_000)),
		"secrets":                 graph("", "inputs: [app]\n    x: "+strings.Repeat("SECRET[a.b]", 40_000)),
		"aliases upon aliases":    bomb(),
		"a search in parentheses": graph("transforms:\n  f: {type: filter, inputs: [app], condition: {type: datadog_search, source: \""+strings.Repeat("(", 400_000)+"\"}}\n", "inputs: [f, g]"),
		"a search of words":       graph("transforms:\n  f: {type: filter, inputs: [app], condition: {type: datadog_search, source: \""+strings.Repeat("a AND ", 80_000)+"(\"}}\n", "inputs: [f]"),
		"a number of many digits": graph("", "inputs: [app], x: "+strings.Repeat("9", 400_000)),
		"wide numbers as keys":    graph("", "inputs: [app]\n    x:\n"+many("      999999999999999999999%d: 9999999999999999999\n", 10_000)),
		"endpoints":               "sources: {app: {type: stdin}}\nsinks:\n" + many("  o%[1]d: {type: http, inputs: [app], uri: \"http://h%[1]d.a.example/{{ a }}\", encoding: {codec: json}}\n", 3000),
		"an endpoint of labels":   graph("", "inputs: [app]\n    endpoint: "+strings.Repeat("a.", 200_000)),
		"an endpoint of hosts":    graph("", "inputs: [app]\n    endpoint: "+strings.Repeat("a.b,", 100_000)),
	} {
		t.Run(name, func(t *testing.T) {
			var report *Report
			used := allocated(func() {
				report = checked([]File{{Name: "vector.yaml", Text: text}}, Options{Image: image, Container: sidecar(), OtherFiles: []string{"/etc/vector/a", "/etc/vector/b"}, Policy: permitted})
			})
			require.NotEmpty(t, report.Findings)
			require.LessOrEqual(t, len(report.Findings), 2*mostFindings)
			require.LessOrEqual(t, used, uint64(64<<20))
		})
	}
}

// allocated returns how many bytes a function allocates in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// After the maximum number of findings, or the end of the context, no further VRL program is checked. If the limit of
// steps is exhausted, findings have no suggestion.
func TestCheckProgram_StopsAtLimits(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		change func(*checker)
		help   string
		judged Programs
	}{
		"as it is":           {func(*checker) {}, `did you mean "upcase"?`, Programs{Fully: 1}},
		"no effort is left":  {func(c *checker) { c.effort.remaining = 0 }, ruleFor(noSuchFunction).Help, Programs{Fully: 1}},
		"all findings there": {func(c *checker) { c.counts[Error] = mostFindings }, "", Programs{NotJudged: 1}},
		"the context ended":  {func(c *checker) { c.effort.ctx = ended }, "", Programs{NotJudged: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &checker{effort: newEffort(t.Context(), reader().Nearest), version: parseImageVersion(image), hasOptionTable: true, counts: map[Level]int{}, root: nothing}
			test.change(c)

			c.checkProgram("transforms.t.source", &value{form: text, scalar: ".a = upcas(.b)"}, false)

			require.Equal(t, test.judged, c.programs)
			if test.help == "" {
				require.Empty(t, c.findings)
				return
			}
			require.Len(t, c.findings, 1)
			require.Equal(t, test.help, c.findings[0].Help)
		})
	}
}

func TestCheck_StopsIfContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := reader().Check(ctx, []File{{Name: "vector.yaml", Text: fiftyComponents()}}, Options{Image: image})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, report)
}
