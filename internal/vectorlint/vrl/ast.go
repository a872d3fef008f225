// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// expression is a part of a program that has a value: one of the types below.
type expression interface{ sourceSpan() span }

func (p span) sourceSpan() span { return p }

type (
	// literal is a text, a number and so on. Only a text in double quotes has parts.
	literal struct {
		span
		kind  tokenKind // keyword for true, false and null
		text  string
		parts []textPart
	}

	// variable is a variable that is read.
	variable struct {
		span
		name string
	}

	// query is a path below the event (.), its metadata (%), or the value of an expression.
	query struct {
		span
		root     byte // '.' or '%'; 0 if there is a target
		target   expression
		segments []segment
	}

	// segment is a field of a path, or an index if the index has digits.
	segment struct{ field, index string }

	// call is a call of a function.
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

	// negation is a negation.
	negation struct {
		span
		value expression
	}

	// binary is an operation on two values.
	binary struct {
		span
		operator    string
		operated    span
		left, right expression
	}

	// assignment assigns a value to one target, or a value and its error to two targets. A target is a variable, a
	// query, or a literal for _.
	assignment struct {
		span
		targets []expression
		isMerge bool // written with |=
		value   expression
	}

	// conditional is an if with its else branch, which may be another if.
	conditional struct {
		span
		predicate []expression
		thenBlock *block
		elseBlock *block
	}

	// block is a list of expressions in braces. Its value is the value of the last one.
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

	// abort ends the VRL program; its message may be nil.
	abort struct {
		span
		message expression
	}

	// result ends the VRL program with a value.
	result struct {
		span
		value expression
	}
)
