// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// effort is enough for every program of these tests.
const effort = 10_000_000

// programs are those of a file, which lines of three dashes separate. test/vector asks a real
// Vector about them.
func programs(tb testing.TB, file string) []string {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(tb, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
}

func TestCheck_AcceptsValidPrograms(t *testing.T) {
	for _, program := range programs(t, "taken.txt") {
		for _, minor := range []int{0, 57} {
			require.Empty(t, Check(program, Options{Minor: minor, Effort: effort, IsAny: true}).Findings, program)
		}
	}
}

func TestCheck_RejectsInvalidPrograms(t *testing.T) {
	for _, program := range programs(t, "refused.txt") {
		for _, minor := range []int{0, 57} {
			require.NotEmpty(t, Check(program, Options{Minor: minor, Effort: effort, IsAny: true}).Findings, program)
		}
	}
}

// A VRL expression that can fail must handle the error. The check infers types by the rules of the newest release.
func TestCheck_FindsUnhandledErrorsInVRL(t *testing.T) {
	for _, program := range programs(t, "unhandled.txt") {
		report := Check(program, Options{Minor: newest(), Effort: effort, IsAny: true})
		require.NotEmpty(t, report.Findings, program)
		require.Equal(t, Error, report.Findings[0].Kind, program)
		require.Empty(t, Check(program, Options{Minor: newest() - 1, Effort: effort, IsAny: true}).Findings, program)
	}
	require.Empty(t, Check(".a = upcase(.b)", Options{Minor: newest(), Effort: effort}).Findings, "with a schema a field may be known to be a text")
}

// A condition in VRL must be a boolean without side effects.
func TestCheck_RequiresPureBooleanCondition(t *testing.T) {
	for program, isTaken := range map[string]bool{
		".a == 1": true, "exists(.a)": true, "x = string!(.a); x == \"b\"": true, "true": true, "match(string!(.a), r'b')": true,
		".a": false, "": false, "# nothing": false, "1": false, ".a = 1; true": false, "exists(.a) || .b": false, "upcase(.a) == \"B\"": false, "if exists(.a) { true }": false,
	} {
		report := Check(program, Options{Minor: newest(), Effort: effort, IsCondition: true})
		require.Equal(t, isTaken, len(report.Findings) == 0, "%q: %+v", program, report)
	}
}

// If a VRL program has no unknown parts, it is checked fully.
func TestCoverage_IsFullWithoutUnknownParts(t *testing.T) {
	for program, want := range map[string]Coverage{
		".a = upcase(string!(.b))": Fully, ".a = 1": Fully, ".a = (": Fully, "x = 1\nif x == 1 { .a = x + 1 }": Fully,
		".a = x.b": Fully, "x = {}\n.a = upcase!(x.b)": Partly, ".a = r'('": Partly, "abort": Partly,
	} {
		require.Equal(t, want, Check(program, Options{Minor: newest(), Effort: effort, IsAny: true}).Coverage, program)
	}
	require.Equal(t, Partly, Check(".a = 1", Options{Effort: effort, IsAny: true}).Coverage, "of a release that is not known")
}

func TestFinding_ContainsPositionAndHelp(t *testing.T) {
	for _, c := range []struct {
		program string
		want    Finding
	}{
		{".a = 1\n.é = , 2", Finding{Syntax, 2, 2, "the character 'é' is not valid here", ""}},
		{".a = 1\n.b = , 2", Finding{Syntax, 2, 6, `found ",", expected an expression`, ""}},
		{"while = 1", Finding{Syntax, 1, 1, `found "while", expected an expression`, `"while" is reserved: use another name`}},
		{".a = 1-1", Finding{Syntax, 1, 7, `found "-1", expected the end of the line`, "write a space after the minus sign"}},
		{`.ü = "x`, Finding{Syntax, 1, 2, "the character 'ü' is not valid here", ""}},
		{`.a = parse_jsn("b")`, Finding{Function, 1, 6, `unknown function "parse_jsn"`, `did you mean "parse_json"?`}},
		{`.a = upcase(valeu: "b")`, Finding{Function, 1, 13, `function upcase has no argument "valeu"`, `did you mean "value"?`}},
		{`.a = upcase("b", 1)`, Finding{Function, 1, 18, "function upcase takes 1 arguments at most, not 2", "the arguments are value"}},
		{`.a = contains("b")`, Finding{Function, 1, 6, `function contains needs the argument "substring"`, "the arguments are value, substring, case_sensitive"}},
		{"count = 1\n.a = cuont", Finding{Variable, 2, 6, `the variable "cuont" has no value here`, `did you mean "count"?`}},
		{"count = 1\n.a = \"b {{ cuont }}\"", Finding{Variable, 2, 12, `the variable "cuont" has no value here`, `did you mean "count"?`}},
	} {
		require.Equal(t, []Finding{c.want}, Check(c.program, Options{Minor: 57, Effort: effort, Nearest: humanize.Nearest}).Findings, c.program)
	}
}

// A VRL function is known only from the release that added it.
func TestCheck_UsesFunctionsOfRelease(t *testing.T) {
	const program = `.a = basename!("b")`
	require.Equal(t, []Finding{{Function, 1, 6, `the function "basename" requires Vector 0.51 or later`, "use a newer image of Vector, or another function"}}, Check(program, Options{Minor: 50, Effort: effort}).Findings)
	require.Empty(t, Check(program, Options{Minor: 51, Effort: effort}).Findings)
	require.Empty(t, Check(program, Options{Minor: 0, Effort: effort}).Findings, "of a release that is not known any function passes")
}

// A VRL program that is too large to check is accepted, within limits of time and stack.
func TestCheck_SkipsOversizedPrograms(t *testing.T) {
	const much = 200_000
	for name, program := range map[string]string{
		"parentheses": ".a = " + strings.Repeat("(", much), "braces": strings.Repeat("{", much), "brackets": ".a = " + strings.Repeat("[", much),
		"closed": ".a = " + strings.Repeat("[", much/2) + strings.Repeat("]", much/2), "negations": ".a = " + strings.Repeat("!", much),
		"calls": strings.Repeat("f(", much/2), "operators": ".a = 1" + strings.Repeat(" + 1", much/4), "else": "if a { b }" + strings.Repeat(" else if a { b }", much/20),
		"assignments": strings.Repeat("a = ", much/4), "aborts": strings.Repeat("abort ", much/6), "queries": strings.Repeat("a[0].", much/5),
		"size": strings.Repeat("# comment\n", 30_000), "closures": strings.Repeat("f() -> |x| { ", much/15),
	} {
		t.Run(name, func(t *testing.T) {
			report := Check(program, Options{Minor: 57, Effort: effort})
			require.Equal(t, None, report.Coverage, report.Findings)
			require.LessOrEqual(t, report.Effort, effort+len(program))
		})
	}
}

// Blocks inherit the known types of fields. Looking these up counts against the limit of steps.
func TestInferAll_LimitsStateLookups(t *testing.T) {
	fields := func(count int) string {
		var all strings.Builder
		for i := range count {
			fmt.Fprintf(&all, ".f%d = 1\n", i)
		}
		return all.String()
	}
	chain := func(length, count int) string {
		return strings.Repeat("if true { 1 } else ", length) + "{\n" + fields(count) + "}"
	}
	for name, program := range map[string]string{
		"else if": chain(240, 2000), "blocks": strings.Repeat("{", 120) + fields(2000) + strings.Repeat("}", 120),
		"alternatives": ".a = " + strings.Repeat("(true || ", 110) + "{\n" + fields(20_000) + "}" + strings.Repeat(")", 110),
	} {
		t.Run(name, func(t *testing.T) {
			report := Check(program, Options{Minor: newest(), Effort: effort, IsAny: true})
			require.Equal(t, Partly, report.Coverage, report.Findings)
			require.Greater(t, report.Effort, effort)
			require.LessOrEqual(t, report.Effort, effort+len(program))
		})
	}
	ordinary := Check(chain(20, 50), Options{Minor: newest(), Effort: effort, IsAny: true})
	require.Equal(t, Fully, ordinary.Coverage, ordinary.Findings)
	require.Less(t, ordinary.Effort, effort/20)
}

// After the maximum number of findings, no further suggestions are computed.
func TestCheck_SuggestsNothingAfterMaxFindings(t *testing.T) {
	for _, program := range []string{"a\n", "nosuch()\n", "upcase(valeu: 1)\n", "a = \"{{ b }}\"\n"} {
		asked := 0
		report := Check(strings.Repeat(program, 10_000), Options{Minor: 57, Effort: effort, Nearest: func(string, []string) string {
			asked++
			return ""
		}})
		require.Len(t, report.Findings, mostFindings, program)
		require.LessOrEqual(t, asked, mostFindings, program)
	}
}

// For any program, the check ends within its limits, and its findings have valid positions.
func FuzzCheck(f *testing.F) {
	for _, file := range []string{"taken.txt", "refused.txt", "unhandled.txt"} {
		for _, program := range programs(f, file) {
			f.Add(program, 57)
		}
	}
	f.Fuzz(func(t *testing.T, program string, minor int) {
		report := Check(program, Options{Minor: minor, Effort: effort, IsAny: true, IsCondition: len(program)%2 == 0})
		lines := strings.Split(program, "\n")
		for _, one := range report.Findings {
			require.NotEmpty(t, one.Message)
			require.True(t, one.Line >= 1 && one.Line <= len(lines), "%+v", one)
			require.True(t, one.Column >= 1 && one.Column <= len(lines[one.Line-1])+1, "%+v", one)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	all := programs(b, "taken.txt")
	size := 0
	for _, program := range all {
		size += len(program)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, program := range all {
			Check(program, Options{Minor: 57, Effort: effort})
		}
	}
}
