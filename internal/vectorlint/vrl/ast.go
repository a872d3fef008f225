// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

// expression is a part of a program that has a value: one of the types below.
type expression interface{ where() place }

func (p place) where() place { return p }

type (
	// literal is a text, a number and so on. Only a text in double quotes has parts.
	literal struct {
		place
		kind  tokenKind // keyword for true, false and null
		text  string
		parts []part
	}

	// variable is a variable that is read.
	variable struct {
		place
		name string
	}

	// query is a path below the event (.), its metadata (%), or the value of an expression.
	query struct {
		place
		root     byte // '.' or '%'; 0 if there is a target
		target   expression
		segments []segment
	}

	// segment is a field of a path, or an index if the index has digits.
	segment struct{ field, index string }

	// call is a call of a function.
	call struct {
		place
		name       string
		named      place
		isAborting bool // written with !
		arguments  []argument
		closure    *closure
	}

	argument struct {
		keyword string // "" if it is positional
		named   place
		value   expression
	}

	closure struct {
		place
		variables []variable // "" for _
		body      *block
	}

	// not is a negation.
	not struct {
		place
		value expression
	}

	// binary is an operation on two values.
	binary struct {
		place
		operator    string
		operated    place
		left, right expression
	}

	// assignment assigns a value to one target, or a value and its error to two targets. A target is a variable, a
	// query, or a literal for _.
	assignment struct {
		place
		targets []expression
		isMerge bool // written with |=
		value   expression
	}

	// conditional is an if with its else branch, which may be another if.
	conditional struct {
		place
		predicate []expression
		then      *block
		otherwise *block
	}

	// block is a list of expressions in braces. Its value is the value of the last one.
	block struct {
		place
		body []expression
	}

	// group is an expression in parentheses.
	group struct {
		place
		value expression
	}

	array struct {
		place
		items []expression
	}

	object struct {
		place
		keys   []string
		values []expression
	}

	// abort ends the VRL program; its message may be nil.
	abort struct {
		place
		message expression
	}

	// result ends the VRL program with a value.
	result struct {
		place
		value expression
	}
)
