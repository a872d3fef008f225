// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "strings"

func (c *checker) inferBinary(one *binary, in *state) value {
	left := c.infer(one.left, in)
	switch one.operator {
	case "??", "||", "&&":
		// The right side may not be evaluated.
		branch := in.child()
		right := c.infer(one.right, branch)
		in.forget(branch)
		return c.chosen(one, left, right)
	}
	right := c.infer(one.right, in)
	fails := either(left.fails, right.fails)
	switch one.operator {
	case "|":
		return c.merged(left, right, one.place)
	case "==", "!=":
		return exactly(aBoolean).failing(fails)
	case "<", "<=", ">", ">=":
		if left.is(aText)&right.is(aText) == yes || left.is(aTime)&right.is(aTime) == yes {
			return exactly(aBoolean).failing(fails)
		}
		ofNumbers := either(left.exceeds(anInteger|aFloat), right.exceeds(anInteger|aFloat))
		if ofNumbers == yes && either(both(left.is(aText), right.is(aText)), both(left.is(aTime), right.is(aTime))) == maybe {
			ofNumbers = maybe
		}
		return exactly(aBoolean).failing(either(fails, ofNumbers))
	case "/":
		return divided(one.right, left)
	}
	return added(one.operator, left, right)
}

// chosen returns the value of an operation that chooses one of two values, or combines both.
func (c *checker) chosen(one *binary, left, right value) value {
	if one.operator == "??" {
		if left.fails == no {
			c.add(Error, one.operated, "the expression before ?? never fails", "remove ?? and the expression behind it; use || for a value that may be null")
		}
		c.isUnsure = c.isUnsure || left.fails == maybe
		return union(left, right).failing(both(left.fails, right.fails))
	}
	if mayBeConstant(one.left) || !left.isKnown {
		v := value{fails: either(both(left.fails, maybe), both(right.fails, maybe))}
		if one.operator == "&&" {
			return exactly(aBoolean).failing(either(v.fails, both(maybe, either(left.exceeds(aNull|aBoolean), right.exceeds(aNull|aBoolean)))))
		}
		return v
	}
	if one.operator == "&&" {
		if left.kinds == aNull {
			return exactly(aBoolean)
		}
		return exactly(aBoolean).failing(either(either(left.fails, left.exceeds(aNull|aBoolean)), either(right.fails, right.exceeds(aNull|aBoolean))))
	}
	switch {
	case left.kinds == aNull:
		return right
	case left.kinds&(aNull|aBoolean) == 0:
		return left
	}
	left.kinds &^= aNull
	return union(left, right)
}

// mayBeConstant reports whether Vector may know the value of an expression.
func mayBeConstant(one expression) bool {
	switch one := one.(type) {
	case *call, *binary, *not:
		return false
	case *query:
		return one.root == 0
	}
	return true
}

// divided returns the value of a division. It cannot fail if the divisor is known and not 0.
func divided(by expression, left value) value {
	number, isLiteral := by.(*literal)
	switch {
	case isLiteral && (number.kind == integer || number.kind == float):
		if strings.Trim(number.text, "-0_.") == "" {
			return exactly(aFloat).failing(yes)
		}
		if len(number.text) > len("1000000000000000") {
			return exactly(aFloat).failing(maybe)
		}
		isNumber := either(left.is(anInteger), left.is(aFloat))
		return exactly(aFloat).failing(yes - isNumber)
	case mayBeConstant(by):
		return exactly(aFloat).failing(maybe)
	}
	return exactly(aFloat).failing(yes)
}

// added returns the value of a sum, a difference or a product.
func added(operator string, left, right value) value {
	fails := either(left.fails, right.fails)
	isText := either(left.is(aText), right.is(aText))
	const numbers = anInteger | aFloat
	switch {
	case operator == "+" && isText == yes:
		return exactly(aText).failing(either(fails, either(left.exceeds(aText|aNull), right.exceeds(aText|aNull))))
	case !left.isKnown || !right.isKnown:
		return value{fails: either(fails, maybe)}
	case left.kinds == aFloat || right.kinds == aFloat:
		return exactly(aFloat).failing(either(fails, either(left.exceeds(numbers), right.exceeds(numbers))))
	case left.kinds == anInteger && right.kinds == anInteger:
		return exactly(anInteger).failing(fails)
	case operator == "*" && (left.kinds == aText && right.kinds == anInteger || left.kinds == anInteger && right.kinds == aText):
		return exactly(aText).failing(fails)
	case operator == "-":
		return exactly(numbers).failing(yes)
	}
	return exactly(aText | numbers).failing(yes)
}
