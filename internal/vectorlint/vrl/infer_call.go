// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"strings"
)

// guards are functions that return a value of one kind, and fail for any other kind.
var guards = map[string]kinds{
	"string": aText, "int": anInteger, "float": aFloat, "bool": aBoolean, "object": anObject, "array": anArray, "timestamp": aTime,
}

// conversions are functions that return a value of one kind, and fail for some kinds.
var conversions = map[string]struct{ to, failsFor kinds }{
	"to_string": {aText, anArray | anObject | aRegex},
	"to_int":    {anInteger, aText | anArray | anObject | aRegex},
	"to_float":  {aFloat, aText | anArray | anObject | aRegex},
	"to_bool":   {aBoolean, aText | aTime | anArray | anObject | aRegex},
}

// inferCall handles the call of a function. The arguments are checked first, as in Vector, and then the errors at run
// time.
func (c *checker) inferCall(one *call, in *state) value {
	f := c.form(one.name)
	if f == nil {
		c.isUnsure = true
		return value{}
	}
	v, isPartly := c.inferArguments(f, one, in)
	if one.name == "del" {
		c.forgetTarget(one, in)
	}
	inClosure := no
	if one.closure != nil {
		c.isUnsure = true
		inner := in.child()
		for i := range one.closure.variables {
			inner.set("$"+one.closure.variables[i].name, value{})
		}
		inClosure = c.inferBody(one.closure.body.body, inner).fails
		in.forget(inner)
	}
	v.fails = either(v.fails, either(isPartly, inClosure))
	if one.isAborting {
		v.fails = no
	}
	return v
}

// form returns the form of a function, nil if the function has several forms.
func (c *checker) form(name string) *function {
	forms, _ := formsOf(name, c.minor)
	if len(forms) != 1 {
		return nil
	}
	return &forms[0]
}

// inferArguments checks arguments. It returns the result of the call, and the chance that an argument has a kind that
// its parameter does not accept.
func (c *checker) inferArguments(f *function, one *call, in *state) (v value, isPartly chance) {
	next, first := 0, value{}
	for i := range one.arguments {
		position := next
		if keyword := one.arguments[i].keyword; keyword != "" {
			position = f.position(keyword)
		}
		if position == next {
			next++
		}
		argument := one.arguments[i].value
		given, takes := c.infer(argument, in), &f.parameters[position]
		if position == 0 {
			first = given
		}
		c.handled(given.fails, argument.where(), " before it is an argument")
		switch wanted := kindsOf(takes.kinds); {
		case wanted == anything:
		case !given.isKnown:
			c.isUnsure = true
			isPartly = either(isPartly, maybe)
		case given.kinds&wanted == 0:
			c.add(Error, argument.where(), fmt.Sprintf("the argument %q of %s is %s, and not %s", takes.name, f.name, given.kinds, wanted), "")
		default:
			isPartly = either(isPartly, given.exceeds(wanted))
		}
	}
	return c.returned(f, first), isPartly
}

// returned is the result of a function for its first argument.
func (c *checker) returned(f *function, first value) value {
	if to, isGuard := guards[f.name]; isGuard {
		return exactly(to).failing(yes - first.is(to))
	}
	if to, isConversion := conversions[f.name]; isConversion {
		fails := maybe
		if first.isKnown {
			fails = when(first.kinds&to.failsFor != 0)
		}
		return exactly(to.to).failing(fails)
	}
	c.isUnsure = c.isUnsure || f.isParticular
	if rest, isFallible := strings.CutSuffix(f.result, "!"); isFallible {
		return value{kindsOf(rest), rest != "?", yes}
	}
	if rest, isInfallible := strings.CutSuffix(f.result, "."); isInfallible {
		return exactly(kindsOf(rest))
	}
	return value{fails: maybe}
}

// forgetTarget removes the known kinds of the value that del deletes.
func (c *checker) forgetTarget(one *call, in *state) {
	if c.isCondition {
		c.isUnsure = true
	}
	for i := range one.arguments {
		if target, isQuery := one.arguments[i].value.(*query); isQuery {
			c.assignDeleted(target, in)
		}
	}
}

func (c *checker) assignDeleted(target *query, in *state) {
	switch {
	case target.root == '.' && len(target.segments) > 0 && target.segments[0].field != "":
		in.set(event+target.segments[0].field, value{})
	case target.root == '.':
		in.set(event, value{})
	}
}
