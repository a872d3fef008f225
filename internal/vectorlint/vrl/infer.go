// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "fmt"

// inferAll reports errors that are not handled, and values of the wrong kind, in the expressions of a program.
// Functions and variables must have been checked before.
func (c *checker) inferAll(body []expression) {
	env := newState(&c.remaining)
	var last value
	for _, expr := range body {
		last = c.infer(expr, env)
		c.requireHandled(last.fails, expr.sourceSpan(), "")
	}
	if !c.isCondition {
		return
	}
	loc := span{}
	if len(body) > 0 {
		loc = body[len(body)-1].sourceSpan()
	} else {
		last = valueOfKinds(aNull)
	}
	c.reportUnless(last.isExactly(aBoolean), loc, "a condition must be a boolean"+describeKinds(last), "compare it, such as with == true")
}

// requireHandled reports an expression that can fail if the program does not handle the error. If it is unknown
// whether the expression can fail, it sets isUnsure.
func (c *checker) requireHandled(fails chance, loc span, suffix string) {
	if fails == maybe {
		c.isUnsure = true
	}
	if fails == always {
		c.add(Error, loc, "an error of this expression is not handled"+suffix, "handle the error: write ! after the name of the function, ?? and another value, or VALUE, err = …")
	}
}

// reportUnless reports a finding if a requirement is never met. If it is unknown whether the requirement is met, it
// sets isUnsure.
func (c *checker) reportUnless(holds chance, loc span, message, help string) {
	if holds == maybe {
		c.isUnsure = true
	}
	if holds == never {
		c.add(Error, loc, message, help)
	}
}

// describeKinds returns the kinds of a value as the end of a message about the expected kind. It returns "" if the
// kinds are unknown.
func describeKinds(v value) string {
	if !v.isKnown {
		return ""
	}
	return ", but the value may be " + v.kinds.String()
}

// infer returns the kinds that the value of an expression may have, and updates the state of variables and
// fields.
func (c *checker) infer(expr expression, env *state) value {
	if c.remaining < 0 {
		return value{fails: maybe}
	}
	switch expr := expr.(type) {
	case *literal:
		return c.inferLiteral(expr, env)
	case *variable:
		return env.get("$" + expr.name)
	case *query:
		return c.inferQuery(expr, env)
	case *call:
		return c.inferCall(expr, env)
	case *negation:
		v := c.infer(expr.value, env)
		c.reportUnless(v.isExactly(aBoolean), expr.span, "! negates a boolean"+describeKinds(v), "compare it, such as with == null, or write bool!(…)")
		return valueOfKinds(aBoolean).withFails(v.fails)
	case *binary:
		return c.inferBinary(expr, env)
	case *assignment:
		return c.inferAssignment(expr, env)
	case *conditional:
		return c.inferConditional(expr, env)
	case *block:
		inner := env.child()
		v := c.inferBody(expr.body, inner)
		env.mergeBlock(inner)
		return v
	case *group:
		return c.infer(expr.value, env)
	case *array:
		return valueOfKinds(anArray).withFails(c.inferItems(expr.items, env))
	case *object:
		return valueOfKinds(anObject).withFails(c.inferItems(expr.values, env))
	}
	return c.inferEnd(expr, env)
}

// inferEnd infers an expression that ends the program. The kinds in all following code are unknown.
func (c *checker) inferEnd(expr expression, env *state) value {
	c.isUnsure = c.isUnsure || len(c.findings) == 0
	switch expr := expr.(type) {
	case *abort:
		if expr.message != nil {
			v := c.infer(expr.message, env)
			c.requireHandled(v.fails, expr.message.sourceSpan(), "")
			c.reportUnless(v.isExactly(aText), expr.message.sourceSpan(), "the message of abort must be a string"+describeKinds(v), "write string!(…)")
		}
	case *result:
		c.requireHandled(c.infer(expr.value, env).fails, expr.value.sourceSpan(), "")
	}
	return value{}
}

// inferBody infers a list of expressions and returns the value of the last expression.
func (c *checker) inferBody(body []expression, env *state) value {
	var last value
	fails := never
	isOver := false
	for _, expr := range body {
		last = c.infer(expr, env)
		if isOver && last.fails != never {
			fails = maxChance(fails, maybe)
		} else {
			fails = maxChance(fails, last.fails)
		}
		isOver = isOver || mayTerminate(expr)
	}
	return last.withFails(fails)
}

// mayTerminate reports whether an expression may end the program, so that the code after it does not run.
func mayTerminate(expr expression) bool {
	switch expr := expr.(type) {
	case *abort, *result:
		return true
	case *conditional:
		return true
	case *block:
		return len(expr.body) > 0 && mayTerminate(expr.body[len(expr.body)-1])
	case *group:
		return mayTerminate(expr.value)
	case *assignment:
		return mayTerminate(expr.value)
	}
	return false
}

// inferItems infers the items of an array or an object, and returns the chance that at least one of them fails.
func (c *checker) inferItems(items []expression, env *state) chance {
	fails := never
	for _, expr := range items {
		fails = maxChance(fails, c.infer(expr, env).fails)
	}
	return fails
}

