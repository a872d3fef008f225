// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scope has the variables with a value, including variables that have a value only in some cases.
type scope struct {
	names  map[string]bool
	parent *scope
}

func newScope(parent *scope) *scope { return &scope{map[string]bool{}, parent} }

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.parent {
		if s.names[name] {
			return true
		}
	}
	return false
}

// set records that a variable has a value.
func (s *scope) set(name string) {
	if !s.has(name) {
		s.names[name] = true
	}
}

// mostNames is the maximum number of names that are compared to find a typo.
const mostNames = 100

func (s *scope) all() []string {
	names := []string{"null", "true", "false"}
	for ; s != nil && len(s.names) <= mostNames; s = s.parent {
		names = append(names, slices.Sorted(maps.Keys(s.names))...)
	}
	return names
}

// walkAll checks expressions in their order.
func (c *checker) walkAll(all []expression, in *scope) {
	for _, one := range all {
		c.walk(one, in)
	}
}

// walk checks an expression in a scope, until the maximum number of mistakes is reached.
func (c *checker) walk(one expression, in *scope) {
	if c.isFull() {
		return
	}
	switch one := one.(type) {
	case *literal:
		c.walkLiteral(one, in)
	case *variable:
		c.read(one.name, one.place, in)
	case *query:
		if one.target != nil {
			c.walk(one.target, in)
		}
	case *call:
		c.walkCall(one, in)
	case *not:
		c.walk(one.value, in)
	case *binary:
		c.walkBinary(one, in)
	case *assignment:
		c.walkAssignment(one, in)
	case *conditional:
		c.walkAll(one.predicate, in)
		c.walk(one.then, in)
		if one.otherwise != nil {
			c.walk(one.otherwise, in)
		}
	case *block:
		c.walkAll(one.body, newScope(in))
	case *group:
		c.walk(one.value, in)
	case *array:
		c.walkAll(one.items, in)
	case *object:
		c.walkAll(one.values, in)
	case *abort:
		if one.message != nil {
			c.walk(one.message, in)
		}
	case *result:
		c.walk(one.value, in)
	}
}

func (c *checker) read(name string, at place, in *scope) {
	if in.has(name) {
		return
	}
	if c.isFull() {
		return
	}
	help := "give it a value before, where both are in the same block or this in an inner one; a field of the event begins with a dot"
	c.add(Variable, at, fmt.Sprintf("the variable %q has no value here", name), or(c.didYouMean(name, in.all()), help))
}

// walkLiteral checks the variables in a text.
func (c *checker) walkLiteral(one *literal, in *scope) {
	for _, part := range one.parts {
		if !part.isVariable || in.has(part.text) || c.isFull() {
			continue
		}
		at := one.place
		if offset := strings.Index(c.program[at.from:at.to], part.text); offset > 0 {
			at.from += offset
		}
		c.read(part.text, at, in)
	}
}

func (c *checker) walkCall(one *call, in *scope) {
	for i := range one.arguments {
		c.walk(one.arguments[i].value, in)
	}
	c.checkCall(one)
	if one.closure == nil {
		return
	}
	inner := newScope(in)
	for i := range one.closure.variables {
		inner.names[one.closure.variables[i].name] = true
	}
	c.walk(one.closure.body, inner)
}

// comparisons are operators that must not follow one another.
var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (c *checker) walkBinary(one *binary, in *scope) {
	c.walk(one.left, in)
	c.walk(one.right, in)
	left, isBinary := one.left.(*binary)
	if isBinary && slices.Contains(comparisons, one.operator) && slices.Contains(comparisons, left.operator) {
		c.add(Syntax, one.operated, fmt.Sprintf("%q follows another comparison", one.operator), "put one of them in parentheses, or write &&")
	}
}

func (c *checker) walkAssignment(one *assignment, in *scope) {
	if one.isMerge {
		c.walkMerged(one.targets[0], in)
	}
	c.walk(one.value, in)
	isUsed := false
	for _, target := range one.targets {
		switch target := target.(type) {
		case *variable:
			in.set(target.name)
			isUsed = true
		case *query:
			isUsed = true
			if name, isVariable := target.target.(*variable); isVariable {
				in.set(name.name)
			} else if target.target != nil {
				c.add(Syntax, target.place, "cannot assign to a computed value", "assign to a field or a variable")
			}
		}
	}
	if !isUsed {
		c.add(Syntax, one.targets[0].where(), "the value is assigned to nothing", "leave out the assignment, or assign to a field or a variable")
	}
}

// walkMerged checks the target of |=, which must have a value. The target _ is not checked.
func (c *checker) walkMerged(target expression, in *scope) {
	if _, isNothing := target.(*literal); !isNothing {
		c.walk(target, in)
	}
}
