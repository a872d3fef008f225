// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scope contains the variables that have a value, including variables that have a value only in some cases.
type scope struct {
	names  map[string]bool
	parent *scope
}

// newScope returns a scope without names, within a parent scope.
func newScope(parent *scope) *scope { return &scope{map[string]bool{}, parent} }

// hasName reports whether the scope or a scope around it contains a variable.
func (s *scope) hasName(name string) bool {
	for visible := s; visible != nil; visible = visible.parent {
		if visible.names[name] {
			return true
		}
	}
	return false
}

// set adds a variable to the scope, unless a scope around it already contains the variable.
func (s *scope) set(name string) {
	if !s.hasName(name) {
		s.names[name] = true
	}
}

// mostNames is the maximum number of names in one scope that are compared to find a similar name.
const mostNames = 100

// allNames returns the words and variables that may be suggested for a misspelled name. It stops at a scope with more
// than mostNames variables.
func (s *scope) allNames() []string {
	names := []string{"null", "true", "false"}
	for visible := s; visible != nil && len(visible.names) <= mostNames; visible = visible.parent {
		names = append(names, slices.Sorted(maps.Keys(visible.names))...)
	}
	return names
}

// walkAll checks expressions in the order in which they run.
func (c *checker) walkAll(exprs []expression, vars *scope) {
	for _, expr := range exprs {
		c.walk(expr, vars)
	}
}

// walk checks an expression in a scope. It returns early if the maximum number of mistakes is found.
func (c *checker) walk(expr expression, vars *scope) {
	if c.isFull() {
		return
	}
	switch expr := expr.(type) {
	case *literal:
		c.walkLiteral(expr, vars)
	case *variable:
		c.checkVariable(expr.name, expr.span, vars)
	case *query:
		if expr.target != nil {
			c.walk(expr.target, vars)
		}
	case *call:
		c.walkCall(expr, vars)
	case *negation:
		c.walk(expr.value, vars)
	case *binary:
		c.walkBinary(expr, vars)
	case *assignment:
		c.walkAssignment(expr, vars)
	case *conditional:
		c.walkAll(expr.predicate, vars)
		c.walk(expr.thenBlock, vars)
		if expr.elseBlock != nil {
			c.walk(expr.elseBlock, vars)
		}
	case *block:
		c.walkAll(expr.body, newScope(vars))
	case *group:
		c.walk(expr.value, vars)
	case *array:
		c.walkAll(expr.items, vars)
	case *object:
		c.walkAll(expr.values, vars)
	case *abort:
		if expr.message != nil {
			c.walk(expr.message, vars)
		}
	case *result:
		c.walk(expr.value, vars)
	}
}

// checkVariable reports a variable that does not have a value in the scope.
func (c *checker) checkVariable(name string, loc span, vars *scope) {
	if vars.hasName(name) {
		return
	}
	if c.isFull() {
		return
	}
	help := "assign a value to the variable first, in the same block or an enclosing one; a field of the event starts with a dot"
	c.add(Variable, loc, fmt.Sprintf("the variable %q has no value here", name), firstNonEmpty(c.didYouMean(name, vars.allNames()), help))
}

// walkLiteral checks the variables between {{ and }} in a text.
func (c *checker) walkLiteral(node *literal, vars *scope) {
	for _, part := range node.parts {
		if !part.isVariable || vars.hasName(part.text) || c.isFull() {
			continue
		}
		loc := node.span
		if offset := strings.Index(c.program[loc.start:loc.end], part.text); offset > 0 {
			loc.start += offset
		}
		c.checkVariable(part.text, loc, vars)
	}
}

// walkCall checks a function call: its arguments, the call, and its closure, which has a scope with the closure's
// variables.
func (c *checker) walkCall(node *call, vars *scope) {
	for i := range node.arguments {
		c.walk(node.arguments[i].value, vars)
	}
	c.checkCall(node)
	if node.closure == nil {
		return
	}
	inner := newScope(vars)
	for i := range node.closure.variables {
		inner.names[node.closure.variables[i].name] = true
	}
	c.walk(node.closure.body, inner)
}

// comparisons are the operators that VRL does not allow directly after one another.
var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// walkBinary checks the operands of an operation, and reports a comparison of the result of a comparison.
func (c *checker) walkBinary(node *binary, vars *scope) {
	c.walk(node.left, vars)
	c.walk(node.right, vars)
	left, isBinary := node.left.(*binary)
	if isBinary && slices.Contains(comparisons, node.operator) && slices.Contains(comparisons, left.operator) {
		c.add(Syntax, node.operated, fmt.Sprintf("%q follows another comparison", node.operator), "put one of them in parentheses, or write &&")
	}
}

// walkAssignment checks the value of an assignment, and adds the assigned variables to the scope. It reports targets
// that cannot be assigned.
func (c *checker) walkAssignment(node *assignment, vars *scope) {
	if node.isMerge {
		c.walkMerged(node.targets[0], vars)
	}
	c.walk(node.value, vars)
	isUsed := false
	for _, target := range node.targets {
		switch target := target.(type) {
		case *variable:
			vars.set(target.name)
			isUsed = true
		case *query:
			isUsed = true
			if name, isVariable := target.target.(*variable); isVariable {
				vars.set(name.name)
			} else if target.target != nil {
				c.add(Syntax, target.span, "cannot assign to a computed value", "assign to a field or a variable")
			}
		}
	}
	if !isUsed {
		c.add(Syntax, node.targets[0].sourceSpan(), "the assignment has no effect, because its only target is _", "leave out the assignment, or assign to a field or a variable")
	}
}

// walkMerged checks the target of the operator |=, which must already have a value. It does not check the
// target _.
func (c *checker) walkMerged(target expression, vars *scope) {
	if _, isNothing := target.(*literal); !isNothing {
		c.walk(target, vars)
	}
}
