// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// Upper bounds for every execution. The time leaves room for a busy machine; the budget's own limit
// is far below it.
const (
	mostAllocated = 64 << 20
	mostTime      = 10 * time.Second
)

// requireAllocated requires that no more than a bound was allocated. The race detector makes pools
// drop what they hold, so only an ordinary build can tell.
func requireAllocated(t testing.TB, allocated, most int, call string) {
	t.Helper()
	if !raceDetector {
		require.Less(t, allocated, most, call)
	}
}

// measured executes a template and requires the bounds.
func measured(t testing.TB, set *gotemplate.Set, name string, data map[string]any) (string, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	text, err := set.Execute(t.Context(), name, data)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	allocated := int(after.TotalAlloc - before.TotalAlloc)
	t.Logf("%s, %d KiB allocated: %v", took.Round(time.Microsecond), allocated>>10, err)
	require.Less(t, took, mostTime)
	requireAllocated(t, allocated, mostAllocated, name)
	return text, err
}

// double makes $s a text of 2^n bytes, double2 makes it a list of 2^n items.
const (
	doubling     = `{{ $s := "x" }}{{ range 40 }}{{ $s = print $s $s }}{{ end }}`
	doublingList = `{{ $s := list 1 }}{{ range 40 }}{{ $s = concat $s $s }}{{ end }}`
	cyclic       = `{{ $d := dict "a" 1 }}{{ $_ := set $d "self" $d }}`
	mebibyte     = `{{ $s := repeat 1000000 "x" }}`
	lines        = `{{ $s := repeat 1000000 "\n" }}`
	deep         = `{{ $d := dict }}{{ range 5000 }}{{ $d = dict "a" $d }}{{ end }}`
	wide         = `{{ $d := dict }}{{ range 40 }}{{ $d = dict "a" $d "b" $d }}{{ end }}`
)

