// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "fmt"

// inferAll finds errors that are not handled, and values of the wrong kind, in the expressions of a VRL program. Its
// functions and variables have been checked before.
func (c *checker) inferAll(all []expression) {
	in := newState(&c.left)
	var last value
	for _, one := range all {
		last = c.infer(one, in)
		c.handled(last.fails, one.where(), "")
	}
	if !c.isCondition {
		return
	}
	at := place{}
	if len(all) > 0 {
		at = all[len(all)-1].where()
	} else {
		last = exactly(aNull)
	}
	c.want(last.is(aBoolean), at, "a condition has to be a boolean"+instead(last), "compare it, such as with == true")
}

// handled reports an error that is not handled.
func (c *checker) handled(fails chance, at place, what string) {
	if fails == maybe {
		c.isUnsure = true
	}
	if fails == yes {
		c.add(Error, at, "an error of this expression is not handled"+what, "write ! behind the name of the function, ?? and another value, or VALUE, err = …")
	}
}

// want reports a value that is not as required.
func (c *checker) want(is chance, at place, message, help string) {
	if is == maybe {
		c.isUnsure = true
	}
	if is == no {
		c.add(Error, at, message, help)
	}
}

// instead describes the kinds of a value for a message.
func instead(v value) string {
	if !v.isKnown {
		return ""
	}
	return ", and this may be " + v.kinds.String()
}

// infer returns the known kinds of the value of an expression, and updates the state of variables and fields.
func (c *checker) infer(one expression, in *state) value {
	if c.left < 0 {
		return value{fails: maybe}
	}
	switch one := one.(type) {
	case *literal:
		return c.inferLiteral(one, in)
	case *variable:
		return in.get("$" + one.name)
	case *query:
		return c.inferQuery(one, in)
	case *call:
		return c.inferCall(one, in)
	case *not:
		v := c.infer(one.value, in)
		c.want(v.is(aBoolean), one.place, "! negates a boolean"+instead(v), "compare it, such as with == null, or write bool!(…)")
		return exactly(aBoolean).failing(v.fails)
	case *binary:
		return c.inferBinary(one, in)
	case *assignment:
		return c.inferAssignment(one, in)
	case *conditional:
		return c.inferConditional(one, in)
	case *block:
		inner := in.child()
		v := c.inferBody(one.body, inner)
		in.leave(inner)
		return v
	case *group:
		return c.infer(one.value, in)
	case *array:
		return exactly(anArray).failing(c.inferItems(one.items, in))
	case *object:
		return exactly(anObject).failing(c.inferItems(one.values, in))
	}
	return c.inferEnd(one, in)
}

// inferEnd handles expressions that end the VRL program. Behind them nothing is known.
func (c *checker) inferEnd(one expression, in *state) value {
	c.isUnsure = c.isUnsure || len(c.findings) == 0
	switch one := one.(type) {
	case *abort:
		if one.message != nil {
			v := c.infer(one.message, in)
			c.handled(v.fails, one.message.where(), "")
			c.want(v.is(aText), one.message.where(), "the message of abort has to be a text"+instead(v), "write string!(…)")
		}
	case *result:
		c.handled(c.infer(one.value, in).fails, one.value.where(), "")
	}
	return value{}
}

// inferBody handles a list of expressions. The value is the value of the last one.
func (c *checker) inferBody(body []expression, in *state) value {
	var last value
	fails := no
	isOver := false
	for _, one := range body {
		last = c.infer(one, in)
		if isOver && last.fails != no {
			fails = either(fails, maybe)
		} else {
			fails = either(fails, last.fails)
		}
		isOver = isOver || ends(one)
	}
	return last.failing(fails)
}

// ends reports whether the code behind an expression may never run.
func ends(one expression) bool {
	switch one := one.(type) {
	case *abort, *result:
		return true
	case *conditional:
		return true
	case *block:
		return len(one.body) > 0 && ends(one.body[len(one.body)-1])
	case *group:
		return ends(one.value)
	case *assignment:
		return ends(one.value)
	}
	return false
}

func (c *checker) inferItems(items []expression, in *state) chance {
	fails := no
	for _, one := range items {
		fails = either(fails, c.infer(one, in).fails)
	}
	return fails
}

