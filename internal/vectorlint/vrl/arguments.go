// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// longestName is the maximum length of a name for which the check looks for a likely typo.
const longestName = 100

func (c *checker) didYouMean(name string, candidates []string) string {
	if len(name) > longestName || c.nearest == nil {
		return ""
	}
	if near := c.nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// checkCall checks a call against the forms of its function. The call is wrong if no form accepts it.
func (c *checker) checkCall(of *call) {
	forms, inOther := formsOf(of.name, c.minor)
	switch {
	case len(forms) > 0:
	case len(inOther) > 0 && inOther[0].since > c.minor:
		c.add(Function, of.named, fmt.Sprintf("the function %q came with Vector 0.%d", of.name, inOther[0].since), "use a newer image of Vector, or another function")
	case len(inOther) > 0:
		c.add(Function, of.named, fmt.Sprintf("the function %q was removed in Vector 0.%d", of.name, inOther[len(inOther)-1].until+1), "use another function")
	default:
		c.add(Function, of.named, fmt.Sprintf("unknown function %q", of.name), c.didYouMean(of.name, slices.Sorted(maps.Keys(library()))))
	}
	var first *mistake
	for i := range forms {
		wrong := c.refuses(&forms[i], of)
		if wrong == nil {
			return
		}
		if first == nil {
			first = wrong
		}
	}
	if first != nil {
		c.add(Function, first.place, first.message, first.help)
	}
}

// mistake is a fault with its place.
type mistake struct {
	place
	message, help string
}

// refuses returns the reason why a function rejects a call, nil if it may accept it. An argument that is repeated
// counts once, as in Vector.
func (c *checker) refuses(f *function, of *call) *mistake {
	if most := len(f.parameters); len(of.arguments) > most {
		at := of.arguments[most]
		return &mistake{at.value.where(), fmt.Sprintf("%s takes %d arguments at most, not %d", f.name, most, len(of.arguments)), f.help()}
	}
	given := make([]bool, len(f.parameters))
	next := 0
	for i := range of.arguments {
		position := next
		if one := &of.arguments[i]; one.keyword == "" {
			next++
		} else if position = f.position(one.keyword); position < 0 {
			return &mistake{one.named, fmt.Sprintf("%s has no argument %q", f.name, one.keyword), or(c.didYouMean(one.keyword, f.names()), f.help())}
		} else if position == next {
			next++
		}
		given[position] = true
	}
	for i := range f.parameters {
		if f.parameters[i].isRequired && !given[i] {
			return &mistake{of.named, fmt.Sprintf("%s needs the argument %q", f.name, f.parameters[i].name), f.help()}
		}
	}
	switch {
	case f.closure == noClosure && of.closure != nil:
		return &mistake{of.closure.place, f.name + " takes no closure", ""}
	case f.closure != noClosure && of.closure == nil:
		return &mistake{of.named, f.name + " needs a closure", "write one behind it, such as -> |value| { value }"}
	case f.closure >= 0 && len(of.closure.variables) != f.closure:
		return &mistake{of.closure.place, fmt.Sprintf("the closure of %s has %d variables, not %d", f.name, f.closure, len(of.closure.variables)), ""}
	}
	return nil
}

func (f *function) help() string {
	if len(f.parameters) == 0 {
		return "the function takes no arguments"
	}
	return "the arguments are " + strings.Join(f.names(), ", ")
}

func or(help, other string) string {
	if help != "" {
		return help
	}
	return other
}
