// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
	goyamlv2 "sigs.k8s.io/yaml/goyaml.v2"
)

// most is more than a text of a test has.
const most = 1 << 40

// open has no limits, so that counts can be compared.
func open() Limits {
	return Limits{Subject: "anything", Bytes: most, Nodes: most, Depth: most, Key: most, Path: most, Paths: most, Aliases: true}
}

// tight rejects almost everything.
func tight() Limits {
	return Limits{Subject: "a little", Bytes: 200, Nodes: 12, Depth: 3, Key: 4, Path: 6, Paths: 200}
}

// isClear checks an error's format.
func isClear(t *testing.T, text []byte, err error) {
	t.Helper()
	var refused *Error
	if !errors.As(err, &refused) {
		return
	}
	require.NotEmpty(t, refused.Bound)
	require.NotEmpty(t, refused.Message)
	require.NotEmpty(t, refused.Help)
	require.NotContains(t, refused.Error(), "\n")
	lines := 2 // A missing value at the end may be on the next line, and YAML has four more line ends.
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		lines += bytes.Count(text, []byte(end))
	}
	require.LessOrEqual(t, refused.Line, lines)
	require.Less(t, len(refused.Error()), 500)
}

func bombsFor(f *testing.F, isFor func(bomb bomb) bool) {
	for _, bomb := range bombs() {
		if isFor(bomb) {
			f.Add([]byte(bomb.text[:min(len(bomb.text), 300)]))
		}
	}
}

// The count is never below what the YAML parsers create, and what passes is parsed as by the
// plain parser.
func FuzzYAML(f *testing.F) {
	bombsFor(f, func(b bomb) bool { return strings.ContainsAny(b.text, ":[-") })
	for _, text := range []string{
		"a: &b [c]\nd: *b\n", "? a\n: - b\n  - c: d\n", "{a, b: c, ? d : e}", "[a: b, ? c, {}]", "a: |2-\n   b\n # c\n", "--- >\n a\n...\n%YAML 1.1\n--- !!a 'b'\n",
		"a:\n- b\n- - c\n", "\"a\\\nb\": '''c'\r\n", "a\u0085- b\u2028- c", "!<a> &b !c d: e #f\n", "<<: *a",
		"\"\"}\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		size, err := open().MeasureYAML(text)
		isClear(t, text, err)
		if err == nil {
			nodes, depth := parsedYAML(text)
			require.GreaterOrEqual(t, size.Nodes, nodes)
			require.GreaterOrEqual(t, size.Depth, depth)
		}
		root, err := tight().ReadYAML(text)
		isClear(t, text, err)
		if root != nil {
			require.NoError(t, within(root, 4, 6))
		}
		var ours, plain any
		err = Values().DecodeYAML(text, &ours)
		isClear(t, text, err)
		if wrong := sigsyaml.Unmarshal(text, &plain); !errors.As(err, new(*Error)) {
			require.Equal(t, wrong == nil, err == nil)
			require.Equal(t, plain, ours)
			require.True(t, err != nil || yaml.Unmarshal(text, new(yaml.Node)) == nil, "one parser rejects what the other accepts")
		}
	})
}

// parsedYAML counts what the two libraries parse from the first document of a text.
func parsedYAML(text []byte) (nodes, depth int) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err == nil && len(document.Content) > 0 {
		nodes, depth = shapeOf(document.Content[0])
	}
	var value any
	if err := goyamlv2.Unmarshal(text, &value); err == nil && value != nil {
		n, d := shapeOfValue(value)
		nodes, depth = max(nodes, n), max(depth, d)
	}
	return nodes, depth
}

func shapeOfValue(value any) (nodes, depth int) {
	nodes = 1
	add := func(below any) {
		n, d := shapeOfValue(below)
		nodes, depth = nodes+n, max(depth, d+1)
	}
	switch value := value.(type) {
	case map[any]any:
		for key, item := range value {
			add(key)
			add(item)
		}
	case map[string]any:
		for key, item := range value {
			add(key)
			add(item)
		}
	case []any:
		for _, item := range value {
			add(item)
		}
	}
	return nodes, depth
}

// within returns which key, or path of keys, is too long.
func within(node *yaml.Node, key, path int) error {
	for i, child := range node.Content {
		left := path
		if node.Kind == yaml.MappingNode {
			name := node.Content[i&^1].Value
			if left -= len(name); len(name) > key || left < 0 {
				return errors.New("too long: " + name)
			}
		}
		if err := within(child, key, left); err != nil {
			return err
		}
	}
	return nil
}

// The count is never below what JSON decoders create.
func FuzzJSON(f *testing.F) {
	bombsFor(f, func(b bomb) bool { return strings.ContainsAny(b.text[:1], "{[") })
	f.Add([]byte(`{"a": [1, -2.5e3, "b\"c\u00e9", null, {"d": {}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		size, err := open().MeasureJSON(text)
		isClear(t, text, err)
		var plain any
		wrong := json.Unmarshal(text, &plain)
		if err == nil && wrong == nil {
			nodes, depth := shapeOfValue(plain)
			require.GreaterOrEqual(t, size.Nodes, nodes)
			require.GreaterOrEqual(t, size.Depth, depth)
		}
		var ours any
		if err := Values().DecodeJSON(text, &ours); !errors.As(err, new(*Error)) {
			require.Equal(t, wrong == nil, err == nil)
			require.Equal(t, plain, ours)
		}
		if _, err = tight().MeasureJSON(text); err == nil && wrong == nil {
			nodes, depth := shapeOfValue(plain)
			require.LessOrEqual(t, nodes, 12)
			require.LessOrEqual(t, depth, 3)
		}
		isClear(t, text, err)
	})
}

// The count is never below what the TOML libraries create.
func FuzzTOML(f *testing.F) {
	bombsFor(f, func(b bomb) bool { return strings.Contains(b.text, "=") || strings.HasPrefix(b.text, "[") })
	for _, text := range []string{
		"a.b = 1\n[c.\"d.e\"]\nf = [1, {g = 2, h.i = '3'}] # j\n[[k]]\n[[k.l]]\n", "a = \"\"\"b = [\n\"c\" \\\" \"\"\"\"\"\nd = '''e'''\n", "a = 1979-05-27 07:32:00\nb = [\n 1.5, # c\n]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		size, err := open().MeasureTOML(text)
		isClear(t, text, err)
		for _, unmarshal := range []func([]byte, any) error{toml.Unmarshal, func(text []byte, into any) error { return open().DecodeTOML(text, into) }} {
			var tree map[string]any
			if wrong := unmarshal(text, &tree); err == nil && wrong == nil {
				nodes, depth := shapeOfTable(tree)
				require.GreaterOrEqual(t, size.Nodes, nodes)
				require.GreaterOrEqual(t, size.Depth, depth)
			}
		}
		parser, err := tight().ReadTOML(text)
		isClear(t, text, err)
		if err == nil {
			for parser.NextExpression() {
				parser.Expression()
			}
			require.NoError(t, parser.Error())
		}
	})
}

// shapeOfTable is shapeOfValue for TOML libraries, one of which has its own type for arrays
// of tables.
func shapeOfTable(value any) (nodes, depth int) {
	text, err := json.Marshal(value)
	if err != nil {
		return 0, 0 // Not a number, which JSON has not.
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var plain any
	if err := decoder.Decode(&plain); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0
	}
	return shapeOfValue(plain)
}
