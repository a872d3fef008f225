// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"strings"
	"unicode/utf8"
)

const (
	// largest is the maximum size in bytes of a VRL program that is read.
	largest = 256 << 10
	// mostDepth is the maximum nesting depth of expressions.
	mostDepth = 250
	// longestChain is the maximum number of operators in a row.
	longestChain = 1000
	// mostFindings is the maximum number of reported mistakes of a VRL program.
	mostFindings = 20
)

// Kind is the kind of a mistake in a VRL program.
type Kind string

const (
	// Syntax is a syntax error.
	Syntax Kind = "syntax"
	// Function is a call of an unknown function, or a call with wrong arguments.
	Function Kind = "function"
	// Variable is a variable without a value.
	Variable Kind = "variable"
	// Error is an error that is not handled or cannot be handled, or a value of the wrong kind.
	Error Kind = "error"
)

// Finding is one mistake. Line and Column count from 1, Column in characters.
type Finding struct {
	Kind         Kind
	Line, Column int
	// Message explains the mistake. Help explains how to fix it; it may be "".
	Message, Help string
}

// Report is the result of a check. The Findings are in the order of the VRL program.
type Report struct {
	Findings []Finding
	// Coverage is the checked part of the rules that Vector applies.
	Coverage Coverage
	// Effort is the part of Options.Effort that was spent.
	Effort int
}

// Coverage is the checked part of a VRL program.
type Coverage int

const (
	// None is the coverage of a VRL program that is larger or deeper than the limits.
	None Coverage = iota
	// Partly means that Vector may still reject the VRL program because of the kinds of its values.
	Partly
	// Fully means that Vector accepts or rejects the VRL program as this check does.
	Fully
)

// Options configure the check of a VRL program.
type Options struct {
	// Minor is the release 0.MINOR of Vector. It is 0 if the release is not known: everything that any release accepts
	// is then accepted.
	Minor int
	// Effort is the maximum number of characters that are read ahead to find the ends of paths, and of lookups of
	// variables and fields. Both grow faster than the VRL program.
	Effort int
	// IsCondition reports that the VRL program is a condition: it is a boolean, and changes nothing.
	IsCondition bool
	// IsAny reports that any field of an event may have any kind, as in Vector without a schema.
	IsAny bool
	// Nearest returns the name that a misspelled name probably means, "" if there is none. If it is nil, nothing is
	// suggested.
	Nearest func(name string, candidates []string) string
}

// Check finds the mistakes of a VRL program, as Vector would. It takes bounded time and memory. A program that is
// larger or deeper, or takes more effort, is accepted.
func Check(program string, options Options) Report {
	if len(program) > largest || !utf8.ValidString(program) {
		return Report{}
	}
	body, effort, wrong := parse(program, options.Effort)
	c := &checker{program: program, remaining: options.Effort - effort, minor: options.Minor, isAny: options.IsAny || options.IsCondition, isCondition: options.IsCondition, nearest: options.Nearest}
	switch {
	case wrong == nil:
		c.walkAll(body, newScope(nil))
		if len(c.findings) == 0 && options.Minor == newest() {
			c.inferAll(body)
		} else {
			c.isUnsure = true
		}
		effort = options.Effort - c.remaining
		if c.remaining < 0 {
			return Report{nil, Partly, effort}
		}
		if len(c.findings) == 0 && c.isUnsure {
			return Report{nil, Partly, effort}
		}
		return Report{c.findings, Fully, effort}
	case wrong.isOverBudget:
		return Report{Effort: effort}
	default:
		c.add(Syntax, wrong.span, wrong.message, wrong.help)
		return Report{c.findings, Fully, effort}
	}
}

// checker finds the mistakes of a VRL program that was parsed.
type checker struct {
	program  string
	minor    int
	findings []Finding
	// isCondition and isAny are as in Options.
	isCondition, isAny bool
	nearest            func(name string, candidates []string) string
	// isUnsure reports whether Vector may reject a VRL program that this check accepts.
	isUnsure bool
	// remaining is the remaining effort. The check ends if it is below 0.
	remaining int
}

func (c *checker) add(kind Kind, loc span, message, help string) {
	if c.isFull() {
		return
	}
	preceding := c.program[:min(loc.start, len(c.program))]
	line := strings.LastIndexByte(preceding, '\n') + 1
	c.findings = append(c.findings, Finding{
		Kind: kind, Line: strings.Count(preceding, "\n") + 1, Column: utf8.RuneCountInString(preceding[line:]) + 1, Message: message, Help: help,
	})
}

// isFull reports whether the maximum number of mistakes is reached.
func (c *checker) isFull() bool { return len(c.findings) >= mostFindings }
