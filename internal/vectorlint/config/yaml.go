// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`^(?:document contains )?.*?line (\d+): `)

// newerYAML matches the directive %YAML 1.2 before the document. Vector reads YAML 1.2 and 1.1. The library
// accepts only 1.1, but it reads both versions in the same way.
var newerYAML = regexp.MustCompile(`\A(?: *(?:#.*)?\r?\n|%.*\n)*?%YAML[ \t]+1\.0*(2)[ \t\r\n]`)

// parseYAML parses a file with one YAML document, and resolves aliases and merge keys.
func (r *Reader) parseYAML(source string) (*value, *fault) {
	written := []byte(source)
	if match := newerYAML.FindSubmatchIndex(written); match != nil {
		written[match[2]] = '1'
	}
	root, err := r.YAML(written)
	var second TextError
	switch {
	case root != nil && errors.As(err, &second):
		line, _ := second.Position()
		return nil, &fault{code: unreadable, pos: position{line: line, column: 1}, message: "a second YAML document: Vector reads one per file"}
	case err != nil:
		return nil, yamlFault(source, err)
	case root == nil:
		return &value{}, nil
	}
	if strings.HasPrefix(source, byteOrderMark) && isShifted(source, root) {
		return nil, &fault{code: unreadable, pos: position{line: 1, column: 1}, message: "a byte order mark, which Vector reads as whitespace at the start of the line", help: "save the file as UTF-8 without a byte order mark"}
	}
	v, f := readYAML(root)
	if f == nil {
		f = v.resolveMerges()
	}
	return v, f
}

const byteOrderMark = "\ufeff"

// isShifted reports whether a byte order mark at the start of the file moves a key or a start mark from its
// required column. It concerns the first of several keys, and the start mark of the document.
func isShifted(source string, root *yaml.Node) bool {
	if strings.HasPrefix(source, byteOrderMark+"---") {
		return true
	}
	return root.Kind == yaml.MappingNode && root.Style&yaml.FlowStyle == 0 && len(root.Content) > 2 && root.Content[0].Line == 1
}

// yamlFault returns the fault for an error of the YAML parser, at the line that the error names.
func yamlFault(source string, err error) *fault {
	if f := limitFault(err); f != nil {
		return f
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	f := &fault{code: unreadable, pos: position{line: 1, column: 1}}
	if match := yamlLine.FindStringSubmatch(message); match != nil {
		f.pos.line, _ = strconv.Atoi(match[1])
		message = strings.TrimPrefix(message, match[0])
	}
	f.pos.line = min(max(f.pos.line, 1), strings.Count(source, "\n")+1)
	if strings.Contains(message, "tab character") {
		f.pos = tabPosition(source, f.pos)
	}
	f.message = "not YAML: " + message
	return f
}

// tabPosition returns the position of the tab that indents a line. The search starts at the line that the library
// reports, which is the start of the surrounding block.
func tabPosition(source string, near position) position {
	for i, line := range strings.Split(source, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && i+1 >= near.line {
			return position{line: i + 1, column: tab + 1}
		}
	}
	return near
}

// readYAML converts a node of the YAML library to a value.
func readYAML(node *yaml.Node) (*value, *fault) {
	pos := position{line: node.Line, column: node.Column}
	if isTagged := node.Style&yaml.TaggedStyle != 0; isTagged && !strings.HasPrefix(node.Tag, "!!") {
		return nil, &fault{code: unreadable, pos: pos, message: "Vector does not support the tag " + node.Tag}
	}
	switch node.Kind {
	case yaml.AliasNode:
		return readYAML(node.Alias)
	case yaml.SequenceNode:
		v := &value{form: list, pos: pos, items: make([]*value, 0, len(node.Content))}
		for _, child := range node.Content {
			item, f := readYAML(child)
			if f != nil {
				return nil, f
			}
			v.items = append(v.items, item)
		}
		return v, nil
	case yaml.MappingNode:
		return readMap(node, pos)
	default:
		return readScalar(node, pos), nil
	}
}

// readMap converts a map of the YAML library to a table. Its keys must be scalars, and each key must be there once.
func readMap(node *yaml.Node, pos position) (*value, *fault) {
	v := &value{form: table, pos: pos, entries: make([]entry, 0, len(node.Content)/2)}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		keyPos := position{line: key.Line, column: key.Column}
		child, f := readYAML(node.Content[i+1])
		if f != nil {
			return nil, f
		}
		if key.Kind != yaml.ScalarNode {
			return nil, &fault{code: unreadable, pos: keyPos, message: "a key is not a plain string"}
		}
		if existing := v.entry(key.Value); existing != nil {
			return nil, duplicateKey(key.Value, keyPos, existing.pos)
		}
		v.addEntry(entry{key: key.Value, pos: keyPos, value: child, isNoText: readScalar(key, keyPos).form != text})
	}
	return v, nil
}

// mergeKey is the key that merges a map, or a list of maps, into the map that contains the key.
const mergeKey = "<<"

// mergesOnce is the help for a merge key that Vector does not apply and treats as an ordinary key.
const mergesOnce help = "<< merges only in YAML, and not within a merged map: write the merged keys out"

// resolveMerges applies merge keys as Vector does: from the top down, and once in each map. A merge key in a
// merged map is therefore not applied.
func (v *value) resolveMerges() *fault {
	if merge := v.get(mergeKey); merge != nothing {
		sources := []*value{merge}
		if merge.form == list {
			sources = merge.items
		}
		entries := v.entries
		v.entries, v.index = make([]entry, 0, len(entries)), nil
		v.fillEntries(slices.DeleteFunc(entries, func(e entry) bool { return e.key == mergeKey }))
		for _, mergeSource := range sources {
			if mergeSource.form != table {
				return &fault{code: wrongForm, pos: mergeSource.pos, message: "<< merges " + mergeSource.form.formNoun() + ", not a map", help: "write a map after <<, or a list of maps"}
			}
			v.fillEntries(mergeSource.entries)
		}
	}
	for _, item := range v.items {
		if f := item.resolveMerges(); f != nil {
			return f
		}
	}
	for i := range v.entries {
		if f := v.entries[i].value.resolveMerges(); f != nil {
			return f
		}
	}
	return nil
}

// fillEntries adds the entries with keys that the map does not have.
func (v *value) fillEntries(entries []entry) {
	for _, e := range entries {
		if v.entry(e.key) == nil {
			v.addEntry(e)
		}
	}
}

// readScalar converts a scalar as Vector's reader does. If the scalar has a tag, the tag determines its form.
func readScalar(node *yaml.Node, pos position) *value {
	v := &value{form: text, scalar: node.Value, pos: pos}
	switch isTagged := node.Style&yaml.TaggedStyle != 0; {
	case isTagged && node.Tag == "!!null":
		v.form = null
	case isTagged && (node.Tag == "!!int" || node.Tag == "!!float"):
		v.form = number
	case isTagged && node.Tag == "!!bool":
		v.form = boolean
	case !isTagged && node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0:
		v.form = plainForm(node.Value)
	}
	if v.form == boolean {
		v.scalar = strings.ToLower(v.scalar)
	}
	return v
}

// duplicateKey returns the fault of a key that occurs twice, with the line of the first one.
func duplicateKey(key string, pos, firstPos position) *fault {
	return &fault{code: repeatedKey, pos: pos, message: "the key \"" + key + "\" is also on line " + strconv.Itoa(firstPos.line)}
}
