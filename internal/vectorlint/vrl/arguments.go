// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// longestName is the maximum length of a name for which a similar name is searched.
const longestName = 100

// didYouMean returns a help that suggests the candidate that is most similar to a misspelled name. It returns "" for
// none.
func (c *checker) didYouMean(name string, candidates []string) string {
	if len(name) > longestName || c.nearest == nil {
		return ""
	}
	if near := c.nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// checkCall reports a call that none of the forms of its function accepts.
func (c *checker) checkCall(node *call) {
	forms, otherForms := formsFor(node.name, c.minor)
	switch {
	case len(forms) > 0:
	case len(otherForms) > 0 && otherForms[0].firstMinor > c.minor:
		c.add(Function, node.named, fmt.Sprintf("the function %q requires Vector 0.%d or later", node.name, otherForms[0].firstMinor), "use a newer image of Vector, or another function")
	case len(otherForms) > 0:
		c.add(Function, node.named, fmt.Sprintf("the function %q was removed in Vector 0.%d", node.name, otherForms[len(otherForms)-1].lastMinor+1), "use another function")
	default:
		c.add(Function, node.named, fmt.Sprintf("unknown function %q", node.name), c.didYouMean(node.name, slices.Sorted(maps.Keys(library()))))
	}
	var firstMistake *mistake
	for i := range forms {
		wrong := c.findMistake(&forms[i], node)
		if wrong == nil {
			return
		}
		if firstMistake == nil {
			firstMistake = wrong
		}
	}
	if firstMistake != nil {
		c.add(Function, firstMistake.span, firstMistake.message, firstMistake.help)
	}
}

// mistake is a fault in a program with its position.
type mistake struct {
	span
	message, help string
}

// findMistake returns the reason why a function does not accept a call, or nil if it may accept the call. An
// argument that is given twice counts once, as in Vector.
func (c *checker) findMistake(f *function, node *call) *mistake {
	if maxArguments := len(f.parameters); len(node.arguments) > maxArguments {
		extra := node.arguments[maxArguments]
		return &mistake{extra.value.sourceSpan(), fmt.Sprintf("function %s takes %d arguments at most, not %d", f.name, maxArguments, len(node.arguments)), f.helpText()}
	}
	provided := make([]bool, len(f.parameters))
	nextIndex := 0
	for i := range node.arguments {
		position := nextIndex
		if arg := &node.arguments[i]; arg.keyword == "" {
			nextIndex++
		} else if position = f.parameterIndex(arg.keyword); position < 0 {
			return &mistake{arg.named, fmt.Sprintf("function %s has no argument %q", f.name, arg.keyword), firstNonEmpty(c.didYouMean(arg.keyword, f.parameterNames()), f.helpText())}
		} else if position == nextIndex {
			nextIndex++
		}
		provided[position] = true
	}
	for i := range f.parameters {
		if f.parameters[i].isRequired && !provided[i] {
			return &mistake{node.named, fmt.Sprintf("function %s needs the argument %q", f.name, f.parameters[i].name), f.helpText()}
		}
	}
	switch {
	case f.closure == noClosure && node.closure != nil:
		return &mistake{node.closure.span, "function " + f.name + " takes no closure", ""}
	case f.closure != noClosure && node.closure == nil:
		return &mistake{node.named, "function " + f.name + " needs a closure", "write a closure after the call, such as -> |value| { value }"}
	case f.closure >= 0 && len(node.closure.variables) != f.closure:
		return &mistake{node.closure.span, fmt.Sprintf("the closure of function %s has %d variables, not %d", f.name, f.closure, len(node.closure.variables)), ""}
	}
	return nil
}

// helpText returns a text that lists the parameters of the function.
func (f *function) helpText() string {
	if len(f.parameters) == 0 {
		return "the function takes no arguments"
	}
	return "the arguments are " + strings.Join(f.parameterNames(), ", ")
}

// firstNonEmpty returns the help, or the fallback if the help is "".
func firstNonEmpty(help, fallback string) string {
	if help != "" {
		return help
	}
	return fallback
}
