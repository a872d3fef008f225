// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"slices"
	"strconv"
)

// parser is a recursive descent parser. After a failure, every further token has the kind end.
type parser struct {
	lexer *lexer
	// lookahead contains up to two tokens that have been read, but not used yet.
	lookahead []token
	// pushedBack is an expression in parentheses that parsePredicate has already read, or nil for none. It is the
	// first operand of an operation.
	pushedBack *group
	depth      int
	lastSpan   span
	err        *failure
}

// parse parses a program. The effort is the maximum number of characters that may be read ahead, and spent is
// the used number. After a failure, parse returns the failure.
func parse(program string, effort int) (statements []expression, spent int, wrong *failure) {
	p := &parser{lexer: newLexer(program, effort)}
	p.skipNewlines()
	for p.peek().kind != end {
		statements = append(statements, p.parseStatement())
		if tok := p.peek(); tok.kind != end && !p.skipSeparator() {
			p.failUnexpected(tok, "expected the end of the line")
		}
	}
	spent = effort - p.lexer.remaining
	if p.lexer.err != nil {
		return nil, spent, p.lexer.err
	}
	return statements, spent, p.err
}

// peekAt returns a token without reading it: 0 is the next token, 1 the token after it. After a failure, it returns a
// token of the kind end.
func (p *parser) peekAt(n int) token {
	for len(p.lookahead) <= n {
		p.lookahead = append(p.lookahead, p.lexer.nextToken())
	}
	if p.err != nil || p.lexer.err != nil {
		return token{span: span{len(p.lexer.program), len(p.lexer.program)}}
	}
	return p.lookahead[n]
}

// peek returns the next token without reading it.
func (p *parser) peek() token { return p.peekAt(0) }

// advance reads the next token.
func (p *parser) advance() token {
	tok := p.peek()
	p.lookahead = p.lookahead[:copy(p.lookahead, p.lookahead[1:])]
	p.lastSpan = tok.span
	return tok
}

// isNext reports whether the next token is one of some symbols or keywords.
func (p *parser) isNext(texts ...string) bool {
	tok := p.peek()
	return (tok.kind == symbol || tok.kind == keyword) && slices.Contains(texts, tok.text)
}

// accept reads the next token if it is a symbol or keyword with a text.
func (p *parser) accept(text string) bool {
	if !p.isNext(text) {
		return false
	}
	p.advance()
	return true
}

// expect reads a token with a text, or fails if the next token has another text.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.failUnexpected(p.peek(), "expected "+strconv.Quote(text))
	}
}

// skipNewlines reads all newlines before the next token.
func (p *parser) skipNewlines() {
	for p.accept("\n") {
	}
}

// skipSeparator reads the separator after a statement and all following line ends. It returns false if no separator
// follows.
func (p *parser) skipSeparator() bool {
	if !p.isNext("\n", ";") {
		return false
	}
	p.advance()
	p.skipNewlines()
	return true
}

// failUnexpected records the failure that a token is not the expected one, such as "expected an expression".
func (p *parser) failUnexpected(tok token, expectation string) {
	if p.err != nil || p.lexer.err != nil {
		return
	}
	p.err = &failure{span: tok.span, message: "found " + describeToken(tok) + ", " + expectation}
	switch {
	case tok.kind == reserved:
		p.err.help = strconv.Quote(tok.text) + " is reserved: use another name"
	case tok.kind == integer && tok.text[0] == '-':
		p.err.help = "write a space after the minus sign"
	}
}

// describeToken returns a name of a token for messages.
func describeToken(tok token) string {
	switch tok.kind {
	case end:
		return "the end of the program"
	case queryEnd:
		return "the end of a path"
	case queryStart:
		return "a path"
	case text, rawText:
		return "a string"
	case regex:
		return "a regular expression"
	case timestamp:
		return "a time"
	case identifier, pathField, functionName, reserved, keyword, symbol, integer, float:
	}
	if tok.text == "\n" {
		return "the end of the line"
	}
	return strconv.Quote(tok.text)
}

// enter increments the nesting depth of expressions. The caller must defer the returned function, which
// decrements it.
func (p *parser) enter() (exit func()) {
	if p.depth++; p.depth > mostDepth {
		p.failOverBudget()
	}
	return func() { p.depth-- }
}