// Each hostile template ends with one error that names the exceeded budget or the function.
func TestExecute_StopsHostileTemplates(t *testing.T) {
	for name, c := range map[string]struct{ budget, text string }{
		"a number that is counted to":              {"steps", `{{ range 1000000000 }}{{ end }}`},
		"a number that is counted to, and printed": {"steps", `{{ range 1000000000 }}{{ . }}{{ end }}`},
		"nested ranges with much output":           {"steps", `{{ range 3000 }}{{ range 3000 }}x{{ end }}{{ end }}`},
		"nested ranges with long lines":            {"bytes", `{{ range 300 }}{{ range 300 }}` + strings.Repeat("x", 100) + `{{ end }}{{ end }}`},
		"a list of numbers":                        {"nodes", `{{ range until 100000000 }}{{ end }}`},
		"a list of numbers by steps":               {"nodes", `{{ untilStep 0 1000000000 2 }}`},
		"a list of numbers around the largest int": {"nodes", `{{ untilStep -9223372036854775808 9223372036854775807 3 }}`},
		"a sequence":                              {"nodes", `{{ seq 100000000 }}`},
		"a text repeated":                         {"bytes", `{{ repeat 1000000000 "x" }}`},
		"a text repeated past the largest int":    {"bytes", `{{ repeat 9223372036854775807 "xyz" }}`},
		"an indentation":                          {"bytes", `{{ indent 1000000000 "x" }}`},
		"an indentation of many lines":            {"bytes", lines + `{{ nindent 100 $s }}`},
		"a text that doubles":                     {"bytes", doubling},
		"a text that doubles with cat":            {"bytes", strings.ReplaceAll(doubling, "print", "cat")},
		"a text that doubles with printf":         {"bytes", strings.ReplaceAll(doubling, "print", `printf "%s%s"`)},
		"a text that doubles with quotes":         {"memory", `{{ $s := "\"" }}{{ range 40 }}{{ $s = quote $s }}{{ end }}`},
		"a text that doubles with join":           {"bytes", `{{ $s := "x" }}{{ range 40 }}{{ $s = join $s (list $s $s) }}{{ end }}`},
		"a text that doubles with replace":        {"bytes", `{{ $s := "xx" }}{{ range 40 }}{{ $s = replace "x" $s $s }}{{ end }}`},
		"a text that grows with b64enc":           {"bytes", `{{ $s := repeat 1000 "x" }}{{ range 400 }}{{ $s = b64enc $s }}{{ end }}`},
		"a text that grows with urlquery":         {"memory", `{{ $s := "%%%%" }}{{ range 400 }}{{ $s = urlquery $s $s }}{{ end }}`},
		"a text that grows with html":             {"memory", `{{ $s := repeat 10000 "&&&&" }}{{ range 400 }}{{ $s = html $s }}{{ end }}`},
		"a text that grows with js":               {"memory", `{{ $s := "<<<<" }}{{ range 400 }}{{ $s = js $s }}{{ end }}`},
		"a text that grows with toJson":           {"memory", `{{ $s := "<\"" }}{{ range 400 }}{{ $s = toJson $s }}{{ end }}`},
		"long texts that are compared":            {"steps", mebibyte + `{{ $t := print $s }}{{ range 99999 }}{{ $x := eq $s $t }}{{ end }}`},
		"dotted keys in TOML":                     {"depth", `{{ fromToml (printf "a%s = 1" (repeat 20000 ".a")) }}`},
		"a plain text in YAML that is long":       {"memory", `{{ fromYaml (printf "a: %s" (repeat 1000000 "b ")) }}`},
		"many texts, none too long":               {"memory", mebibyte + `{{ range 1000 }}{{ $x := upper $s }}{{ end }}`},
		"many includes of a long text":            {"memory", `{{ define "x" }}` + strings.Repeat("x", 100_000) + `{{ end }}{{ range 10000 }}{{ $x := include "x" . }}{{ end }}`},
		"a replacement between all bytes":         {"bytes", mebibyte + `{{ replace "" $s $s }}`},
		"a separator between all pieces":          {"bytes", mebibyte + `{{ join $s (until 1000) }}`},
		"a separator at all columns":              {"bytes", mebibyte + `{{ wrapWith 1 $s $s }}`},
		"a text cut to pieces":                    {"nodes", mebibyte + `{{ splitList "" $s }}`},
		"a text cut to pieces in a map":           {"nodes", mebibyte + `{{ split "x" $s }}`},
		"a list that doubles":                     {"nodes", doublingList},
		"a list that grows by one":                {"memory", `{{ $l := list }}{{ range 50000 }}{{ $l = append $l . }}{{ end }}`},
		"a list that is compared with itself":     {"steps", `{{ uniq (until 40000) }}`},
		"a dict that grows, and is printed often": {"memory", `{{ $d := dict }}{{ range 50000 }}{{ $_ := set $d (toString .) (toYaml $d) }}{{ end }}`},
		"a padding":                                 {"bytes", `{{ printf "%1000000000d" 1 }}`},
		"a padding given as an argument":            {"bytes", `{{ printf "%*d" 1000000000 1 }}`},
		"a precision":                               {"bytes", `{{ printf "%.1000000000f" 1.0 }}`},
		"a padding of each item":                    {"memory", `{{ printf "%1000d" (until 40000) }}`},
		"an argument printed many times":            {"memory", mebibyte + `{{ printf "` + strings.Repeat("%[1]s", 5000) + `" $s }}`},
		"a dict that contains itself, printed":      {"depth", cyclic + `{{ $d }}`},
		"a dict that contains itself, in toYaml":    {"depth", cyclic + `{{ toYaml $d }}`},
		"a dict that contains itself, in toJson":    {"depth", cyclic + `{{ toJson $d }}`},
		"a dict that contains itself, in toToml":    {"depth", cyclic + `{{ toToml $d }}`},
		"a dict that contains itself, in deepCopy":  {"depth", cyclic + `{{ $x := deepCopy $d }}`},
		"a dict that contains itself, in merge":     {"depth", cyclic + `{{ $x := merge (dict) $d }}`},
		"a dict that contains itself, in deepEqual": {"depth", cyclic + `{{ deepEqual $d $d }}`},
		"a dict that contains itself, in printf":    {"depth", cyclic + `{{ printf "%v" $d }}`},
		"a dict that contains itself, in quote":     {"depth", cyclic + `{{ quote $d }}`},
		"a dict that contains itself, in has":       {"depth", cyclic + `{{ has $d (list $d) }}`},
		"a dict that contains itself, in html":      {"depth", cyclic + `{{ html $d }}`},
		"a dict that contains itself, as a key":     {"depth", cyclic + `{{ dict $d 1 }}`},
		"a dict that contains itself, in a list":    {"depth", cyclic + `{{ list $d | join "," }}`},
		"values that contain themselves":            {"depth", `{{ $_ := set .Values "root" $ }}{{ toYaml .Values }}`},
		"a merge of a dict into itself":             {"depth", `{{ $d := dict }}{{ $_ := merge $d (dict "self" $d) }}{{ toYaml $d }}`},
		"tuples in tuples":                          {"depth", `{{ $t := tuple 1 }}{{ range 5000 }}{{ $t = tuple $t }}{{ end }}{{ $t }}`},
		"dicts in dicts":                            {"depth", deep + `{{ toYaml $d }}`},
		"a dict that is in itself twice, 40 deep":   {"nodes", wide + `{{ toYaml $d }}`},
		"a template that includes itself":           {"depth", `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`},
		"a template that includes itself twice":     {"depth", `{{ define "x" }}{{ include "x" . }}{{ include "x" . }}{{ end }}{{ include "x" . }}`},
		"a tree of includes":                        {"steps", `{{ define "x" }}{{ if lt .n 60 }}{{ $m := dict "n" (add1 .n) }}{{ include "x" $m }}{{ include "x" $m }}{{ end }}{{ end }}{{ include "x" (dict "n" 1) }}`},
		"a template action of itself":               {"depth", `{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`},
		"two templates that include each other":     {"depth", `{{ define "x" }}{{ include "y" . }}{{ end }}{{ define "y" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`},
		"a tpl that renders itself":                 {"depth", `{{ define "x" }}{{ tpl "{{ include \"x\" . }}" . }}{{ end }}{{ include "x" . }}`},
		"a tpl of its own text":                     {"depth", `{{ tpl .Values.self . }}`},
		"a tpl of ever new texts":                   {"memory", `{{ range 100000 }}{{ $x := tpl (printf "{{ %d }}%s" . (repeat 1000 "{{1}}")) $ }}{{ end }}`},
		"a tpl of a long action":                    {"memory", `{{ tpl (printf "{{ list %s }}" (repeat 120000 "1 ")) . }}`},
		"a regular expression of repetitions":       {"steps", `{{ regexMatch "a{900}b{900}c{900}d{900}e{900}f{900}" "x" }}`},
		"a large regular expression":                {"steps", `{{ regexMatch "\\pL{1000}\\pN{1000}\\pL{1000}\\pL{1000}\\pL{1000}" "x" }}`},
		"a search that takes the square":            {"time", `{{ $s := repeat 200000 "y" }}{{ regexReplaceAll ".*x|." $s "z" }}`},
		"a search that takes the square, found all": {"time", `{{ $s := repeat 200000 "y" }}{{ regexFindAll ".*x|." $s -1 }}`},
		"a replacement of every byte":               {"nodes", mebibyte + `{{ regexReplaceAll "x" $s $s }}`},
		"a replacement that refers to all":          {"bytes", mebibyte + `{{ regexReplaceAll "x+" $s (repeat 100 "$0") }}`},
		"a search with a large product":             {"steps", mebibyte + `{{ regexMatch "(a|b|c|d|e|f){20}$" $s }}`},
		"an alias bomb":                             {"nodes", `{{ fromYaml .Values.bomb }}`},
		"an alias that contains itself":             {"nodes", `{{ fromYaml "a: &a [*a, *a]" }}`},
		"brackets in YAML":                          {"depth", `{{ fromYamlArray (print (repeat 900 "[") (repeat 900 "]")) }}`},
		"many items in YAML":                        {"nodes", `{{ fromYamlArray (printf "[%s]" (repeat 100000 "1,")) }}`},
		"brackets in JSON":                          {"depth", `{{ mustFromJson (repeat 1000000 "[") }}`},
		"brackets in TOML":                          {"depth", `{{ fromToml (printf "a = %s" (repeat 1000000 "[")) }}`},
		"dots in TOML":                              {"depth", `{{ fromToml (printf "a%s = 1" (repeat 500000 ".a")) }}`},
		"a YAML text of many lines, deep":           {"memory", lines + `{{ range 90 }}{{ $s = list $s }}{{ end }}{{ toYaml $s }}`},
		"long keys in TOML":                         {"memory", `{{ $d := dict "x" 1 }}{{ range 95 }}{{ $d = dict (repeat 10000 "k") $d }}{{ end }}{{ toToml $d }}`},
		"a version of many digits":                  {"bytes", `{{ semverCompare (repeat 100000 "1,") "1.0.0" }}`},
		"decimals of many digits":                   {"steps", `{{ mulf 1.5 ` + strings.Repeat("1.7976931348623157e308 ", 100) + ` }}`},
		"a glob of many stars":                      {"bytes", `{{ .Files.Glob (repeat 1000 "*") }}`},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := compileOne("# first line\n"+c.text, gotemplate.Budget{})
			require.NoError(t, err)
			bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
			for i := range 12 {
				name, before := string(rune('b'+i)), string(rune('a'+i))
				bomb += name + ": &" + name + " [" + strings.Repeat("*"+before+", ", 8) + "*" + before + "]\n"
			}
			data := values("self", "{{ tpl .Values.self . }}", "bomb", bomb)
			data["Files"] = gotemplate.Files{strings.Repeat("a", 200): nil}
			_, err = measured(t, set, "one/templates/a.yaml", data)
			var located *gotemplate.Error
			require.ErrorAs(t, err, &located)
			if !raceDetector || located.Budget != "time" {
				require.Equal(t, c.budget, located.Budget, "the deadline is for what nothing else ends")
			}
			require.Equal(t, "one/templates/a.yaml", located.Template)
			require.Equal(t, 2, located.Line)
			require.Positive(t, located.Column)
			require.Less(t, len(err.Error()), 2000, "an error is read by people")
		})
	}
}

