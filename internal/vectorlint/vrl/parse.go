// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"slices"
	"strconv"
)

// parser reads the grammar by recursive descent. After a failure, all next tokens are the end of the VRL program.
type parser struct {
	lexer *lexer
	// ahead are tokens that are read but not used yet; two at most.
	ahead []token
	// given is an expression in parentheses that is read already. It is the start of an operation.
	given *group
	depth int
	last  place
	err   *failure
}

// parse reads a VRL program with a limit of effort. After a failure, it returns no expressions.
func parse(program string, effort int) (all []expression, spent int, wrong *failure) {
	p := &parser{lexer: newLexer(program, effort)}
	p.newlines()
	for p.peek().kind != end {
		all = append(all, p.statement())
		if next := p.peek(); next.kind != end && !p.separator() {
			p.unexpected(next, "the end of the line")
		}
	}
	spent = effort - p.lexer.left
	if p.lexer.err != nil {
		return nil, spent, p.lexer.err
	}
	return all, spent, p.err
}

func (p *parser) lookAt(n int) token {
	for len(p.ahead) <= n {
		p.ahead = append(p.ahead, p.lexer.next())
	}
	if p.err != nil || p.lexer.err != nil {
		return token{place: place{len(p.lexer.program), len(p.lexer.program)}}
	}
	return p.ahead[n]
}

func (p *parser) peek() token { return p.lookAt(0) }

func (p *parser) take() token {
	found := p.peek()
	p.ahead = p.ahead[:copy(p.ahead, p.ahead[1:])]
	p.last = found.place
	return found
}

// is reports whether the next token is one of these symbols or keywords.
func (p *parser) is(texts ...string) bool {
	next := p.peek()
	return (next.kind == symbol || next.kind == keyword) && slices.Contains(texts, next.text)
}

// accept reads the next token if it is this symbol or keyword.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.unexpected(p.peek(), strconv.Quote(text))
	}
}

func (p *parser) newlines() {
	for p.accept("\n") {
	}
}

// separator reads the end of a statement.
func (p *parser) separator() bool {
	if !p.is("\n", ";") {
		return false
	}
	p.take()
	p.newlines()
	return true
}

func (p *parser) unexpected(found token, want string) {
	if p.err != nil || p.lexer.err != nil {
		return
	}
	p.err = &failure{place: found.place, message: describe(found) + " is not expected here, but " + want}
	switch {
	case found.kind == reserved:
		p.err.help = strconv.Quote(found.text) + " is reserved: use another name"
	case found.kind == integer && found.text[0] == '-':
		p.err.help = "write a blank behind the minus sign"
	}
}

func describe(found token) string {
	switch found.kind {
	case end:
		return "the end of the program"
	case queryEnd:
		return "the end of a path"
	case queryStart:
		return "a path"
	case text, rawText:
		return "a text"
	case regex:
		return "a regular expression"
	case timestamp:
		return "a time"
	case identifier, pathField, functionName, reserved, keyword, symbol, integer, float:
	}
	if found.text == "\n" {
		return "the end of the line"
	}
	return strconv.Quote(found.text)
}

// enter counts the nesting depth of expressions. The caller must defer the returned function.
func (p *parser) enter() (leave func()) {
	if p.depth++; p.depth > mostDepth {
		p.giveUp()
	}
	return func() { p.depth-- }
}

// giveUp ends a VRL program that takes too much effort to check.
func (p *parser) giveUp() {
	if p.err == nil {
		p.err = &failure{tooMuch: true}
	}
}

// spanning returns the place from an offset to the end of the last token that was read.
func (p *parser) spanning(from int) place { return place{from, max(from, p.last.to)} }

// startsExpression reports whether a statement may start with the next token.
func (p *parser) startsExpression() bool {
	switch next := p.peek(); next.kind {
	case identifier, functionName, text, rawText, integer, float, regex, timestamp, queryStart:
		return true
	case keyword:
		return next.text != "else"
	case symbol:
		return slices.Contains([]string{"_", "!", "(", "[", "{"}, next.text)
	default:
		return false
	}
}

// statement reads an expression that may be on an own line.
func (p *parser) statement() expression {
	defer p.enter()()
	from := p.peek().place.from
	switch {
	case p.is("if"):
		return p.conditional()
	case p.accept("abort"):
		var message expression
		if p.startsExpression() {
			message = p.statement()
		}
		return &abort{p.spanning(from), message}
	case p.accept("return"):
		value := p.statement()
		return &result{p.spanning(from), value}
	}
	return p.assignment()
}

// assignment reads an assignment, or any expression.
func (p *parser) assignment() expression {
	from := p.peek().place.from
	if p.is("_") {
		return p.assign(from, p.target())
	}
	value := p.expression(0)
	if isTarget(value) && p.is("=", "|=", ",") {
		return p.assign(from, value)
	}
	return value
}

func isTarget(value expression) bool {
	switch value.(type) {
	case *variable, *query:
		return true
	}
	return false
}

func (p *parser) assign(from int, first expression) expression {
	targets := []expression{first}
	if p.accept(",") {
		targets = append(targets, p.target())
	}
	isMerge := p.is("|=")
	if !isMerge {
		p.expect("=")
	} else {
		p.take()
	}
	p.newlines()
	value := p.statement()
	return &assignment{p.spanning(from), targets, isMerge, value}
}

// target reads the target of an assignment.
func (p *parser) target() expression {
	next := p.peek()
	switch {
	case p.accept("_"):
		return &literal{place: next.place, kind: symbol, text: "_"}
	case next.kind == identifier:
		p.take()
		return &variable{next.place, next.text}
	case next.kind == queryStart:
		return p.query()
	}
	p.unexpected(next, "a variable or a path")
	return &literal{place: next.place}
}

// precedence has the operators, in the order of their precedence, the lowest first.
var precedence = [][]string{{"??"}, {"||", "&&"}, {"!=", "=="}, {">=", ">", "<=", "<"}, {"|"}, {"+", "-"}, {"*", "/"}}

// expression reads an operation of at least some precedence.
func (p *parser) expression(level int) expression {
	if level == len(precedence) {
		return p.unary()
	}
	left := p.expression(level + 1)
	for length := 0; p.is(precedence[level]...); length++ {
		if length == longestChain {
			p.giveUp()
		}
		operator := p.take()
		p.newlines()
		right := p.expression(level + 1)
		left = &binary{place{left.where().from, p.last.to}, operator.text, operator.place, left, right}
	}
	return left
}

func (p *parser) unary() expression {
	if found := p.given; found != nil {
		p.given = nil
		return found
	}
	defer p.enter()()
	from := p.peek().place.from
	if p.accept("!") {
		value := p.unary()
		return &not{p.spanning(from), value}
	}
	return p.term()
}