// inferLiteral infers a literal. It does not check whether a regular expression or a time is valid.
func (c *checker) inferLiteral(node *literal, env *state) value {
	switch node.kind {
	case integer:
		return valueOfKinds(anInteger)
	case float:
		return valueOfKinds(aFloat)
	case regex:
		c.isUnsure = true
		return valueOfKinds(aRegex)
	case timestamp:
		c.isUnsure = true
		return valueOfKinds(aTime)
	case keyword:
		if node.text == "null" {
			return valueOfKinds(aNull)
		}
		return valueOfKinds(aBoolean)
	default:
	}
	v := valueOfKinds(aText)
	for i, part := range node.parts {
		partValue := valueOfKinds(aText)
		if part.isVariable {
			partValue = env.get("$" + part.text)
		}
		if i == 0 {
			v = partValue
			continue
		}
		v = inferArithmetic("+", v, partValue)
	}
	return v
}

// inferQuery infers a path. The kinds of values inside objects and arrays are unknown.
func (c *checker) inferQuery(node *query, env *state) value {
	switch {
	case node.target != nil:
		return value{fails: c.infer(node.target, env).fails}
	case node.root == '%' || len(node.segments) == 0 || node.segments[0].field == "" || !c.isAny:
		return value{}
	}
	v := env.get(event + node.segments[0].field)
	if len(node.segments) > 1 && v != valueOfKinds(anything) {
		return value{}
	}
	return v
}

// inferConditional infers an if expression. Its value is the value of either branch, and the state joins the changes
// in both.
func (c *checker) inferConditional(node *conditional, env *state) value {
	var condition value
	fails := never
	for _, expr := range node.predicate {
		condition = c.infer(expr, env)
		fails = maxChance(fails, condition.fails)
	}
	loc := node.predicate[len(node.predicate)-1].sourceSpan()
	c.requireHandled(fails, loc, "")
	c.reportUnless(condition.isExactly(aBoolean), loc, "the condition of if must be a boolean"+describeKinds(condition), "compare it, such as with == true")
	thenState, elseState := env.child(), env.child()
	v := c.inferBody(node.thenBlock.body, thenState)
	elseValue := valueOfKinds(aNull)
	if node.elseBlock != nil {
		elseValue = c.inferBody(node.elseBlock.body, elseState)
	}
	env.joinBranches(thenState, elseState)
	return unionOfValues(v, elseValue)
}

// inferAssignment infers the value of an assignment and sets the kinds of its targets. With one target, it reports a
// value that can fail. With two targets, the second one gets the error, so that the assignment itself cannot fail.
func (c *checker) inferAssignment(node *assignment, env *state) value {
	loc := node.value.sourceSpan()
	var v value
	if node.isMerge {
		left := c.infer(node.targets[0], env)
		v = c.mergeObjects(left, c.infer(node.value, env), loc)
	} else {
		v = c.infer(node.value, env)
	}
	if len(node.targets) == 1 {
		c.requireHandled(v.fails, loc, "")
		c.assign(node.targets[0], v, env)
		return v.withFails(never)
	}
	if v.fails == never {
		c.add(Error, node.targets[1].sourceSpan(), "this expression has no error that could be assigned", "leave out the second target")
	}
	c.isUnsure = c.isUnsure || v.fails == maybe
	assigned := v
	if hasSeveralKinds := v.kinds&(v.kinds-1) != 0; v.isKnown && hasSeveralKinds {
		assigned.kinds |= aNull // After an error, Vector assigns null to a target of several kinds.
	}
	c.assign(node.targets[0], assigned, env)
	c.assign(node.targets[1], valueOfKinds(aText|aNull), env)
	v.kinds |= aText // The result is the value, or else the message of the error.
	return v.withFails(never)
}

// assign sets the kinds of a target to the kinds of the assigned value.
func (c *checker) assign(target expression, v value, env *state) {
	switch target := target.(type) {
	case *variable:
		env.set("$"+target.name, v)
	case *query:
		if name, isVariable := target.target.(*variable); isVariable {
			c.isUnsure = true
			env.set("$"+name.name, value{})
			return
		}
		if c.isCondition {
			c.add(Error, target.span, "a condition must not change the event", "change the event in an earlier transform of type remap")
		}
		switch {
		case target.root == '%':
			c.isUnsure = true
		case len(target.segments) == 0 || target.segments[0].field == "":
			c.isUnsure = true
			env.set(event, value{})
		default:
			key := event + target.segments[0].field
			if len(target.segments) > 1 {
				c.isUnsure = c.isUnsure || env.get(key) != valueOfKinds(anything)
				v = value{}
			}
			env.set(key, v)
		}
	}
}

// mergeObjects infers the operator | for two values, which must be objects.
func (c *checker) mergeObjects(left, right value, loc span) value {
	for _, v := range []value{left, right} {
		c.reportUnless(v.isExactly(anObject), loc, fmt.Sprintf("only objects can be merged%s", describeKinds(v)), "write object!(…)")
	}
	return valueOfKinds(anObject).withFails(maxChance(left.fails, right.fails))
}
