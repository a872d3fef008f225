// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A finding has the line of the error in each format.
func TestFinding_PointsToFaultyText(t *testing.T) {
	for name, test := range map[string]struct{ file, text string }{
		"YAML, flow":           {"v.yaml", graph("", "inputs: [wrong]")},
		"YAML, block":          {"v.yaml", "sources:\n  app:\n    type: stdin\nsinks:\n  out:\n    type: blackhole\n    inputs:\n      - wrong\n"},
		"YAML, anchor":         {"v.yaml", "sources: {app: {type: stdin}}\nsinks:\n  out: {type: blackhole, inputs: &i [wrong]}\n"},
		"JSON":                 {"v.json", "{\n\t\"sources\": {\"app\": {\"type\": \"stdin\"}},\n\t\"sinks\": {\"out\": {\"type\": \"blackhole\",\n\t\t\"inputs\": [\n\t\t\t\"wrong\"]}}}"},
		"TOML":                 {"v.toml", "[sources.app]\ntype = \"stdin\"\n\n[sinks.out]\ntype = \"blackhole\"\n  inputs = [ \"wrong\" ]\n"},
		"TOML, inline":         {"v.toml", "sources.app = {type = \"stdin\"}\nsinks.out = {type = \"blackhole\", inputs = [\"wrong\"]}\n"},
		"TOML, dotted keys":    {"v.toml", "sources.app.type = 'stdin'\nsinks.out.type = 'blackhole'\nsinks.out.inputs = ['wrong']\n"},
		"TOML, lines of lists": {"v.toml", "sources.app.type = 'stdin'\n[sinks.out]\ntype = 'blackhole'\ninputs = [\n  # a comment\n  'wrong',\n]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			findings := checked([]File{{Name: test.file, Text: test.text}}, Options{}).Findings
			require.Len(t, Errors(findings), 1)
			f := findings[0]
			require.Equal(t, "sinks.out.inputs[0]", f.Path)
			line := strings.Split(test.text, "\n")[f.Line-1]
			require.Regexp(t, `^["']?wrong`, line[f.Column-1:])
		})
	}
}

// The finding about an unknown top-level key has the position of that key in YAML, JSON and TOML.
func TestCheckKeys_LocatesKeyInEachFormat(t *testing.T) {
	for file, text := range map[string]string{
		"v.yaml": graph("", ok) + "\nwrong: 1\n",
		"v.json": `{"sources": {"app": {"type": "stdin"}}, "sinks": {"out": {"type": "blackhole", "inputs": ["app"]}},` + "\n \"wrong\" : 1}",
		"v.toml": "[sources.app]\ntype = 'stdin'\n[sinks.out]\ntype = 'blackhole'\ninputs = ['app']\n[wrong]\na = 1\n",
	} {
		t.Run(file, func(t *testing.T) {
			findings := checked([]File{{Name: file, Text: text}}, Options{}).Findings
			require.Len(t, findings, 1)
			require.Regexp(t, `^"?wrong`, strings.Split(text, "\n")[findings[0].Line-1][findings[0].Column-1:])
		})
	}
}

func TestParse_ReturnsSameValuesFromEachFormat(t *testing.T) {
	texts := map[string]string{
		"v.yaml": "a: {b: [1, x, true, {c: 2.5}], \"d.e\": ''}\nf:\n- g: 1\n- g: 2\n",
		"v.json": `{"a": {"b": [1, "x", true, {"c": 2.5}], "d.e": ""}, "f": [{"g": 1}, {"g": 2}]}`,
		"v.toml": "a.b = [1, 'x', true, {c = 2.5}]\na.'d.e' = \"\"\n[[f]]\ng = 1\n[[f]]\ng = 2\n",
	}
	want, failed := reader().parse(File{Name: "v.json", Text: texts["v.json"]}, 0)
	require.Nil(t, failed)
	for file, text := range texts {
		got, failed := reader().parse(File{Name: file, Text: text}, 0)
		require.Nil(t, failed)
		require.Equal(t, plain(want), plain(got), file)
	}
}

// plain is a value without its places.
func plain(v *value) any {
	switch v.form {
	case list:
		all := []any{}
		for _, item := range v.items {
			all = append(all, plain(item))
		}
		return all
	case table:
		all := map[string]any{}
		for _, e := range v.entries {
			all[e.key] = plain(e.value)
		}
		return all
	default:
		return []any{v.form, v.scalar}
	}
}

func TestParse_NamesLineOfFault(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		line       int
	}{
		"a tab in YAML":        {"v.yaml", "sources:\n  a: b\n\tc: d\n", 3},
		"a second document":    {"v.yaml", "a: b\n---\nc: d\n", 2},
		"a key twice in JSON":  {"v.json", "{\"sinks\": {\"a\": {},\n\"a\": {}}}", 2},
		"a comma too many":     {"v.json", "{\"a\": 1,\n \"b\": 2,\n}", 3},
		"an end too early":     {"v.json", "{\"a\":\n [1,", 2},
		"a value that is none": {"v.toml", "[a]\nb = \n", 2},
		"a table twice":        {"v.toml", "[a]\nb = 1\n[a]\nc = 1\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			findings := checked([]File{{Name: test.file, Text: test.text}}, Options{}).Findings
			require.Len(t, findings, 1, "what is missing in a file that was not read cannot be told")
			require.Equal(t, test.line, findings[0].Line, findings[0].String())
		})
	}
}

