// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"reflect"
	"strings"
)

// Where a value lies in memory is another place in every process, so a text with an
// address in it is another one, too. No function gives one.

const (
	// plainVerb is what everything but printf prints by.
	plainVerb = 'v'
	// addressHint says what to do instead.
	addressHint = "print its fields, or the value with toJson"
)

// refusedVerb finds what printf may not be asked for, whatever it is given.
func refusedVerb(flags string, verb rune) error {
	switch {
	case verb == 'p':
		return withHint(fmt.Errorf("printf's %%%sp prints an address, so that two renderings differ", flags), "leave it out")
	case verb == 'v' && strings.ContainsRune(flags, '#'):
		return withHint(fmt.Errorf("printf's %%%sv prints addresses and Go's names of types, so that two renderings differ", flags), "use %q for a text, and toJson for all else")
	}
	return nil
}

// requireNoAddress refuses arguments that are about to be printed, one by one or as
// items of a list, if an address would be in the text.
func requireNoAddress(args []any) error {
	for _, arg := range args {
		if showsAddress(reflect.ValueOf(arg), plainVerb, 0) {
			return addressError(arg, plainVerb)
		}
	}
	return nil
}

func addressError(value any, verb rune) error {
	with := ""
	if verb != plainVerb {
		with = fmt.Sprintf(" with %%%c", verb)
	}
	return withHint(fmt.Errorf("printing %s%s would print an address, so that two renderings differ", describeType(value), with), addressHint)
}

// showsAddress reports whether fmt prints an address with a verb: that of a pointer
// which has no text of its own, unless the pointer is the argument itself and leads to
// something that fmt prints in its place. Numbers' verbs show that of every pointer in
// some place. The value has been measured, and does not contain itself.
func showsAddress(v reflect.Value, verb rune, depth int) bool {
	if !v.IsValid() || hasText(v, verb) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		switch {
		case v.IsNil():
			return false
		case depth > 0 || strings.ContainsRune("bcdoOUxX", verb):
			return true
		}
		switch v.Elem().Kind() {
		case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
			return showsAddress(v.Elem(), verb, depth+1)
		}
		return true
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return !v.IsNil()
	}
	return holdsAddress(v, verb, depth+1)
}

// holdsAddress is showsAddress of what a value holds.
func holdsAddress(v reflect.Value, verb rune, depth int) bool {
	switch v.Kind() {
	case reflect.Interface:
		return showsAddress(v.Elem(), verb, depth)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if showsAddress(v.Index(i), verb, depth) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if showsAddress(v.Field(i), verb, depth) {
				return true
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if showsAddress(entries.Key(), verb, depth) || showsAddress(entries.Value(), verb, depth) {
				return true
			}
		}
	}
	return false
}

// hasText reports whether fmt prints a value by its own method.
func hasText(v reflect.Value, verb rune) bool {
	if !v.CanInterface() {
		return false
	}
	typ := v.Type()
	isTexts := strings.ContainsRune("vsqxX", verb) && (typ.Implements(reflect.TypeFor[error]()) || typ.Implements(reflect.TypeFor[fmt.Stringer]()))
	return isTexts || typ.Implements(reflect.TypeFor[fmt.Formatter]())
}

// watched stands for an argument of printf. It prints nothing, and notes the first
// verb by which fmt would print an address of it.
type watched struct {
	value any
	found *rune
}

// Format is what fmt calls for a verb that takes this argument.
func (w watched) Format(_ fmt.State, verb rune) {
	if *w.found == 0 && showsAddress(reflect.ValueOf(w.value), verb, 0) {
		*w.found = verb
	}
}

// requireNoAddressIn refuses what printf is about to print. Which verb takes which
// argument is fmt's to say.
func requireNoAddressIn(format string, values []any) error {
	found := make([]rune, len(values))
	stands := make([]any, len(values))
	for i, value := range values {
		if stands[i] = value; mayShowAddress(value) {
			stands[i] = watched{value, &found[i]}
		}
	}
	_ = fmt.Sprintf(format, stands...)
	for i, verb := range found {
		if verb != 0 {
			return addressError(values[i], verb)
		}
	}
	return nil
}

// mayShowAddress is false of what widths and precisions are given as.
func mayShowAddress(value any) bool {
	switch reflect.ValueOf(value).Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	}
	return false
}
