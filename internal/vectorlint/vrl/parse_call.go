// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// parseQuery reads a path, from its queryStart token to its queryEnd token.
func (p *parser) parseQuery() expression {
	defer p.enter()()
	start := p.advance().span.start
	node := &query{}
	switch tok := p.peek(); {
	case p.isNext(".", "%"):
		node.root = tok.text[0]
		p.advance()
	case tok.kind == identifier:
		p.advance()
		node.target = &variable{tok.span, tok.text}
	case tok.kind == functionName:
		node.target = p.parseCall()
	default:
		node.target = p.parseContainer()
	}
	for p.parseSegment(node) {
	}
	if tok := p.advance(); tok.kind != queryEnd {
		p.failUnexpected(tok, "expected a field, an index or the end of the path")
	} else if node.target != nil && len(node.segments) == 0 {
		p.failUnexpected(tok, "expected a field or an index")
	}
	node.span = p.spanFrom(start)
	return node
}

// parseSegment reads one field or index of a path. It returns false if the path does not continue.
func (p *parser) parseSegment(node *query) bool {
	if p.accept("[") {
		index := p.peek()
		if index.kind != integer {
			p.failUnexpected(index, "expected a number")
		}
		p.advance()
		p.expect("]")
		node.segments = append(node.segments, segment{index: index.text})
		return true
	}
	hasDot := p.accept(".")
	switch tok := p.peek(); tok.kind {
	case identifier, reserved, keyword, pathField, text:
		p.advance()
		node.segments = append(node.segments, segment{field: tok.text})
		return true
	default:
		if hasDot {
			p.failUnexpected(tok, "expected the name of a field")
		}
		return false
	}
}

// parseCall reads a function call with its arguments and its closure.
func (p *parser) parseCall() expression {
	defer p.enter()()
	name := p.advance()
	node := &call{name: name.text, named: name.span, isAborting: p.accept("!")}
	p.expect("(")
	p.skipNewlines()
	p.parseList(")", func() { node.arguments = append(node.arguments, p.parseArgument()) })
	if p.isNext("->") {
		node.closure = p.parseClosure()
	}
	node.span = p.spanFrom(name.span.start)
	return node
}

// parseArgument reads an argument of a call, which may start with KEYWORD: as its name.
func (p *parser) parseArgument() argument {
	var arg argument
	switch tok := p.peek(); tok.kind {
	case identifier, reserved, keyword:
		if p.peekAt(1).kind == symbol && p.peekAt(1).text == ":" {
			arg.keyword, arg.named = tok.text, tok.span
			p.advance()
			p.advance()
		}
	default:
	}
	arg.value = p.parseExpression(0)
	return arg
}

// parseClosure reads a closure: ->, its variables between | and |, and a block.
func (p *parser) parseClosure() *closure {
	start := p.advance().span.start
	node := &closure{}
	if !p.accept("||") {
		p.expect("|")
		p.parseList("|", func() {
			tok := p.peek()
			switch {
			case p.accept("_"):
				node.variables = append(node.variables, variable{span: tok.span})
				return
			case tok.kind != identifier:
				p.failUnexpected(tok, "expected the name of a variable")
			}
			p.advance()
			node.variables = append(node.variables, variable{tok.span, tok.text})
		})
	}
	p.skipNewlines()
	node.body = p.parseBlock()
	node.span = p.spanFrom(start)
	return node
}
