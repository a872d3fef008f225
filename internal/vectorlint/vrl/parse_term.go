// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// term reads an expression without operators.
func (p *parser) term() expression {
	next := p.peek()
	switch next.kind {
	case text:
		p.take()
		return &literal{place: next.place, kind: text, text: next.text, parts: partsOf(next.text)}
	case rawText, integer, float, regex, timestamp:
		p.take()
		return &literal{place: next.place, kind: next.kind, text: next.text}
	case queryStart:
		return p.query()
	case functionName:
		return p.call()
	case identifier:
		p.take()
		return &variable{next.place, next.text}
	default:
	}
	if p.is("true", "false", "null") {
		p.take()
		return &literal{place: next.place, kind: keyword, text: next.text}
	}
	return p.container()
}

func (p *parser) container() expression {
	next := p.peek()
	from := next.place.from
	switch {
	case p.accept("("):
		value := p.assignment()
		p.expect(")")
		return &group{p.spanning(from), value}
	case p.accept("["):
		p.newlines()
		items := []expression{}
		p.list("]", func() { items = append(items, p.expression(0)) })
		return &array{p.spanning(from), items}
	case p.is("{"):
		return p.braces()
	}
	p.unexpected(next, "an expression")
	return &literal{place: next.place}
}

// list reads items that are separated by commas, up to the closing symbol. A comma may follow the last item.
func (p *parser) list(closing string, item func()) {
	for !p.is(closing) && p.peek().kind != end {
		item()
		if !p.accept(",") {
			p.newlines()
			break
		}
		p.newlines()
	}
	p.expect(closing)
}

// braces reads an object or a block.
func (p *parser) braces() expression {
	from := p.take().place.from
	p.newlines()
	if p.is("}") || p.peek().kind == text && p.lookAt(1).kind == symbol && p.lookAt(1).text == ":" {
		found := &object{}
		p.list("}", func() {
			key := p.peek()
			if key.kind != text {
				p.unexpected(key, "a key in quotes")
			}
			p.take()
			p.expect(":")
			found.keys, found.values = append(found.keys, key.text), append(found.values, p.expression(0))
		})
		found.place = p.spanning(from)
		return found
	}
	return p.body(from)
}

// block reads a block that is not empty, in a place where an object is not allowed.
func (p *parser) block() *block {
	from := p.peek().place.from
	p.expect("{")
	p.newlines()
	return p.body(from)
}

func (p *parser) body(from int) *block {
	found := &block{}
	for found.body == nil || !p.is("}") && p.peek().kind != end {
		found.body = append(found.body, p.statement())
		if !p.separator() {
			break
		}
	}
	p.expect("}")
	found.place = p.spanning(from)
	return found
}

func (p *parser) conditional() expression {
	defer p.enter()()
	from := p.take().place.from
	found := &conditional{predicate: p.predicate()}
	p.newlines()
	found.then = p.block()
	if p.accept("else") {
		p.newlines()
		if p.is("if") {
			other := p.conditional()
			found.otherwise = &block{place: other.where(), body: []expression{other}}
		} else {
			found.otherwise = p.block()
		}
	}
	found.place = p.spanning(from)
	return found
}

// predicate reads an expression, or several expressions in parentheses, separated by line ends. The symbol behind the
// first expression shows which of the two it is.
func (p *parser) predicate() []expression {
	from := p.peek().place.from
	if !p.accept("(") {
		return []expression{p.expression(0)}
	}
	isList := p.is("\n")
	p.newlines()
	all := []expression{p.assignment()}
	switch {
	case p.is("\n", ";"):
	case isList:
		p.unexpected(p.peek(), "the end of the line")
	default:
		p.expect(")")
		p.given = &group{p.spanning(from), all[0]}
		return []expression{p.expression(0)}
	}
	for p.is("\n", ";") {
		for p.is("\n", ";") {
			p.take()
		}
		if !p.is(")") && p.peek().kind != end {
			all = append(all, p.assignment())
		}
	}
	p.expect(")")
	return all
}
