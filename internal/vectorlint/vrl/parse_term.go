// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// parseTerm reads an expression without operators outside of parentheses.
func (p *parser) parseTerm() expression {
	tok := p.peek()
	switch tok.kind {
	case text:
		p.advance()
		return &literal{span: tok.span, kind: text, text: tok.text, parts: parseTextParts(tok.text)}
	case rawText, integer, float, regex, timestamp:
		p.advance()
		return &literal{span: tok.span, kind: tok.kind, text: tok.text}
	case queryStart:
		return p.parseQuery()
	case functionName:
		return p.parseCall()
	case identifier:
		p.advance()
		return &variable{tok.span, tok.text}
	default:
	}
	if p.isNext("true", "false", "null") {
		p.advance()
		return &literal{span: tok.span, kind: keyword, text: tok.text}
	}
	return p.parseContainer()
}

// parseContainer reads an expression in parentheses, an array, an object or a block.
func (p *parser) parseContainer() expression {
	tok := p.peek()
	start := tok.span.start
	switch {
	case p.accept("("):
		value := p.parseAssignment()
		p.expect(")")
		return &group{p.spanFrom(start), value}
	case p.accept("["):
		p.skipNewlines()
		items := []expression{}
		p.parseList("]", func() { items = append(items, p.parseExpression(0)) })
		return &array{p.spanFrom(start), items}
	case p.isNext("{"):
		return p.parseBraces()
	}
	p.failUnexpected(tok, "expected an expression")
	return &literal{span: tok.span}
}

// parseList reads items that are separated by commas, and the closing symbol. A comma may follow the last item.
func (p *parser) parseList(closing string, item func()) {
	for !p.isNext(closing) && p.peek().kind != end {
		item()
		if !p.accept(",") {
			p.skipNewlines()
			break
		}
		p.skipNewlines()
	}
	p.expect(closing)
}

// parseBraces reads an object or a block.
func (p *parser) parseBraces() expression {
	start := p.advance().span.start
	p.skipNewlines()
	if p.isNext("}") || p.peek().kind == text && p.peekAt(1).kind == symbol && p.peekAt(1).text == ":" {
		node := &object{}
		p.parseList("}", func() {
			key := p.peek()
			if key.kind != text {
				p.failUnexpected(key, `expected a key in quotes, such as "name"`)
			}
			p.advance()
			p.expect(":")
			node.keys, node.values = append(node.keys, key.text), append(node.values, p.parseExpression(0))
		})
		node.span = p.spanFrom(start)
		return node
	}
	return p.parseBody(start)
}

// parseBlock reads a block with at least one statement, where an object is not allowed.
func (p *parser) parseBlock() *block {
	start := p.peek().span.start
	p.expect("{")
	p.skipNewlines()
	return p.parseBody(start)
}

// parseBody reads the statements of a block and its closing brace.
func (p *parser) parseBody(start int) *block {
	node := &block{}
	for node.body == nil || !p.isNext("}") && p.peek().kind != end {
		node.body = append(node.body, p.parseStatement())
		if !p.skipSeparator() {
			break
		}
	}
	p.expect("}")
	node.span = p.spanFrom(start)
	return node
}

// parseConditional reads an if expression with its else branches.
func (p *parser) parseConditional() expression {
	defer p.enter()()
	start := p.advance().span.start
	node := &conditional{predicate: p.parsePredicate()}
	p.skipNewlines()
	node.thenBlock = p.parseBlock()
	if p.accept("else") {
		p.skipNewlines()
		if p.isNext("if") {
			nested := p.parseConditional()
			node.elseBlock = &block{span: nested.sourceSpan(), body: []expression{nested}}
		} else {
			node.elseBlock = p.parseBlock()
		}
	}
	node.span = p.spanFrom(start)
	return node
}

// parsePredicate reads the condition of an if expression. The condition is one expression, or several expressions in
// parentheses, separated by line ends. The symbol after the first expression distinguishes the two forms.
func (p *parser) parsePredicate() []expression {
	start := p.peek().span.start
	if !p.accept("(") {
		return []expression{p.parseExpression(0)}
	}
	isList := p.isNext("\n")
	p.skipNewlines()
	exprs := []expression{p.parseAssignment()}
	switch {
	case p.isNext("\n", ";"):
	case isList:
		p.failUnexpected(p.peek(), "expected the end of the line")
	default:
		p.expect(")")
		p.pushedBack = &group{p.spanFrom(start), exprs[0]}
		return []expression{p.parseExpression(0)}
	}
	for p.isNext("\n", ";") {
		for p.isNext("\n", ";") {
			p.advance()
		}
		if !p.isNext(")") && p.peek().kind != end {
			exprs = append(exprs, p.parseAssignment())
		}
	}
	p.expect(")")
	return exprs
}
