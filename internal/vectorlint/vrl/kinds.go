// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "strings"

// kinds is a set of kinds that a value may have, as bits.
type kinds uint16

const (
	aText kinds = 1 << iota
	anInteger
	aFloat
	aBoolean
	anObject
	anArray
	aTime
	aRegex
	aNull
	// aMissing is the kind of a field that may not exist.
	aMissing
	anything = aMissing<<1 - 1
)

// letters are the letters that stand for the kinds in the table, in the order of the bits.
const letters = "sifboatrn"

// nouns are the names of the kinds in messages, in the order of the bits.
var nouns = []string{"a string", "a whole number", "a number", "a boolean", "an object", "an array", "a time", "a regular expression", "null"}

// parseKinds returns the set of kinds that letters stand for. The letter * stands for all kinds.
func parseKinds(text string) kinds {
	if text == "*" {
		return anything
	}
	var set kinds
	for _, letter := range text {
		if i := strings.IndexRune(letters, letter); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// isWithin reports whether all kinds are also in the other set.
func (k kinds) isWithin(other kinds) bool { return k&^other == 0 }

func (k kinds) String() string {
	if k == anything {
		return "anything"
	}
	var names []string
	for i, noun := range nouns {
		if k&(1<<i) != 0 {
			names = append(names, noun)
		}
	}
	return strings.Join(names, " or ")
}

// chance is the known probability of an event.
type chance uint8

const (
	never chance = iota
	maybe
	always
)

// maxChance returns the chance that at least one of two events happens. minChance returns the chance that both
// happen.
func maxChance(a, b chance) chance { return max(a, b) }

// minChance returns the lower of two chances.
func minChance(a, b chance) chance { return min(a, b) }

// toChance returns always for true and never for false.
func toChance(condition bool) chance {
	if condition {
		return always
	}
	return never
}

// value describes the possible results of an expression: the kinds of the result, and the chance that the expression
// fails.
type value struct {
	// kinds are exactly the kinds that Vector infers for the value. They are valid only if isKnown is true.
	kinds   kinds
	isKnown bool
	// fails is the chance that Vector treats the expression as an expression that can fail.
	fails chance
}

// valueOfKinds returns a value with known kinds.
func valueOfKinds(k kinds) value { return value{kinds: k, isKnown: true} }

// withFails returns a copy of the value with another chance to fail.
func (v value) withFails(fails chance) value {
	v.fails = fails
	return v
}

// canExceed returns the chance that a value may have a kind outside of a set.
func (v value) canExceed(k kinds) chance {
	if !v.isKnown {
		return maybe
	}
	return toChance(!v.kinds.isWithin(k))
}

// isExactly returns the chance that the kinds of a value are equal to a set.
func (v value) isExactly(k kinds) chance {
	if !v.isKnown {
		return maybe
	}
	return toChance(v.kinds == k)
}

// unionOfValues returns the description of an expression that has one of two values.
func unionOfValues(a, b value) value {
	return value{a.kinds | b.kinds, a.isKnown && b.isKnown, maxChance(a.fails, b.fails)}
}
