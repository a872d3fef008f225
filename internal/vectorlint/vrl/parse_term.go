// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// term reads an expression without operators outside of parentheses.
func (p *parser) term() expression {
	tok := p.peek()
	switch tok.kind {
	case text:
		p.advance()
		return &literal{span: tok.span, kind: text, text: tok.text, parts: parseTextParts(tok.text)}
	case rawText, integer, float, regex, timestamp:
		p.advance()
		return &literal{span: tok.span, kind: tok.kind, text: tok.text}
	case queryStart:
		return p.query()
	case functionName:
		return p.call()
	case identifier:
		p.advance()
		return &variable{tok.span, tok.text}
	default:
	}
	if p.isNext("true", "false", "null") {
		p.advance()
		return &literal{span: tok.span, kind: keyword, text: tok.text}
	}
	return p.container()
}

func (p *parser) container() expression {
	tok := p.peek()
	start := tok.span.start
	switch {
	case p.accept("("):
		value := p.assignment()
		p.expect(")")
		return &group{p.spanFrom(start), value}
	case p.accept("["):
		p.newlines()
		items := []expression{}
		p.list("]", func() { items = append(items, p.expression(0)) })
		return &array{p.spanFrom(start), items}
	case p.isNext("{"):
		return p.braces()
	}
	p.failUnexpected(tok, "an expression")
	return &literal{span: tok.span}
}

// list reads items that are separated by commas, and the closing symbol. A comma may follow the last item.
func (p *parser) list(closing string, item func()) {
	for !p.isNext(closing) && p.peek().kind != end {
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
	start := p.advance().span.start
	p.newlines()
	if p.isNext("}") || p.peek().kind == text && p.peekAt(1).kind == symbol && p.peekAt(1).text == ":" {
		node := &object{}
		p.list("}", func() {
			key := p.peek()
			if key.kind != text {
				p.failUnexpected(key, "a key in quotes")
			}
			p.advance()
			p.expect(":")
			node.keys, node.values = append(node.keys, key.text), append(node.values, p.expression(0))
		})
		node.span = p.spanFrom(start)
		return node
	}
	return p.body(start)
}

// block reads a block with at least one statement, where an object is not allowed.
func (p *parser) block() *block {
	start := p.peek().span.start
	p.expect("{")
	p.newlines()
	return p.body(start)
}

func (p *parser) body(start int) *block {
	node := &block{}
	for node.body == nil || !p.isNext("}") && p.peek().kind != end {
		node.body = append(node.body, p.statement())
		if !p.separator() {
			break
		}
	}
	p.expect("}")
	node.span = p.spanFrom(start)
	return node
}

func (p *parser) conditional() expression {
	defer p.enter()()
	start := p.advance().span.start
	node := &conditional{predicate: p.predicate()}
	p.newlines()
	node.thenBlock = p.block()
	if p.accept("else") {
		p.newlines()
		if p.isNext("if") {
			nested := p.conditional()
			node.elseBlock = &block{span: nested.sourceSpan(), body: []expression{nested}}
		} else {
			node.elseBlock = p.block()
		}
	}
	node.span = p.spanFrom(start)
	return node
}

// predicate reads the condition of an if expression. The condition is one expression, or several expressions in
// parentheses, separated by line ends. The symbol after the first expression distinguishes the two forms.
func (p *parser) predicate() []expression {
	start := p.peek().span.start
	if !p.accept("(") {
		return []expression{p.expression(0)}
	}
	isList := p.isNext("\n")
	p.newlines()
	exprs := []expression{p.assignment()}
	switch {
	case p.isNext("\n", ";"):
	case isList:
		p.failUnexpected(p.peek(), "the end of the line")
	default:
		p.expect(")")
		p.pushedBack = &group{p.spanFrom(start), exprs[0]}
		return []expression{p.expression(0)}
	}
	for p.isNext("\n", ";") {
		for p.isNext("\n", ";") {
			p.advance()
		}
		if !p.isNext(")") && p.peek().kind != end {
			exprs = append(exprs, p.assignment())
		}
	}
	p.expect(")")
	return exprs
}
