// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"strings"
	"unicode/utf8"
)

const (
	// largest is how many bytes a program has that is read.
	largest = 256 << 10
	// mostDepth is how deep expressions may lie in each other.
	mostDepth = 250
	// longestChain is how many operators may follow one another.
	longestChain = 1000
	// mostFindings is how many mistakes of a program are named.
	mostFindings = 20
)

// Kind is what is wrong with a program.
type Kind string

const (
	// Syntax is not of the language.
	Syntax Kind = "syntax"
	// Function is one that there is not, or one with wrong arguments.
	Function Kind = "function"
	// Variable is one that has no value.
	Variable Kind = "variable"
	// Error is one that is not handled, or cannot be, or a value of the wrong kind.
	Error Kind = "error"
)

// Finding is one mistake. Line and Column count from 1, Column in characters.
type Finding struct {
	Kind         Kind
	Line, Column int
	// Message says what is wrong, Help what to do; that may be "".
	Message, Help string
}

// Report is what is wrong with a program, in its order.
type Report struct {
	Findings []Finding
	// Coverage says how much of what Vector judges was judged.
	Coverage Coverage
	// Effort is how much of that of Options was spent.
	Effort int
}

// Coverage is how much of a program was judged.
type Coverage int

const (
	// None is of a program that is larger or deeper than what is read.
	None Coverage = iota
	// Partly leaves it open whether Vector refuses it for the kinds of its values.
	Partly
	// Fully is where Vector takes or refuses it as was judged here.
	Fully
)

// Options say how a program is judged.
type Options struct {
	// Minor is the release 0.MINOR of Vector; 0 if it is not known: then what any takes passes.
	Minor int
	// Effort is how many characters may be read ahead to find where paths end, and how many
	// looks there may be for what is known of a variable or a field, which both grow faster
	// than the program does.
	Effort int
	// IsCondition is of a program that is a condition: it is a boolean, and changes nothing.
	IsCondition bool
	// IsAny says that any field of an event may be of any kind, as where Vector has no schema.
	IsAny bool
	// Nearest finds the one of several names that a misspelled one is likely to mean, "" if
	// none is. Without it nothing is suggested.
	Nearest func(name string, candidates []string) string
}

// Check finds the mistakes of a program, as Vector would. It takes bounded time and memory:
// what is larger, deeper, or takes more effort, passes.
func Check(program string, options Options) Report {
	if len(program) > largest || !utf8.ValidString(program) {
		return Report{}
	}
	body, effort, wrong := parse(program, options.Effort)
	c := &checker{program: program, left: options.Effort - effort, minor: options.Minor, isAny: options.IsAny || options.IsCondition, isCondition: options.IsCondition, nearest: options.Nearest}
	switch {
	case wrong == nil:
		c.walkAll(body, newScope(nil))
		if len(c.findings) == 0 && options.Minor == newest() {
			c.inferAll(body)
		} else {
			c.isUnsure = true
		}
		effort = options.Effort - c.left
		if c.left < 0 {
			return Report{nil, Partly, effort}
		}
		if len(c.findings) == 0 && c.isUnsure {
			return Report{nil, Partly, effort}
		}
		return Report{c.findings, Fully, effort}
	case wrong.tooMuch:
		return Report{Effort: effort}
	default:
		c.add(Syntax, wrong.place, wrong.message, wrong.help)
		return Report{c.findings, Fully, effort}
	}
}

// checker finds what is wrong with a program that can be read.
type checker struct {
	program  string
	minor    int
	findings []Finding
	// isCondition and isAny are those of Options.
	isCondition, isAny bool
	nearest            func(name string, candidates []string) string
	// isUnsure reports whether Vector may refuse what was judged.
	isUnsure bool
	// left is what is left of the effort; below 0 nothing more is judged.
	left int
}

func (c *checker) add(kind Kind, at place, message, help string) {
	if c.isFull() {
		return
	}
	before := c.program[:min(at.from, len(c.program))]
	line := strings.LastIndexByte(before, '\n') + 1
	c.findings = append(c.findings, Finding{
		Kind: kind, Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[line:]) + 1, Message: message, Help: help,
	})
}

// isFull reports whether no more mistakes are named.
func (c *checker) isFull() bool { return len(c.findings) >= mostFindings }