// failOverBudget ends the parsing of a program that exceeds a limit.
func (p *parser) failOverBudget() {
	if p.err == nil {
		p.err = &failure{isOverBudget: true}
	}
}

// spanFrom returns the span from an offset to the end of the last token that was read.
func (p *parser) spanFrom(start int) span { return span{start, max(start, p.lastSpan.end)} }

// startsExpression reports whether the next token may start an expression.
func (p *parser) startsExpression() bool {
	switch tok := p.peek(); tok.kind {
	case identifier, functionName, text, rawText, integer, float, regex, timestamp, queryStart:
		return true
	case keyword:
		return tok.text != "else"
	case symbol:
		return slices.Contains([]string{"_", "!", "(", "[", "{"}, tok.text)
	default:
		return false
	}
}

// parseStatement reads an expression that may be a statement, including if, abort, return and assignments.
func (p *parser) parseStatement() expression {
	defer p.enter()()
	start := p.peek().span.start
	switch {
	case p.isNext("if"):
		return p.parseConditional()
	case p.accept("abort"):
		var message expression
		if p.startsExpression() {
			message = p.parseStatement()
		}
		return &abort{p.spanFrom(start), message}
	case p.accept("return"):
		value := p.parseStatement()
		return &result{p.spanFrom(start), value}
	}
	return p.parseAssignment()
}

// parseAssignment reads an assignment, or an expression that is not an assignment.
func (p *parser) parseAssignment() expression {
	start := p.peek().span.start
	if p.isNext("_") {
		return p.parseAssignedValue(start, p.parseTarget())
	}
	value := p.parseExpression(0)
	if isTarget(value) && p.isNext("=", "|=", ",") {
		return p.parseAssignedValue(start, value)
	}
	return value
}

// isTarget reports whether a value can be assigned to an expression: a variable or a query.
func isTarget(value expression) bool {
	switch value.(type) {
	case *variable, *query:
		return true
	}
	return false
}

// parseAssignedValue reads an assignment after its first target: the second target, the operator and the value.
func (p *parser) parseAssignedValue(start int, firstTarget expression) expression {
	targets := []expression{firstTarget}
	if p.accept(",") {
		targets = append(targets, p.parseTarget())
	}
	isMerge := p.isNext("|=")
	if !isMerge {
		p.expect("=")
	} else {
		p.advance()
	}
	p.skipNewlines()
	value := p.parseStatement()
	return &assignment{p.spanFrom(start), targets, isMerge, value}
}

// parseTarget reads the target of an assignment: a variable, a path or _.
func (p *parser) parseTarget() expression {
	tok := p.peek()
	switch {
	case p.accept("_"):
		return &literal{span: tok.span, kind: symbol, text: "_"}
	case tok.kind == identifier:
		p.advance()
		return &variable{tok.span, tok.text}
	case tok.kind == queryStart:
		return p.parseQuery()
	}
	p.failUnexpected(tok, "expected a variable or a path")
	return &literal{span: tok.span}
}

// precedence contains the operators by precedence. The operators with the lowest precedence are first.
var precedence = [][]string{{"??"}, {"||", "&&"}, {"!=", "=="}, {">=", ">", "<=", "<"}, {"|"}, {"+", "-"}, {"*", "/"}}

// parseExpression reads an operation with operators of at least a level in precedence.
func (p *parser) parseExpression(level int) expression {
	if level == len(precedence) {
		return p.parseUnary()
	}
	left := p.parseExpression(level + 1)
	for length := 0; p.isNext(precedence[level]...); length++ {
		if length == longestChain {
			p.failOverBudget()
		}
		operator := p.advance()
		p.skipNewlines()
		right := p.parseExpression(level + 1)
		left = &binary{span{left.sourceSpan().start, p.lastSpan.end}, operator.text, operator.span, left, right}
	}
	return left
}

// parseUnary reads a term, or a term after one or more operators !.
func (p *parser) parseUnary() expression {
	if pushed := p.pushedBack; pushed != nil {
		p.pushedBack = nil
		return pushed
	}
	defer p.enter()()
	start := p.peek().span.start
	if p.accept("!") {
		value := p.parseUnary()
		return &negation{p.spanFrom(start), value}
	}
	return p.parseTerm()
}
