// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// mebibyte is the unit of allocation limits.
const mebibyte = 1 << 20

// allocated returns how many bytes a function allocates in total.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// bomb is a text from which a parser would allocate a lot.
type bomb struct {
	read func(text []byte) error
	text string
	// bound is the limit that rejects it, and the message contains words.
	bound Bound
	names []string
	// most is how many mebibytes reading it may allocate. If unset, only as much as the
	// message needs: it is rejected before it is parsed.
	most int
}

func readYAML(limits Limits) func([]byte) error {
	return func(text []byte) error {
		_, err := limits.ReadYAML(text)
		return err
	}
}

func readTOML(text []byte) error {
	_, err := Configuration().ReadTOML(text)
	return err
}

func decodeJSON(limits Limits) func([]byte) error {
	return func(text []byte) error {
		var into any
		return limits.DecodeJSON(text, &into)
	}
}

func readSchema(text []byte) error {
	_, err := Schemas().CompileSchema("values.schema.json", text)
	return err
}

// doubling is a schema in which each part refers to the next one twice.
func doubling(parts int) string {
	var text strings.Builder
	text.WriteString(`{"$ref": "#/$defs/d0", "$defs": {`)
	for i := range parts {
		fmt.Fprintf(&text, `"d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, i+1, i+1)
	}
	fmt.Fprintf(&text, `"d%d": {"type": "object"}}}`, parts)
	return text.String()
}

func bombs() map[string]bomb {
	x, doublings := strings.Repeat("x", 20_000), "a: &a0 [x]\n"
	for i := range 60 {
		doublings += fmt.Sprintf("b%d: &a%d [*a%d, *a%d]\n", i, i+1, i, i)
	}
	wide := func(key, separator, value string) string {
		var text strings.Builder
		for i := range 30_000 {
			fmt.Fprintf(&text, "%s%d%s%s", key, i, separator, value)
		}
		return text.String()
	}
	return map[string]bomb{
		"a billion laughs of a namespace":  {readYAML(Overrides()), "values: {a: &a " + x + ", b: [" + strings.Repeat("*a, ", 20_000) + "]}", Aliases, []string{"line 1", "anchors and aliases (& and *) are not allowed in the values of a namespace or a workload", "write the values without anchors"}, 8},
		"a billion laughs of the platform": {readYAML(Values()), "values: {a: &a " + x + ", b: [" + strings.Repeat("*a, ", 9_000) + "]}", Bytes, []string{"line 1", "with aliases replaced", "exceeds the size limit of a values file (524288"}, 8},
		"aliases that double":              {readYAML(Configuration()), doublings, Nodes, []string{"with aliases replaced", "more values than the limit of a file of Vector's configuration (50000"}, 1},
		"an alias in what it stands for":   {readYAML(Configuration()), "a: &a [*a]", Aliases, []string{"line 1", "*a refers to itself"}, 1},
		"aliases in an inline configuration": {readYAML(Configuration()), "x: &a " + strings.Repeat("x", 100_000) + "\ny: [" + strings.Repeat("*a,", 10_000) + "]\nsources: {}\n",
			Bytes, []string{"line 1", "use fewer"}, 16},
		"a key that an alias makes long": {readYAML(Configuration()), "x: &a " + strings.Repeat("x", 2000) + "\n*a : y\n", Key, []string{"line 2", "a key of 2000 bytes exceeds the limit"}, 1},
		"a list in brackets":             {readYAML(Values()), "[" + strings.Repeat("a,", 250_000) + "a]", Nodes, []string{"line 1", "the text may have more values than the limit of a values file (300000", "split it"}, 0},
		"a shorter list in brackets":     {readYAML(Values()), "[" + strings.Repeat("a,", 149_000) + "a]", Nodes, []string{"line 1", "more values than the limit of a values file (30000", "split it"}, 40},
		"a list of nothings":             {readYAML(Values()), strings.Repeat("-\n", 250_000), Nodes, []string{"line 30000", "more values"}, 64},
		"lists in brackets":              {readYAML(Values()), "[" + strings.Repeat("[],", 100_000) + "]", Nodes, []string{"the text may have more values"}, 0},
		"maps of nothing":                {readYAML(Values()), strings.Repeat("? \n", 149_000), Nodes, []string{"more values"}, 64},
		"maps of keys alone":             {readYAML(Values()), "{" + strings.Repeat("a,", 149_000) + "}", Nodes, []string{"more values"}, 72},
		"comments":                       {readYAML(Values()), strings.Repeat("-\n #\n", 70_000), Nodes, []string{"line 59999", "more values"}, 80},
		"brackets in brackets":           {readYAML(Values()), strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), Depth, []string{"line 1", "nested deeper than the limit of a values file (100 levels)"}, 8},
		"maps in maps":                   {readYAML(Values()), strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_000), Depth, []string{"nested deeper"}, 8},
		"lists in lists":                 {readYAML(Values()), strings.Repeat("- ", 5_000), Depth, []string{"nested deeper"}, 8},
		"a long key":                     {readYAML(Configuration()), "? " + strings.Repeat("k", 250_000) + "\n:\n" + wide(" a", ": ", "b\n")[:220_000] + "\n", Key, []string{"line 1", "a key of 250000 bytes exceeds the limit of a file of Vector's configuration (1024)", "shorten it"}, 32},
		"a long key in quotes":           {readYAML(Configuration()), "{" + `? "` + strings.Repeat("k", 500_000) + `" : {}}`, Key, []string{"a key of 500000 bytes"}, 8},
		"long keys in each other":        {readYAML(Configuration()), strings.Repeat("{"+strings.Repeat("k", 1000)+": ", 60) + strings.Repeat("}", 60), Path, []string{"the keys of the path have 5000 bytes", "(4096)"}, 1},
		"wide below long keys":           {readYAML(Configuration()), strings.Repeat("{"+strings.Repeat("k", 1000)+": ", 4) + "{" + wide("", ": ", "b, ") + strings.Repeat("}", 5), Paths, []string{"the key paths of all values together exceed the limit", "(16777216 bytes)"}, 32},
		"more than there may be":         {readYAML(Values()), strings.Repeat("a", 16*mebibyte), Bytes, []string{"the text has 16777216 bytes, more than the limit of a values file (524288)"}, 0},
		"UTF-16":                         {readYAML(Values()), "\xff\xfea\x00:\x00 \x00b\x00", Bytes, []string{"UTF-16", "UTF-8"}, 0},
		"a mark in the middle":           {readYAML(Values()), "a: b\n\ufeffc: d\n", Bytes, []string{"line 2", "byte order mark", "remove it"}, 0},
		"a dotted header":                {readTOML, "[" + strings.Repeat("a.", 30_000) + "a]\n", Depth, []string{"line 1", "nested deeper than the limit of a file of Vector's configuration (64 levels)"}, 0},
		"a dotted key":                   {readTOML, strings.Repeat("a.", 250_000) + "a = 1\n", Depth, []string{"nested deeper"}, 0},
		"a dotted key in quotes":         {readTOML, "b = 1.5 # '\n" + strings.Repeat("'a' . ", 80_000) + "a = 1\n", Depth, []string{"line 2", "nested deeper"}, 0},
		"lists in lists in TOML":         {readTOML, "a = " + strings.Repeat("[", 500_000), Depth, []string{"nested deeper"}, 0},
		"tables in tables in TOML":       {readTOML, "a = " + strings.Repeat("{a = ", 100_000), Depth, []string{"nested deeper"}, 0},
		"brackets behind quotes in TOML": {readTOML, `a = ['[', """[""""", ` + strings.Repeat("[", 100), Depth, []string{"nested deeper"}, 0},
		"a list in TOML":                 {readTOML, "a = [" + strings.Repeat("1,", 250_000) + "]\n", Nodes, []string{"more values"}, 64},
		"keys in TOML":                   {readTOML, wide("a", " = ", "1\n"), Nodes, []string{"line 25000", "more values"}, 1},
		"keys below a long header":       {readTOML, "[" + strings.Repeat("a.", 31) + "a]\n" + wide("a", "=", "1\n"), Paths, []string{"the key paths of all values together exceed the limit"}, 1},
		"tables in TOML":                 {readTOML, strings.Repeat("[[a]]\n", 80_000), Nodes, []string{"more values"}, 1},
		"a long key in TOML":             {readTOML, "\n\"" + strings.Repeat("k", 500_000) + "\" = 1\n", Key, []string{"line 2", "a key of 500000 bytes"}, 1},
		"maps in maps in JSON":           {decodeJSON(Spec()), strings.Repeat(`{"a":`, 8_000) + "1" + strings.Repeat("}", 8_000), Depth, []string{"nested deeper than the limit of the spec of a VectorSidecar (100 levels)"}, 0},
		"long keys in JSON": {decodeJSON(Spec()), strings.Repeat(`{"`+strings.Repeat("k", 1000)+`":`, 90) + `{` + wide(`"`, `":`, `1,"`)[1:] + strings.Repeat("}", 91),
			Path, []string{"the keys of the path"}, 0},
		"a list in JSON":         {decodeJSON(Object()), "[" + strings.Repeat("1,", 700_000) + "1]", Nodes, []string{"more values than the limit of an object (100000"}, 0},
		"a number of gigabytes":  {decodeJSON(Spec()), `{"a": 1e999999999}`, Numbers, []string{"line 1", "1e999999999", "round it"}, 0},
		"a schema that doubles":  {readSchema, doubling(40), Nodes, []string{"with every $ref replaced", "use fewer $ref"}, 4},
		"a schema that branches": {readSchema, `{"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}`, Nodes, []string{"with every $ref replaced"}, 4},
		"a bound of gigabytes":   {readSchema, `{"maximum": 1e999999999}`, Numbers, []string{"round it"}, 0},
	}
}

