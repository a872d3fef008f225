// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads a TOML document.
func (r *Reader) parseTOML(source string) (*value, *fault) {
	source = strings.TrimPrefix(source, byteOrderMark)
	parser, err := r.TOML([]byte(source))
	if err != nil {
		return nil, tomlFault(err)
	}
	expressions := &tomlReader{parser: parser, root: &value{form: table, at: position{line: 1, column: 1}}, defined: map[*value]definition{}}
	for i := range len(source) {
		if source[i] == '\n' {
			expressions.ends = append(expressions.ends, i)
		}
	}
	if at, what := newerTOML(source); what != "" {
		return nil, &fault{code: unreadable, at: expressions.at(at), message: "not TOML 1.0, which Vector reads: " + what}
	}
	current := expressions.root
	for expressions.parser.NextExpression() {
		node := expressions.parser.Expression()
		switch node.Kind {
		case unstable.Table:
			current = expressions.descend(expressions.root, node.Key(), false)
		case unstable.ArrayTable:
			current = expressions.descend(expressions.root, node.Key(), true)
		case unstable.KeyValue:
			expressions.assign(current, node)
		default:
		}
	}
	return expressions.root, expressions.repeated
}

// newerTOML finds syntax of TOML 1.1, which the library accepts and Vector does not: escapes, and inline tables of
// several lines or with a comma behind the last value. It returns "" for none.
func newerTOML(source string) (at int, what string) {
	var open []byte // brackets and braces
	comma := false  // reports whether a comma came last
	for at = 0; at < len(source); at++ {
		isInline := len(open) > 0 && open[len(open)-1] == '{'
		switch found := source[at]; found {
		case '"', '\'':
			end, escape := tomlTextEnd(source, at)
			if escape > 0 {
				return escape, "unknown escape " + source[escape:escape+2]
			}
			at = end - 1
		case '#':
			if end := strings.IndexByte(source[at:], '\n'); end > 0 {
				at += end - 1
			} else {
				at = len(source)
			}
		case '\n':
			if isInline {
				return at, "an inline table is on one line"
			}
			continue
		case ' ', '\t', '\r':
			continue
		case '{', '[':
			open = append(open, found)
		case '}', ']':
			if isInline && comma {
				return at, "an inline table has no comma behind its last value"
			}
			open = open[:max(len(open)-1, 0)]
		}
		comma = at < len(source) && source[at] == ','
	}
	return 0, ""
}

// tomlTextEnd returns the offset behind a text that starts at an offset, and the offset of an escape of TOML 1.1 in
// it, 0 for none.
func tomlTextEnd(source string, from int) (end, escape int) {
	quote := source[from : from+1]
	closing := quote
	if strings.HasPrefix(source[from:], strings.Repeat(quote, 3)) {
		closing = strings.Repeat(quote, 3)
	}
	for at := from + len(closing); at < len(source); at++ {
		switch {
		case quote == "\"" && source[at] == '\\' && at+1 < len(source):
			if next := source[at+1]; escape == 0 && (next == 'e' || next == 'x') {
				escape = at
			}
			at++
		case strings.HasPrefix(source[at:], closing):
			end = at + len(closing)
			for len(closing) == 3 && end < len(source) && end < at+5 && source[end:end+1] == quote {
				end++ // Up to two quotes may be before the closing quotes.
			}
			return end, escape
		}
	}
	return len(source), escape
}

func tomlFault(err error) *fault {
	if f := refused(err); f != nil {
		return f
	}
	f := &fault{code: unreadable, at: position{line: 1, column: 1}, message: "not TOML: " + err.Error()}
	var syntax TextError
	if errors.As(err, &syntax) {
		message, _ := syntax.Problem()
		f.at.line, f.at.column = syntax.Place()
		f.message = "not TOML: " + message
	}
	return f
}

// tomlReader builds a tree from the expressions of a TOML document.
type tomlReader struct {
	parser *unstable.Parser
	root   *value
	ends   []int // the offsets of the line ends
	// defined has the tables that a header, dotted keys or braces define.
	defined map[*value]definition
	// repeated is the first table that is defined twice: the decoder accepts it, TOML does not.
	repeated *fault
}

// definition is how a table is defined; 0 if only headers of tables below it name it.
type definition int8

const (
	byHeader definition = iota + 1
	byDottedKey
	byBraces
)

// repeat records that a key defines a table or a value again.
func (r *tomlReader) repeat(key string, at, first position) {
	if r.repeated == nil {
		r.repeated = duplicateKey(key, at, first)
	}
}

func (r *tomlReader) at(offset int) position {
	line, _ := slices.BinarySearch(r.ends, offset)
	start := 0
	if line > 0 {
		start = r.ends[line-1] + 1
	}
	return position{line: line + 1, column: offset - start + 1}
}

// descend follows a key and creates the missing tables. For [[key]], the last one is a new item of a list.
func (r *tomlReader) descend(v *value, key unstable.Iterator, appends bool) *value {
	for key.Next() {
		name, at := string(key.Node().Data), r.at(int(key.Node().Raw.Offset))
		isNew := appends && key.IsLast()
		found := v.entry(name)
		if found == nil {
			made := &value{form: table, at: at}
			if isNew {
				made = &value{form: list, at: at}
			}
			v.add(entry{key: name, at: at, value: made})
			found = &v.entries[len(v.entries)-1]
		} else if before := r.defined[found.value]; before == byBraces || before == byDottedKey && key.IsLast() {
			r.repeat(name, at, found.at)
		}
		v = found.value
		if isNew {
			v.items = append(v.items, &value{form: table, at: at})
		}
		if v.form == list && len(v.items) > 0 {
			v = v.items[len(v.items)-1]
		}
	}
	r.defined[v] = byHeader
	return v
}

// assign reads "a.b = value" into a table.
func (r *tomlReader) assign(v *value, node *unstable.Node) {
	var name string
	var at position
	parent := v
	for key := node.Key(); key.Next(); {
		name, at = string(key.Node().Data), r.at(int(key.Node().Raw.Offset))
		if key.IsLast() {
			break
		}
		found := parent.entry(name)
		if found == nil {
			parent.add(entry{key: name, at: at, value: &value{form: table, at: at}})
			found = &parent.entries[len(parent.entries)-1]
			r.defined[found.value] = byDottedKey
		} else if before := r.defined[found.value]; found.value.form != table || before == byHeader || before == byBraces {
			r.repeat(name, at, found.at)
		}
		parent = found.value
	}
	if first := parent.entry(name); first != nil {
		r.repeat(name, at, first.at)
	}
	parent.add(entry{key: name, at: at, value: r.read(node.Value(), at)})
}

// read reads a value. The given position is used if the parser does not have one.
func (r *tomlReader) read(node *unstable.Node, near position) *value {
	at := near
	if node.Raw.Length > 0 {
		at = r.at(int(node.Raw.Offset))
	}
	v := &value{at: at, scalar: string(node.Data)}
	children := node.Children()
	switch node.Kind {
	case unstable.Array:
		v.form = list
		for children.Next() {
			v.items = append(v.items, r.read(children.Node(), at))
		}
	case unstable.InlineTable:
		v.form, r.defined[v] = table, byBraces
		for children.Next() {
			r.assign(v, children.Node())
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
