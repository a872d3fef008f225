// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"fmt"
	"strings"
)

// guards are the functions that return a value of one kind, and fail for values of all other kinds.
var guards = map[string]kinds{
	"string": aText, "int": anInteger, "float": aFloat, "bool": aBoolean, "object": anObject, "array": anArray, "timestamp": aTime,
}

// conversions are the functions that convert values to one kind, and fail for values of some kinds.
var conversions = map[string]struct{ result, failsFor kinds }{
	"to_string": {aText, anArray | anObject | aRegex},
	"to_int":    {anInteger, aText | anArray | anObject | aRegex},
	"to_float":  {aFloat, aText | anArray | anObject | aRegex},
	"to_bool":   {aBoolean, aText | aTime | anArray | anObject | aRegex},
}

// inferCall infers a function call. Like Vector, it first checks the arguments, and then the errors that may
// occur at run time.
func (c *checker) inferCall(node *call, env *state) value {
	f := c.functionForm(node.name)
	if f == nil {
		c.isUnsure = true
		return value{}
	}
	v, isPartly := c.inferArguments(f, node, env)
	if node.name == "del" {
		c.forgetTarget(node, env)
	}
	inClosure := never
	if node.closure != nil {
		c.isUnsure = true
		inner := env.child()
		for i := range node.closure.variables {
			inner.set("$"+node.closure.variables[i].name, value{})
		}
		inClosure = c.inferBody(node.closure.body.body, inner).fails
		env.forgetBranch(inner)
	}
	v.fails = maxChance(v.fails, maxChance(isPartly, inClosure))
	if node.isAborting {
		v.fails = never
	}
	return v
}

// functionForm returns the form of a function in the checked release, or nil unless the function has exactly one form.
func (c *checker) functionForm(name string) *function {
	forms, _ := formsFor(name, c.minor)
	if len(forms) != 1 {
		return nil
	}
	return &forms[0]
}

// inferArguments infers and checks the arguments of a call. It returns the result of the call, and the chance
// that an argument has a kind that its parameter does not accept.
func (c *checker) inferArguments(f *function, node *call, env *state) (v value, isPartly chance) {
	nextIndex, firstArgument := 0, value{}
	for i := range node.arguments {
		position := nextIndex
		if keyword := node.arguments[i].keyword; keyword != "" {
			position = f.parameterIndex(keyword)
		}
		if position == nextIndex {
			nextIndex++
		}
		argument := node.arguments[i].value
		actual, param := c.infer(argument, env), &f.parameters[position]
		if position == 0 {
			firstArgument = actual
		}
		c.requireHandled(actual.fails, argument.sourceSpan(), " before it is an argument")
		switch accepted := parseKinds(param.kinds); {
		case accepted == anything:
		case !actual.isKnown:
			c.isUnsure = true
			isPartly = maxChance(isPartly, maybe)
		case actual.kinds&accepted == 0:
			c.add(Error, argument.sourceSpan(), fmt.Sprintf("the argument %q of function %s is %s, and not %s", param.name, f.name, actual.kinds, accepted), "")
		default:
			isPartly = maxChance(isPartly, actual.canExceed(accepted))
		}
	}
	return c.inferResult(f, firstArgument), isPartly
}

// inferResult returns the result of a function, which may depend on the kinds of the first argument.
func (c *checker) inferResult(f *function, firstArgument value) value {
	if guardKinds, isGuard := guards[f.name]; isGuard {
		return valueOfKinds(guardKinds).withFails(always - firstArgument.isExactly(guardKinds))
	}
	if conversion, isConversion := conversions[f.name]; isConversion {
		fails := maybe
		if firstArgument.isKnown {
			fails = toChance(firstArgument.kinds&conversion.failsFor != 0)
		}
		return valueOfKinds(conversion.result).withFails(fails)
	}
	c.isUnsure = c.isUnsure || f.isParticular
	if kindText, isFallible := strings.CutSuffix(f.result, "!"); isFallible {
		return value{parseKinds(kindText), kindText != "?", always}
	}
	if kindText, isInfallible := strings.CutSuffix(f.result, "."); isInfallible {
		return valueOfKinds(parseKinds(kindText))
	}
	return value{fails: maybe}
}

// forgetTarget makes the kinds of the field that del deletes unknown.
func (c *checker) forgetTarget(node *call, env *state) {
	if c.isCondition {
		c.isUnsure = true
	}
	for i := range node.arguments {
		if target, isQuery := node.arguments[i].value.(*query); isQuery {
			c.forgetField(target, env)
		}
	}
}

// forgetField makes the kinds of the field at a path, or of the whole event, unknown.
func (c *checker) forgetField(target *query, env *state) {
	switch {
	case target.root == '.' && len(target.segments) > 0 && target.segments[0].field != "":
		env.set(event+target.segments[0].field, value{})
	case target.root == '.':
		env.set(event, value{})
	}
}
