// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// led has pointers as fields, like the metadata of a chart.
type led struct {
	Name string
	To   *counter
	Many []*counter
}

// withPointers are values that contain pointers, as .Capabilities and .Chart do.
func withPointers() map[string]any {
	data := values("text", "x", "map", map[string]any{"a": 1}, "format", "%p", "number", 7)
	data["Led"] = &led{"cart", &counter{1}, []*counter{{2}}}
	data["Flat"] = &counter{3}
	data["None"] = &led{Name: "cart"}
	return data
}

// A constant format string that would print a memory address is an error when the template set is loaded.
func TestCompile_RejectsVerbsThatPrintAddresses(t *testing.T) {
	for text, message := range map[string]string{
		`{{ printf "%p" .Values.map }}`:                         "%p prints an address",
		`{{ printf "%s %-08p" "x" .Values.map }}`:               "%-08p prints an address",
		`{{ printf "%[2]p" 1 .Values.map }}`:                    "%[2]p prints an address",
		`{{ if (eq "x" (printf "%#v" .Values.map)) }}{{ end }}`: "%#v prints addresses",
		`{{ .Values.map | printf "%s: %+#10.3v" "x" }}`:         "%+#10.3v prints addresses",
	} {
		_, err := compileOne("a: 1\nb: "+text, gotemplate.Budget{})
		found := findings(t, err)
		require.Len(t, found, 1, text)
		require.Equal(t, "one/templates/a.yaml", found[0].Template)
		require.Equal(t, 2, found[0].Line)
		require.Contains(t, found[0].Message, message)
		require.NotEmpty(t, found[0].Hint)
	}
}

// A value that is known only at run time would print a memory address. The rendering ends with an error that has the
// position.
func TestExecute_RejectsPrintedAddresses(t *testing.T) {
	for _, text := range []string{
		`printf .Values.format .Values.map`, `printf (print "%#" "v") .Values.map`, `printf (print "%" "p") "x"`,
		`printf "%d" .Flat`, `printf "%x" .Flat`, `printf "%s %d" "x" (semver "1.2.3")`, `printf "%[2]d" 1 .Flat`, `printf "%*d" 5 .Flat`,
		`printf "%d" (list (semver "1.2.3"))`, `printf "%v" (list .Flat)`, `printf "%v" .Led`, `printf "%s" (dict "a" .Flat)`,
		`printf "%z" (list .Flat)`, `printf "x" (list .Flat)`,
		`.Led`, `list .Flat`, `print .Led`, `println "x" .Led`, `toString (list .Flat)`, `toStrings (list (list .Flat))`, `quote (list .Flat)`,
		`squote .Led`, `cat "x" .Led`, `join "," (list (list .Flat))`, `html (list .Flat)`, `js (list .Flat)`, `urlquery (list .Flat)`,
		`sortAlpha (list (list .Flat))`, `dict .Led 1`, `.Led.Many`, `tpl "{{ .Led }}" $`,
	} {
		t.Run(text, func(t *testing.T) {
			set, err := compileOne("a: 1\nb: {{ "+text+" }}", gotemplate.Budget{})
			require.NoError(t, err)
			_, err = set.Execute(t.Context(), "one/templates/a.yaml", withPointers())
			found := findings(t, err)
			require.Equal(t, 2, found[0].Line)
			require.Contains(t, found[0].Message, "address")
			require.Contains(t, found[0].Message, "in each rendering")
			require.NotEmpty(t, found[0].Hint)
		})
	}
}

// Pointers with a String method, and those that fmt dereferences, are printed as text, not as addresses.
func TestExecute_PrintsPointersWithText(t *testing.T) {
	address := regexp.MustCompile("0x[0-9a-f]{6,}")
	for text, want := range map[string]string{
		`semver "1.2.3"`: "1.2.3", `list (semver "1.2.3")`: "[1.2.3]", `printf "%s-%d" (semver "1.2.3") 3`: "1.2.3-3",
		`printf "%[2]d-%[1]v" (semver "1.2.3") 3`: "3-1.2.3", `printf "%*d|%T" 3 1 .Flat`: "  1|*gotemplate_test.counter", `printf "%q" (list (semver "1.2.3"))`: `["1.2.3"]`,
		`printf "%v" .Flat`: "&{3}", `.Flat`: "{3}", `.None`: "{cart <nil> []}", `toString .Flat`: "&{3}", `join "," (list "a" 1)`: "a,1",
		`toJson .Led`: `{"Name":"cart","To":{"N":1},"Many":[{"N":2}]}`, `.Led.To.N`: "1", `printf "100%% p %v" .Values.map`: "100% p map[a:1]",
		`printf "%d%%" .Values.number`: "7%", `printf "%x %X %o %b %U" "ab" 255 8 2 97`: "6162 FF 10 10 U+0061",
	} {
		got, err := execute(t, "{{ "+text+" }}", withPointers())
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.False(t, address.MatchString(strings.TrimSpace(got)), got)
	}
}
