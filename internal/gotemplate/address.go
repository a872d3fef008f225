// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
	"strings"
)

// The memory address of a value differs between processes, so a text with an address would change at each
// restart. The functions of this package therefore never print an address.

const (
	// plainVerb is the printing verb of all functions except printf.
	plainVerb = 'v'
	// addressHint is the hint of errors about addresses.
	addressHint = "print its fields, or the value with toJson"
)

// verbError returns an error for a verb that printf rejects for every argument.
func verbError(flags string, verb rune) error {
	switch {
	case verb == 'p':
		return withHint(fmt.Errorf("printf's %%%sp prints an address, which differs in each rendering", flags), "remove the verb")
	case verb == 'v' && strings.ContainsRune(flags, '#'):
		return withHint(fmt.Errorf("printf's %%%sv prints addresses and names of Go types, which differ in each rendering", flags), "use %q for a string, and toJson for other values")
	}
	return nil
}

// requireNoAddress returns an error if the printed arguments, or the items of a list argument,
// would contain an address.
func requireNoAddress(args []any) error {
	for _, arg := range args {
		if showsAddress(reflect.ValueOf(arg), plainVerb, 0) {
			return addressError(arg, plainVerb)
		}
	}
	return nil
}

func addressError(value any, verb rune) error {
	suffix := ""
	if verb != plainVerb {
		suffix = fmt.Sprintf(" with %%%c", verb)
	}
	return withHint(fmt.Errorf("printing %s%s would print an address, which differs in each rendering", describeType(value), suffix), addressHint)
}

// showsAddress reports whether fmt prints a memory address if it prints a value with a verb. fmt prints the address of
// a pointer without a text method, except for the argument itself if its target is a struct, list or map. Verbs for
// numbers print the address of every pointer. The value must have been measured, so that it does not contain itself.
func showsAddress(v reflect.Value, verb rune, depth int) bool {
	if !v.IsValid() || hasTextMethod(v, verb) {
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
	return contentShowsAddress(v, verb, depth+1)
}

// contentShowsAddress reports whether fmt prints an address if it prints the items, keys or fields of a value.
func contentShowsAddress(v reflect.Value, verb rune, depth int) bool {
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

// hasTextMethod reports whether fmt prints a value with a method of the value.
func hasTextMethod(v reflect.Value, verb rune) bool {
	if !v.CanInterface() {
		return false
	}
	typ := v.Type()
	isTexts := strings.ContainsRune("vsqxX", verb) && (typ.Implements(reflect.TypeFor[error]()) || typ.Implements(reflect.TypeFor[fmt.Stringer]()))
	return isTexts || typ.Implements(reflect.TypeFor[fmt.Formatter]())
}

// watched replaces an argument of printf to find verbs that print an address. It prints nothing, and records the first
// verb with which fmt would print an address of the argument.
type watched struct {
	value       any
	addressVerb *rune
}

// Format implements fmt.Formatter.
func (w watched) Format(_ fmt.State, verb rune) {
	if *w.addressVerb == 0 && showsAddress(reflect.ValueOf(w.value), verb, 0) {
		*w.addressVerb = verb
	}
}

// requireNoAddressIn returns an error if printf would print an address with a format and arguments. To find the verb of
// each argument, it formats them once with fmt.
func requireNoAddressIn(format string, values []any) error {
	addressVerbs := make([]rune, len(values))
	substitutes := make([]any, len(values))
	for i, value := range values {
		if substitutes[i] = value; mayShowAddress(value) {
			substitutes[i] = watched{value, &addressVerbs[i]}
		}
	}
	_ = fmt.Sprintf(format, substitutes...)
	for i, verb := range addressVerbs {
		if verb != 0 {
			return addressError(values[i], verb)
		}
	}
	return nil
}

// mayShowAddress reports whether a value may contain an address. It returns false for numbers, because printf
// needs them as widths and precisions.
func mayShowAddress(value any) bool {
	switch reflect.ValueOf(value).Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	}
	return false
}
