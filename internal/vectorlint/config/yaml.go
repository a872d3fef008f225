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

// newerYAML recognizes a file of YAML 1.2 by the directive before its document. Vector reads versions 1.2 and 1.1. The
// library accepts only 1.1, although it reads both the same.
var newerYAML = regexp.MustCompile(`\A(?: *(?:#.*)?\r?\n|%.*\n)*?%YAML[ \t]+1\.0*(2)[ \t\r\n]`)

// parseYAML reads one YAML document. Aliases and merge keys are resolved.
func (r *Reader) parseYAML(source string) (*value, *fault) {
	written := []byte(source)
	if match := newerYAML.FindSubmatchIndex(written); match != nil {
		written[match[2]] = '1'
	}
	root, err := r.YAML(written)
	var second TextError
	switch {
	case root != nil && errors.As(err, &second):
		line, _ := second.Place()
		return nil, &fault{code: unreadable, at: position{line: line, column: 1}, message: "a second YAML document: Vector reads one per file"}
	case err != nil:
		return nil, yamlFault(source, err)
	case root == nil:
		return &value{}, nil
	}
	if strings.HasPrefix(source, byteOrderMark) && isShifted(source, root) {
		return nil, &fault{code: unreadable, at: position{line: 1, column: 1}, message: "a byte order mark, which Vector counts as a blank at the start of the line", help: "save the file as UTF-8 without a byte order mark"}
	}
	v, f := readYAML(root)
	if f == nil {
		f = v.resolveMerges()
	}
	return v, f
}

const byteOrderMark = "\ufeff"

// isShifted reports whether a byte order mark moves the first of several keys, or the start mark of a document, away
// from its required column.
func isShifted(source string, root *yaml.Node) bool {
	if strings.HasPrefix(source, byteOrderMark+"---") {
		return true
	}
	return root.Kind == yaml.MappingNode && root.Style&yaml.FlowStyle == 0 && len(root.Content) > 2 && root.Content[0].Line == 1
}

func yamlFault(source string, err error) *fault {
	if f := refused(err); f != nil {
		return f
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	f := &fault{code: unreadable, at: position{line: 1, column: 1}}
	if match := yamlLine.FindStringSubmatch(message); match != nil {
		f.at.line, _ = strconv.Atoi(match[1])
		message = strings.TrimPrefix(message, match[0])
	}
	f.at.line = min(max(f.at.line, 1), strings.Count(source, "\n")+1)
	if strings.Contains(message, "tab character") {
		f.at = tabAt(source, f.at)
	}
	f.message = "not YAML: " + message
	return f
}

// tabAt finds the tab that indents a line. It starts at the line that the library names, which is the start of the
// surrounding block.
func tabAt(source string, near position) position {
	for i, line := range strings.Split(source, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if at := strings.IndexByte(indent, '\t'); at >= 0 && i+1 >= near.line {
			return position{line: i + 1, column: at + 1}
		}
	}
	return near
}

// readYAML turns nodes of the YAML library into values.
func readYAML(node *yaml.Node) (*value, *fault) {
	at := position{line: node.Line, column: node.Column}
	if isTagged := node.Style&yaml.TaggedStyle != 0; isTagged && !strings.HasPrefix(node.Tag, "!!") {
		return nil, &fault{code: unreadable, at: at, message: "Vector does not support the tag " + node.Tag}
	}
	switch node.Kind {
	case yaml.AliasNode:
		return readYAML(node.Alias)
	case yaml.SequenceNode:
		v := &value{form: list, at: at, items: make([]*value, 0, len(node.Content))}
		for _, child := range node.Content {
			item, f := readYAML(child)
			if f != nil {
				return nil, f
			}
			v.items = append(v.items, item)
		}
		return v, nil
	case yaml.MappingNode:
		return readMap(node, at)
	default:
		return readScalar(node, at), nil
	}
}

func readMap(node *yaml.Node, at position) (*value, *fault) {
	v := &value{form: table, at: at, entries: make([]entry, 0, len(node.Content)/2)}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		here := position{line: key.Line, column: key.Column}
		of, f := readYAML(node.Content[i+1])
		if f != nil {
			return nil, f
		}
		if key.Kind != yaml.ScalarNode {
			return nil, &fault{code: unreadable, at: here, message: "a key is not a plain text"}
		}
		if first := v.entry(key.Value); first != nil {
			return nil, duplicateKey(key.Value, here, first.at)
		}
		v.add(entry{key: key.Value, at: here, value: of, isNoText: readScalar(key, here).form != text})
	}
	return v, nil
}

// mergeKey merges the missing keys of a map, or of the maps of a list.
const mergeKey = "<<"

// mergesOnce is the help for a merge key that was not merged and is an ordinary key.
const mergesOnce help = "<< merges only in YAML, and not within a merged map: write the merged keys out"

// resolveMerges applies merge keys as Vector does: from the top down, and once in each map. Therefore a merge key in a
// merged map is not applied.
func (v *value) resolveMerges() *fault {
	if merge := v.get(mergeKey); merge != nothing {
		from := []*value{merge}
		if merge.form == list {
			from = merge.items
		}
		before := v.entries
		v.entries, v.index = make([]entry, 0, len(before)), nil
		v.fill(slices.DeleteFunc(before, func(e entry) bool { return e.key == mergeKey }))
		for _, one := range from {
			if one.form != table {
				return &fault{code: wrongForm, at: one.at, message: "<< merges " + one.form.noun() + ", not a map", help: "write a map behind <<, or a list of maps"}
			}
			v.fill(one.entries)
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

// fill adds the entries that a map does not have.
func (v *value) fill(entries []entry) {
	for _, e := range entries {
		if v.entry(e.key) == nil {
			v.add(e)
		}
	}
}

// readScalar reads a scalar as Vector's reader does, by its tag if it has one.
func readScalar(node *yaml.Node, at position) *value {
	v := &value{form: text, scalar: node.Value, at: at}
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

func duplicateKey(key string, at, first position) *fault {
	return &fault{code: repeatedKey, at: at, message: "the key \"" + key + "\" is also on line " + strconv.Itoa(first.line)}
}
