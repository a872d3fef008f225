// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// query reads a path between queryStart and queryEnd.
func (p *parser) query() expression {
	defer p.enter()()
	from := p.take().place.from
	found := &query{}
	switch next := p.peek(); {
	case p.is(".", "%"):
		found.root = next.text[0]
		p.take()
	case next.kind == identifier:
		p.take()
		found.target = &variable{next.place, next.text}
	case next.kind == functionName:
		found.target = p.call()
	default:
		found.target = p.container()
	}
	for p.segment(found) {
	}
	if next := p.take(); next.kind != queryEnd {
		p.unexpected(next, "a field, an index or the end of the path")
	} else if found.target != nil && len(found.segments) == 0 {
		p.unexpected(next, "a field or an index")
	}
	found.place = p.spanning(from)
	return found
}

// segment reads a field or an index of a path, and reports whether there is one.
func (p *parser) segment(of *query) bool {
	if p.accept("[") {
		index := p.peek()
		if index.kind != integer {
			p.unexpected(index, "a number")
		}
		p.take()
		p.expect("]")
		of.segments = append(of.segments, segment{index: index.text})
		return true
	}
	hasDot := p.accept(".")
	switch next := p.peek(); next.kind {
	case identifier, reserved, keyword, pathField, text:
		p.take()
		of.segments = append(of.segments, segment{field: next.text})
		return true
	default:
		if hasDot {
			p.unexpected(next, "the name of a field")
		}
		return false
	}
}

func (p *parser) call() expression {
	defer p.enter()()
	name := p.take()
	found := &call{name: name.text, named: name.place, isAborting: p.accept("!")}
	p.expect("(")
	p.newlines()
	p.list(")", func() { found.arguments = append(found.arguments, p.argument()) })
	if p.is("->") {
		found.closure = p.closure()
	}
	found.place = p.spanning(name.place.from)
	return found
}

func (p *parser) argument() argument {
	var found argument
	switch next := p.peek(); next.kind {
	case identifier, reserved, keyword:
		if p.lookAt(1).kind == symbol && p.lookAt(1).text == ":" {
			found.keyword, found.named = next.text, next.place
			p.take()
			p.take()
		}
	default:
	}
	found.value = p.expression(0)
	return found
}

func (p *parser) closure() *closure {
	from := p.take().place.from
	found := &closure{}
	if !p.accept("||") {
		p.expect("|")
		p.list("|", func() {
			next := p.peek()
			switch {
			case p.accept("_"):
				found.variables = append(found.variables, variable{place: next.place})
				return
			case next.kind != identifier:
				p.unexpected(next, "the name of a variable")
			}
			p.take()
			found.variables = append(found.variables, variable{next.place, next.text})
		})
	}
	p.newlines()
	found.body = p.block()
	found.place = p.spanning(from)
	return found
}