// Each input is small, but would need much memory when it is decoded. It is rejected with one short error, and the
// check itself needs little memory.
func TestLimits_RejectHugeInputWithLittleMemory(t *testing.T) {
	for name, bomb := range bombs() {
		t.Run(name, func(t *testing.T) {
			text := []byte(bomb.text)
			var err error
			used := allocated(func() { err = bomb.read(text) })

			var refused *Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, bomb.bound, refused.Bound)
			for _, part := range bomb.names {
				require.ErrorContains(t, err, part)
			}
			require.Less(t, len(err.Error()), 500, "one clear error")
			most := uint64(bomb.most) * mebibyte
			if bomb.most == 0 {
				most = mebibyte / 16
			}
			require.LessOrEqual(t, used, most)
		})
	}
}

// Input that is just below a limit is decoded with at most 32 MiB of memory.
func TestLimits_BoundMemoryOfAcceptedInput(t *testing.T) {
	for name, test := range map[string]struct {
		read func([]byte) error
		text string
	}{
		"nodes of YAML":     {readYAML(Values()), strings.Repeat("- a\n", 29_990)},
		"maps of YAML":      {readYAML(Values()), "[" + strings.Repeat("{a: b},", 9_900) + "]"},
		"comments of YAML":  {readYAML(Values()), strings.Repeat("- a #b\n", 25_000)},
		"a text of YAML":    {readYAML(Values()), "a: |\n" + strings.Repeat("  b: [c, d]\n", 35_000)},
		"a document":        {func(text []byte) error { _, err := Values().ReadDocument(text); return err }, "[" + strings.Repeat("{a: b},", 9_900) + "]"},
		"values of YAML":    {func(text []byte) error { var to any; return Values().DecodeYAML(text, &to) }, "[" + strings.Repeat("{a: b},", 9_900) + "]"},
		"keys of TOML":      {readTOML, strings.Repeat("[[a]]\nb = 1\n", 4_900)},
		"values of JSON":    {decodeJSON(Object()), "[" + strings.Repeat(`{"a":1},`, 33_000) + "1]"},
		"a schema":          {readSchema, `{"properties": {` + strings.TrimSuffix(strings.Repeat(`"a": {"type": "string"}, `, 2_400), ", ") + `}}`},
		"a schema of parts": {readSchema, `{"allOf": [` + strings.TrimSuffix(strings.Repeat(`{"type": "object"}, `, 1_500), ", ") + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocated(func() { err = test.read([]byte(test.text)) })
			require.NoError(t, err)
			require.LessOrEqual(t, used, uint64(32*mebibyte))
		})
	}
}