// inferLiteral handles a literal. The validity of a regular expression or a time is not known.
func (c *checker) inferLiteral(one *literal, in *state) value {
	switch one.kind {
	case integer:
		return exactly(anInteger)
	case float:
		return exactly(aFloat)
	case regex:
		c.isUnsure = true
		return exactly(aRegex)
	case timestamp:
		c.isUnsure = true
		return exactly(aTime)
	case keyword:
		if one.text == "null" {
			return exactly(aNull)
		}
		return exactly(aBoolean)
	default:
	}
	v := exactly(aText)
	for i, part := range one.parts {
		next := exactly(aText)
		if part.isVariable {
			next = in.get("$" + part.text)
		}
		if i == 0 {
			v = next
			continue
		}
		v = added("+", v, next)
	}
	return v
}

// inferQuery handles a path. The content of a value is not known.
func (c *checker) inferQuery(one *query, in *state) value {
	switch {
	case one.target != nil:
		return value{fails: c.infer(one.target, in).fails}
	case one.root == '%' || len(one.segments) == 0 || one.segments[0].field == "" || !c.isAny:
		return value{}
	}
	v := in.get(event + one.segments[0].field)
	if len(one.segments) > 1 && v != exactly(anything) {
		return value{}
	}
	return v
}

func (c *checker) inferConditional(one *conditional, in *state) value {
	var is value
	fails := no
	for _, part := range one.predicate {
		is = c.infer(part, in)
		fails = either(fails, is.fails)
	}
	at := one.predicate[len(one.predicate)-1].where()
	c.handled(fails, at, "")
	c.want(is.is(aBoolean), at, "the condition of if has to be a boolean"+instead(is), "compare it, such as with == true")
	then, otherwise := in.child(), in.child()
	v := c.inferBody(one.then.body, then)
	other := exactly(aNull)
	if one.otherwise != nil {
		other = c.inferBody(one.otherwise.body, otherwise)
	}
	in.join(then, otherwise)
	return union(v, other)
}

func (c *checker) inferAssignment(one *assignment, in *state) value {
	at := one.value.where()
	var v value
	if one.isMerge {
		left := c.infer(one.targets[0], in)
		v = c.merged(left, c.infer(one.value, in), at)
	} else {
		v = c.infer(one.value, in)
	}
	if len(one.targets) == 1 {
		c.handled(v.fails, at, "")
		c.assign(one.targets[0], v, in)
		return v.failing(no)
	}
	if v.fails == no {
		c.add(Error, one.targets[1].where(), "this expression has no error that could be assigned", "leave out the second target")
	}
	c.isUnsure = c.isUnsure || v.fails == maybe
	ok := v
	if v.isKnown && v.kinds&(v.kinds-1) != 0 {
		ok.kinds |= aNull // A value of several kinds, after an error.
	}
	c.assign(one.targets[0], ok, in)
	c.assign(one.targets[1], exactly(aText|aNull), in)
	v.kinds |= aText
	return v.failing(no)
}

// assign records the new value of a target.
func (c *checker) assign(target expression, v value, in *state) {
	switch target := target.(type) {
	case *variable:
		in.set("$"+target.name, v)
	case *query:
		if name, isVariable := target.target.(*variable); isVariable {
			c.isUnsure = true
			in.set("$"+name.name, value{})
			return
		}
		if c.isCondition {
			c.add(Error, target.place, "a condition changes nothing", "do this in a transform remap before")
		}
		switch {
		case target.root == '%':
			c.isUnsure = true
		case len(target.segments) == 0 || target.segments[0].field == "":
			c.isUnsure = true
			in.set(event, value{})
		default:
			key := event + target.segments[0].field
			if len(target.segments) > 1 {
				c.isUnsure = c.isUnsure || in.get(key) != exactly(anything)
				v = value{}
			}
			in.set(key, v)
		}
	}
}

// merged returns the result of the operator | for two values.
func (c *checker) merged(left, right value, at place) value {
	for _, v := range []value{left, right} {
		c.want(v.is(anObject), at, fmt.Sprintf("only objects can be merged%s", instead(v)), "write object!(…)")
	}
	return exactly(anObject).failing(either(left.fails, right.fails))
}