// Large but ordinary templates are rendered without an error.
func TestExecute_AcceptsLargeTemplates(t *testing.T) {
	for name, text := range map[string]string{
		"a configuration of 300 KB, handed around": `{{ $s := repeat 10000 "sources: some line of text here\n" }}{{ dict "data" (dict "vector.yaml" $s) | toYaml | nindent 2 }}{{ sha256sum $s }}`,
		"a thousand environment variables":         `{{ range 1000 }}{{ dict "name" (printf "VAR_%d" .) "value" "x" | list | toYaml | nindent 2 }}{{ end }}`,
		"a list of five hundred, one by one":       `{{ $l := list }}{{ range 500 }}{{ $l = append $l (printf "item-%d" .) }}{{ end }}{{ toYaml $l }}`,
		"includes thirty deep":                     `{{ define "x" }}{{ if lt . 30 }}{{ include "x" (int (add1 .)) }}{{ end }}x{{ end }}{{ include "x" 1 }}`,
		"a regular expression on 10 KB":            `{{ regexReplaceAll "\\s+" (repeat 2000 "ab \n ") " " | len }}`,
		"aliases in YAML":                          `{{ fromYaml "a: &a {x: 1}\nb: *a\nc: [*a, *a]" | toYaml }}`,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := compileOne(text, gotemplate.Budget{})
			require.NoError(t, err)
			_, err = measured(t, set, "one/templates/a.yaml", values())
			require.NoError(t, err)
		})
	}
}
