// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import "strings"

// kinds are the possible kinds of a value, one bit each.
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

// letters are the letters of the kinds in the table, in the order of the bits.
const letters = "sifboatrn"

// nouns are the names of the kinds in messages.
var nouns = []string{"a text", "a whole number", "a number", "a boolean", "an object", "an array", "a time", "a regular expression", "null"}

func kindsOf(text string) kinds {
	if text == "*" {
		return anything
	}
	var all kinds
	for _, letter := range text {
		if at := strings.IndexRune(letters, letter); at >= 0 {
			all |= 1 << at
		}
	}
	return all
}

func (k kinds) isWithin(other kinds) bool { return k&^other == 0 }

func (k kinds) String() string {
	if k == anything {
		return "anything"
	}
	var all []string
	for i, noun := range nouns {
		if k&(1<<i) != 0 {
			all = append(all, noun)
		}
	}
	return strings.Join(all, " or ")
}

// chance is the known probability of an event: no, maybe or yes.
type chance uint8

const (
	no chance = iota
	maybe
	yes
)

// either is the chance that one or the other happens, both the chance that both happen.
func either(a, b chance) chance { return max(a, b) }
func both(a, b chance) chance   { return min(a, b) }

// when returns the chance of an event that is known to happen or not.
func when(is bool) chance {
	if is {
		return yes
	}
	return no
}

// value is the known part of the value of an expression.
type value struct {
	// kinds are exactly the kinds that Vector infers, if isKnown.
	kinds   kinds
	isKnown bool
	// fails is the chance that Vector treats the expression as fallible.
	fails chance
}

func exactly(k kinds) value { return value{kinds: k, isKnown: true} }

func (v value) failing(fails chance) value {
	v.fails = fails
	return v
}

// exceeds returns the chance that a value has other kinds than these.
func (v value) exceeds(k kinds) chance {
	if !v.isKnown {
		return maybe
	}
	return when(!v.kinds.isWithin(k))
}

// is returns the chance that a value has these kinds and nothing else.
func (v value) is(k kinds) chance {
	if !v.isKnown {
		return maybe
	}
	return when(v.kinds == k)
}

// union returns the value of an expression that is one of two values.
func union(a, b value) value {
	return value{a.kinds | b.kinds, a.isKnown && b.isKnown, either(a.fails, b.fails)}
}
