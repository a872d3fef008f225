// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML parses a file with one TOML document. The syntax errors are found by Reader.TOML, before the loop.
func (r *Reader) parseTOML(source string) (*value, *fault) {
	source = strings.TrimPrefix(source, byteOrderMark)
	parser, err := r.TOML([]byte(source))
	if err != nil {
		return nil, tomlFault(err)
	}
	doc := &tomlReader{parser: parser, root: &value{form: table, pos: position{line: 1, column: 1}}, defined: map[*value]definition{}}
	for i := range len(source) {
		if source[i] == '\n' {
			doc.lineEnds = append(doc.lineEnds, i)
		}
	}
	if offset, problem := findNewerTOML(source); problem != "" {
		return nil, &fault{code: unreadable, pos: doc.positionAt(offset), message: "not TOML 1.0, which Vector reads: " + problem}
	}
	current := doc.root
	for doc.parser.NextExpression() {
		node := doc.parser.Expression()
		switch node.Kind {
		case unstable.Table:
			current = doc.enterTable(doc.root, node.Key(), false)
		case unstable.ArrayTable:
			current = doc.enterTable(doc.root, node.Key(), true)
		case unstable.KeyValue:
			doc.assignNode(current, node)
		default:
		}
	}
	return doc.root, doc.duplicate
}

// findNewerTOML returns the offset and a description of the first syntax of TOML 1.1, which the library accepts but
// Vector does not. Such syntax is an escape, or an inline table with several lines or a comma after its last
// value. The description is "" for none.
func findNewerTOML(source string) (offset int, problem string) {
	var open []byte // brackets and braces
	comma := false  // reports whether a comma came last
	for offset = 0; offset < len(source); offset++ {
		isInline := len(open) > 0 && open[len(open)-1] == '{'
		switch c := source[offset]; c {
		case '"', '\'':
			end, escape := tomlTextEnd(source, offset)
			if escape > 0 {
				return escape, "unknown escape " + source[escape:escape+2]
			}
			offset = end - 1
		case '#':
			if end := strings.IndexByte(source[offset:], '\n'); end > 0 {
				offset += end - 1
			} else {
				offset = len(source)
			}
		case '\n':
			if isInline {
				return offset, "an inline table is on one line"
			}
			continue
		case ' ', '\t', '\r':
			continue
		case '{', '[':
			open = append(open, c)
		case '}', ']':
			if isInline && comma {
				return offset, "an inline table has no comma after its last value"
			}
			open = open[:max(len(open)-1, 0)]
		}
		comma = offset < len(source) && source[offset] == ','
	}
	return 0, ""
}

// tomlTextEnd returns the offset after the string that starts at an offset. It also returns the offset of the
// first TOML 1.1 escape in the string, or 0 for none.
func tomlTextEnd(source string, start int) (end, escape int) {
	quote := source[start : start+1]
	closing := quote
	if strings.HasPrefix(source[start:], strings.Repeat(quote, 3)) {
		closing = strings.Repeat(quote, 3)
	}
	for i := start + len(closing); i < len(source); i++ {
		switch {
		case quote == "\"" && source[i] == '\\' && i+1 < len(source):
			if escaped := source[i+1]; escape == 0 && (escaped == 'e' || escaped == 'x') {
				escape = i
			}
			i++
		case strings.HasPrefix(source[i:], closing):
			end = i + len(closing)
			for len(closing) == 3 && end < len(source) && end < i+5 && source[end:end+1] == quote {
				end++ // Up to two quotes may be before the closing quotes.
			}
			return end, escape
		}
	}
	return len(source), escape
}

// tomlFault returns the fault for an error of the TOML parser.
func tomlFault(err error) *fault {
	if f := limitFault(err); f != nil {
		return f
	}
	f := &fault{code: unreadable, pos: position{line: 1, column: 1}, message: "not TOML: " + err.Error()}
	var syntax TextError
	if errors.As(err, &syntax) {
		message, _ := syntax.Problem()
		f.pos.line, f.pos.column = syntax.Position()
		f.message = "not TOML: " + message
	}
	return f
}