// A scalar with thousands of YAML's special characters counts as one node.
func TestMeasureYAML_CountsOnlyNodes(t *testing.T) {
	for name, test := range map[string]struct {
		text         string
		nodes, depth int
	}{
		"a literal block":   {"a: |\n" + strings.Repeat("  b: [c, d]\n\n", 1000) + "e: f\n", 5, 1},
		"a folded block":    {"a: >2-\n" + strings.Repeat("   - b\n", 1000), 3, 1},
		"a text in quotes":  {`a: "` + strings.Repeat(`b: [\"c\", d] `, 1000) + `"`, 3, 1},
		"a text in two":     {"a: '" + strings.Repeat("b: [''c'', d]\n ", 1000) + "'", 3, 1},
		"a plain text":      {"a: b" + strings.Repeat(" c-d[e]{f}:g,h #i"[:14], 1000), 3, 1},
		"several lines":     {"a: b\n" + strings.Repeat("  c, d\n", 1000), 3, 1},
		"an ordinary map":   {"a: {b: c, d: [e, f]}\ng:\n- h: i\n  j: k\n", 16, 3},
		"comments":          {"a: b # c\n# d\n", 3, 1},
		"several documents": {"a: b\n---\nc: d\n", 3, 1},
		"aliases":           {"a: &a [b, c]\nd: *a\n", 9, 2},
		"pairs":             {"[" + strings.Repeat("a: b, ", 200) + "{c: d}: e]", 607, 3},
		"nothing":           {"", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			size, err := Values().MeasureYAML([]byte(test.text))
			require.NoError(t, err)
			require.Equal(t, test.nodes, size.Nodes)
			require.Equal(t, test.depth, size.Depth)
		})
	}
}

