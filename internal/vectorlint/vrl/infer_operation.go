// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "strings"

// inferBinary infers an operation with two operands.
func (c *checker) inferBinary(node *binary, env *state) value {
	left := c.infer(node.left, env)
	switch node.operator {
	case "??", "||", "&&":
		// The right side may not be evaluated.
		branch := env.child()
		right := c.infer(node.right, branch)
		env.forgetBranch(branch)
		return c.inferChoice(node, left, right)
	}
	right := c.infer(node.right, env)
	fails := maxChance(left.fails, right.fails)
	switch node.operator {
	case "|":
		return c.mergeObjects(left, right, node.span)
	case "==", "!=":
		return valueOfKinds(aBoolean).withFails(fails)
	case "<", "<=", ">", ">=":
		if left.isExactly(aText)&right.isExactly(aText) == always || left.isExactly(aTime)&right.isExactly(aTime) == always {
			return valueOfKinds(aBoolean).withFails(fails)
		}
		ofNumbers := maxChance(left.canExceed(anInteger|aFloat), right.canExceed(anInteger|aFloat))
		if ofNumbers == always && maxChance(minChance(left.isExactly(aText), right.isExactly(aText)), minChance(left.isExactly(aTime), right.isExactly(aTime))) == maybe {
			ofNumbers = maybe
		}
		return valueOfKinds(aBoolean).withFails(maxChance(fails, ofNumbers))
	case "/":
		return inferDivision(node.right, left)
	}
	return inferArithmetic(node.operator, left, right)
}

// inferChoice infers the operators ??, || and &&, which evaluate the right side only for some values of the
// left side.
func (c *checker) inferChoice(node *binary, left, right value) value {
	if node.operator == "??" {
		if left.fails == never {
			c.add(Error, node.operated, "the expression before ?? never fails", "remove ?? and the expression after it; use || for a value that may be null")
		}
		c.isUnsure = c.isUnsure || left.fails == maybe
		return unionOfValues(left, right).withFails(minChance(left.fails, right.fails))
	}
	if mayBeConstant(node.left) || !left.isKnown {
		v := value{fails: maxChance(minChance(left.fails, maybe), minChance(right.fails, maybe))}
		if node.operator == "&&" {
			return valueOfKinds(aBoolean).withFails(maxChance(v.fails, minChance(maybe, maxChance(left.canExceed(aNull|aBoolean), right.canExceed(aNull|aBoolean)))))
		}
		return v
	}
	if node.operator == "&&" {
		if left.kinds == aNull {
			return valueOfKinds(aBoolean)
		}
		return valueOfKinds(aBoolean).withFails(maxChance(maxChance(left.fails, left.canExceed(aNull|aBoolean)), maxChance(right.fails, right.canExceed(aNull|aBoolean))))
	}
	switch {
	case left.kinds == aNull:
		return right
	case left.kinds&(aNull|aBoolean) == 0:
		return left
	}
	left.kinds &^= aNull
	return unionOfValues(left, right)
}

// mayBeConstant reports whether Vector may compute the value of an expression when it compiles the program.
func mayBeConstant(expr expression) bool {
	switch expr := expr.(type) {
	case *call, *binary, *negation:
		return false
	case *query:
		return expr.root == 0
	}
	return true
}

// inferDivision infers a division. It cannot fail if the dividend is a number and the divisor is a literal
// other than 0.
func inferDivision(divisor expression, dividend value) value {
	number, isLiteral := divisor.(*literal)
	switch {
	case isLiteral && (number.kind == integer || number.kind == float):
		if strings.Trim(number.text, "-0_.") == "" {
			return valueOfKinds(aFloat).withFails(always)
		}
		if len(number.text) > len("1000000000000000") {
			return valueOfKinds(aFloat).withFails(maybe)
		}
		isNumber := maxChance(dividend.isExactly(anInteger), dividend.isExactly(aFloat))
		return valueOfKinds(aFloat).withFails(always - isNumber)
	case mayBeConstant(divisor):
		return valueOfKinds(aFloat).withFails(maybe)
	}
	return valueOfKinds(aFloat).withFails(always)
}

// inferArithmetic infers the kinds of a sum, a difference or a product, and whether it can fail, from its operands.
func inferArithmetic(operator string, left, right value) value {
	fails := maxChance(left.fails, right.fails)
	isText := maxChance(left.isExactly(aText), right.isExactly(aText))
	const numbers = anInteger | aFloat
	switch {
	case operator == "+" && isText == always:
		return valueOfKinds(aText).withFails(maxChance(fails, maxChance(left.canExceed(aText|aNull), right.canExceed(aText|aNull))))
	case !left.isKnown || !right.isKnown:
		return value{fails: maxChance(fails, maybe)}
	case left.kinds == aFloat || right.kinds == aFloat:
		return valueOfKinds(aFloat).withFails(maxChance(fails, maxChance(left.canExceed(numbers), right.canExceed(numbers))))
	case left.kinds == anInteger && right.kinds == anInteger:
		return valueOfKinds(anInteger).withFails(fails)
	case operator == "*" && (left.kinds == aText && right.kinds == anInteger || left.kinds == anInteger && right.kinds == aText):
		return valueOfKinds(aText).withFails(fails)
	case operator == "-":
		return valueOfKinds(numbers).withFails(always)
	}
	return valueOfKinds(aText | numbers).withFails(always)
}
