// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// expression is a node of a parsed program that has a value. The types below implement it.
type expression interface{ sourceSpan() span }

// sourceSpan returns the span itself, so that expressions with an embedded span have a position.
func (p span) sourceSpan() span { return p }

type (
	// literal is a constant such as a text or a number. Only a text in double quotes has parts.
	literal struct {
		span
		kind  tokenKind // keyword for true, false and null
		text  string
		parts []textPart
	}

	// variable is an expression with the name of a variable.
	variable struct {
		span
		name string
	}

	// query is a path that starts at the event (.), at its metadata (%), or at the value of an expression.
	query struct {
		span
		root     byte // '.' or '%'; 0 if there is a target
		target   expression
		segments []segment
	}

	// segment is one step of a path: an index if index is not empty, or else a field.
	segment struct{ field, index string }

	// call is a function call.
	call struct {
		span
		name       string
		named      span
		isAborting bool // written with !
		arguments  []argument
		closure    *closure
	}

	argument struct {
		keyword string // "" if it is positional
		named   span
		value   expression
	}

	closure struct {
		span
		variables []variable // "" for _
		body      *block
	}

	// negation is an expression with the operator !.
	negation struct {
		span
		value expression
	}

	// binary is an operation with an operator between two expressions.
	binary struct {
		span
		operator    string
		operated    span
		left, right expression
	}

	// assignment assigns a value to one target, or a value and the error of its expression to two targets. A
	// target is a variable, a query, or a literal for _.
	assignment struct {
		span
		targets []expression
		isMerge bool // written with |=
		value   expression
	}

	// conditional is an if expression. If its else branch is another if expression, elseBlock contains only
	// that expression.
	conditional struct {
		span
		predicate []expression
		thenBlock *block
		elseBlock *block
	}

	// block is a list of expressions in braces. Its value is the value of the last expression.
	block struct {
		span
		body []expression
	}

	// group is an expression in parentheses.
	group struct {
		span
		value expression
	}

	array struct {
		span
		items []expression
	}

	object struct {
		span
		keys   []string
		values []expression
	}

	// abort ends the program. Its message may be nil.
	abort struct {
		span
		message expression
	}

	// result is a return expression, which ends the program with a value.
	result struct {
		span
		value expression
	}
)