// tomlReader builds the tree of values from the expressions of a TOML document.
type tomlReader struct {
	parser   *unstable.Parser
	root     *value
	lineEnds []int // the offsets of the line ends
	// defined contains how each table was defined, except tables that only headers of tables below them name.
	defined map[*value]definition
	// duplicate is the fault of the first key or table that is defined twice. The library accepts it, but TOML
	// does not.
	duplicate *fault
}

// definition is the way in which a table was defined. It is 0 if only headers of tables below it name the
// table.
type definition int8

const (
	byHeader definition = iota + 1
	byDottedKey
	byBraces
)

// reportRepeatedKey records the fault that a key defines a table or a value again.
func (r *tomlReader) reportRepeatedKey(key string, pos, firstPos position) {
	if r.duplicate == nil {
		r.duplicate = duplicateKey(key, pos, firstPos)
	}
}

// positionAt returns the line and the column of an offset.
func (r *tomlReader) positionAt(offset int) position {
	line, _ := slices.BinarySearch(r.lineEnds, offset)
	start := 0
	if line > 0 {
		start = r.lineEnds[line-1] + 1
	}
	return position{line: line + 1, column: offset - start + 1}
}

// enterTable follows a dotted key from a table and creates missing tables. If appends is true, as for [[key]], the
// last table is a new item of a list. It returns the last table.
func (r *tomlReader) enterTable(v *value, key unstable.Iterator, appends bool) *value {
	for key.Next() {
		name, pos := string(key.Node().Data), r.positionAt(int(key.Node().Raw.Offset))
		isNew := appends && key.IsLast()
		existing := v.entry(name)
		if existing == nil {
			created := &value{form: table, pos: pos}
			if isNew {
				created = &value{form: list, pos: pos}
			}
			v.addEntry(entry{key: name, pos: pos, value: created})
			existing = &v.entries[len(v.entries)-1]
		} else if previous := r.defined[existing.value]; previous == byBraces || previous == byDottedKey && key.IsLast() {
			r.reportRepeatedKey(name, pos, existing.pos)
		}
		v = existing.value
		if isNew {
			v.items = append(v.items, &value{form: table, pos: pos})
		}
		if v.form == list && len(v.items) > 0 {
			v = v.items[len(v.items)-1]
		}
	}
	r.defined[v] = byHeader
	return v
}

// assignNode adds an expression such as "a.b = value" to a table.
func (r *tomlReader) assignNode(v *value, node *unstable.Node) {
	var name string
	var pos position
	parent := v
	for key := node.Key(); key.Next(); {
		name, pos = string(key.Node().Data), r.positionAt(int(key.Node().Raw.Offset))
		if key.IsLast() {
			break
		}
		existing := parent.entry(name)
		if existing == nil {
			parent.addEntry(entry{key: name, pos: pos, value: &value{form: table, pos: pos}})
			existing = &parent.entries[len(parent.entries)-1]
			r.defined[existing.value] = byDottedKey
		} else if previous := r.defined[existing.value]; existing.value.form != table || previous == byHeader || previous == byBraces {
			r.reportRepeatedKey(name, pos, existing.pos)
		}
		parent = existing.value
	}
	if existing := parent.entry(name); existing != nil {
		r.reportRepeatedKey(name, pos, existing.pos)
	}
	parent.addEntry(entry{key: name, pos: pos, value: r.readNode(node.Value(), pos)})
}

// readNode converts a node to a value. If the parser does not provide a position for the node, the value has the
// position in the argument.
func (r *tomlReader) readNode(node *unstable.Node, near position) *value {
	pos := near
	if node.Raw.Length > 0 {
		pos = r.positionAt(int(node.Raw.Offset))
	}
	v := &value{pos: pos, scalar: string(node.Data)}
	children := node.Children()
	switch node.Kind {
	case unstable.Array:
		v.form = list
		for children.Next() {
			v.items = append(v.items, r.readNode(children.Node(), pos))
		}
	case unstable.InlineTable:
		v.form, r.defined[v] = table, byBraces
		for children.Next() {
			r.assignNode(v, children.Node())
		}
	case unstable.Bool:
		v.form = boolean
	case unstable.Integer, unstable.Float:
		v.form, v.scalar = number, strings.ReplaceAll(v.scalar, "_", "")
	default:
		v.form = text
	}
	return v
}