// Vector merges only maps, from the top down, and once in each map. A merge key inside a merged map stays.
func TestResolveMerges_MatchesVector(t *testing.T) {
	for text, want := range map[string]string{
		"<<: {a: 1, b: 2}\nb: 3":          `{"a": 1, "b": 3}`,
		"'<<': {a: 1}":                    `{"a": 1}`,
		"<<: [{a: 1}, {a: 2, b: 2}]":      `{"a": 1, "b": 2}`,
		"<<: []":                          `{}`,
		"<<: {<<: {a: 1}, b: 2}":          `{"<<": {"a": 1}, "b": 2}`,
		"<<: {a: {<<: {b: 1}}}":           `{"a": {"b": 1}}`,
		"a: &a {<<: {b: 1}}\nc: {<<: *a}": `{"a": {"b": 1}, "c": {"<<": {"b": 1}}}`,
		"<<: text":                        "",
		"<<: null":                        "",
		"<<: [[{a: 1}]]":                  "",
		"<<: [{a: 1}, 2]":                 "",
		"a: {<<: {b: 1}, \"<<\": {c: 1}}": "",
	} {
		got, failed := reader().parse(File{Name: "v.yaml", Text: text}, 0)
		if want == "" {
			require.NotNil(t, failed, text)
			continue
		}
		require.Nil(t, failed, text)
		read, failed := reader().parse(File{Name: "v.json", Text: want}, 0)
		require.Nil(t, failed)
		require.Equal(t, plain(read), plain(got), text)
	}
}

func TestParseYAML_AcceptsYAMLVersionsOfVector(t *testing.T) {
	for head, isRead := range map[string]bool{
		"": true, "%YAML 1.1": true, "%YAML 1.2": true, "# a\n\n%TAG !a! tag:a,2026:\n%YAML \t1.2 # b": true, "%YAML 1.2\r": true, "%YAML 1.02": true,
		"%YAML 1.0": false, "%YAML 1.3": false, "%YAML 2.0": false, "%YAML 1.20": false, "%YAML 1.2\n%YAML 1.2": false, "%OTHER 1.2": false, "a: 1\n%YAML 1.2": false,
	} {
		_, failed := reader().parse(File{Name: "v.yaml", Text: head + "\n---\na: 1\n"}, 0)
		require.Equal(t, isRead, failed == nil, head)
	}
}

// Files of a configuration directory are merged as Vector merges them.
func TestMergeTable_CombinesFiles(t *testing.T) {
	files := []File{
		{Name: "a.yaml", Source: "first", Text: "data_dir: /d\nsources: {app: {type: stdin}}\n"},
		{Name: "b.toml", Source: "second", Text: "data_dir = '/d'\n[sinks.out]\ntype = 'blackhole'\ninputs = ['app']\n"},
		{Name: "c.json", Source: "third", Text: `{"sinks": {"two": {"type": "blackhole",` + "\n" + `"inputs": ["app", "ap"]}}}`},
	}
	require.Empty(t, checked(files[:2], Options{}).Findings)

	findings := checked(files, Options{}).Findings
	require.Len(t, findings, 1)
	require.Equal(t, `third:2:19: sinks.two.inputs[1]: unknown source, transform or output "ap"; did you mean "app"? (VSC211)`, findings[0].String())

	again := checked([]File{files[0], files[1], {Name: "d.yaml", Source: "fourth", Text: "sources:\n  app: {type: exec}\n"}}, Options{}).Findings
	require.Contains(t, again[0].String(), `fourth:2:3: sources.app: key "app" is also defined at first:2`)
}

// The intake of a configuration has the log files that its sources read, and states whether it has other sources.
func TestNewIntake_ListsLogFiles(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Intake
	}{
		"files, each once":         {"sources: {a: {type: file, include: [/b, /a]}, b: {type: file, include: [/b]}}", Intake{Files: []string{"/a", "/b"}}},
		"files that it removes":    {"sources: {a: {type: file, include: [/b, /a], remove_after_secs: 60}, b: {type: file, include: [/c]}}", Intake{Files: []string{"/a", "/b", "/c"}, Removed: []string{"/a", "/b"}}},
		"its own logs and metrics": {"sources: {a: {type: internal_logs}, b: {type: internal_metrics}}", Intake{}},
		"what it listens to":       {"sources: {a: {type: stdin}}", Intake{HasOtherSources: true}},
		"who knows what":           {"provider: {type: http}", Intake{HasOtherSources: true}},
		"nothing that can be read": {"sources: [", Intake{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, checked([]File{{Name: "v.yaml", Text: test.text}}, Options{}).Intake)
		})
	}
}