// The decoder ignores a text after the document that is not valid YAML. The document is not decoded without limits.
func TestMeasureYAML_RejectsInvalidTextAfterDocument(t *testing.T) {
	for name, text := range map[string]string{
		"many values":   "[" + strings.Repeat("a,", 100_000) + `a]}"}`,
		"many levels":   strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}"}`,
		"aliases":       "a: &a [" + strings.Repeat("x,", 1000) + "]\nb: [" + strings.Repeat("*a,", 1000) + "]\n}\"}",
		"a short text":  `""}"}`,
		"a second line": "[a]\n}\"}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Values().MeasureYAML([]byte(text))
			var limitErr *Error
			require.ErrorAs(t, err, &limitErr)
			require.Equal(t, "correct the syntax", limitErr.Help)
			var decoded any
			require.ErrorAs(t, Values().DecodeYAML([]byte(text), &decoded), &limitErr)
			require.Nil(t, decoded)
		})
	}
}

// The YAML files of this repository are within the limits, and their nodes and depth are counted exactly.
func TestMeasureYAML_AcceptsRepositoryFiles(t *testing.T) {
	for _, name := range []string{"values.yaml", "chart/values.yaml", "values/production.yaml", "chart/files/crds/observability.kontroloop.ai_vectorsidecars.yaml"} {
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		size, err := Object().MeasureYAML(text)
		require.NoError(t, err)
		var document yaml.Node
		require.NoError(t, yaml.Unmarshal(text, &document))
		nodes, depth := shapeOf(document.Content[0])
		require.Equal(t, depth, size.Depth, name)
		require.Equal(t, nodes, size.Nodes, name)
	}
	for _, name := range []string{"values.schema.json", "chart/values.schema.json"} {
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		require.NoError(t, readSchema(text), name)
	}
}

// shapeOf counts nodes and the nesting depth of containers.
func shapeOf(node *yaml.Node) (nodes, depth int) {
	nodes = 1
	for _, child := range node.Content {
		n, d := shapeOf(child)
		nodes, depth = nodes+n, max(depth, d)
	}
	if node.Kind != yaml.ScalarNode && node.Kind != yaml.AliasNode {
		depth++
	}
	return nodes, depth
}
