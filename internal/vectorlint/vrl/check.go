// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"strings"
	"unicode/utf8"
)

const (
	// largest is the maximum size in bytes of a program. Larger programs are not checked.
	largest = 256 << 10
	// mostDepth is the maximum nesting depth of expressions.
	mostDepth = 250
	// longestChain is the maximum number of operators of the same precedence in a row.
	longestChain = 1000
	// mostFindings is the maximum number of findings for one program.
	mostFindings = 20
)

// Kind is the kind of a mistake in a VRL program.
type Kind string

const (
	// Syntax is a syntax error.
	Syntax Kind = "syntax"
	// Function is a call of a function that does not exist, or a call with wrong arguments.
	Function Kind = "function"
	// Variable is a reference to a variable that has no value yet.
	Variable Kind = "variable"
	// Error is an error that is not handled or cannot be handled, or a value of the wrong kind.
	Error Kind = "error"
)

// Finding is one mistake in a program. Line and Column start at 1, and Column counts characters.
type Finding struct {
	Kind         Kind
	Line, Column int
	// Message describes the mistake. Help explains how to fix it, or is "".
	Message, Help string
}

// Report is the result of a check. Findings have the order of the program.
type Report struct {
	Findings []Finding
	// Coverage describes how many of Vector's rules were checked.
	Coverage Coverage
	// Effort is the number of characters of Options.Effort that the check has used.
	Effort int
}

// Coverage describes how far a program was checked.
type Coverage int

const (
	// None means that the program was not checked, because it exceeds the limits.
	None Coverage = iota
	// Partly means that no mistake was found, but Vector may still reject the program because of the kinds of
	// its values.
	Partly
	// Fully means that Vector accepts or rejects the program as this check does.
	Fully
)

// Options configure the check of a VRL program.
type Options struct {
	// Minor is the minor version of Vector 0.x, or 0 if the release is unknown. With 0, everything is accepted
	// that any release accepts.
	Minor int
	// Effort is the maximum number of characters that may be read ahead to find the ends of paths, including
	// lookups of variables and fields. Both numbers may grow faster than the size of the program.
	Effort int
	// IsCondition reports whether the program is a condition. A condition must return a boolean and must not
	// change the event.
	IsCondition bool
	// IsAny reports whether every field of an event may have every kind. This is the case in Vector without a
	// schema.
	IsAny bool
	// Nearest returns the candidate that is most similar to a misspelled name, or "" if no candidate is
	// similar. If Nearest is nil, findings do not suggest names.
	Nearest func(name string, candidates []string) string
}

// Check returns the mistakes for which Vector would reject a program. It takes bounded time and memory. If a
// program exceeds the limits, Check returns no findings.
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

// checker checks a parsed program.
type checker struct {
	program  string
	minor    int
	findings []Finding
	// isCondition and isAny have the same meaning as in Options.
	isCondition, isAny bool
	nearest            func(name string, candidates []string) string
	// isUnsure reports whether Vector may reject a program in which this check did not find a mistake.
	isUnsure bool
	// remaining is the number of characters that may still be read ahead. If it is negative, the check ends.
	remaining int
}

// add adds a finding for a mistake at a span of the program, unless the maximum number of findings is reached.
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

// isFull reports whether the checker has found the maximum number of mistakes.
func (c *checker) isFull() bool { return len(c.findings) >= mostFindings }
