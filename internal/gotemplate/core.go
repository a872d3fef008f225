// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
)

// coreFunctions returns the basic functions of the language: functions that execute templates, and functions
// that test values that may be missing.
func coreFunctions() []ownFunction {
	return []ownFunction{
		{names: "include", fn: includeFunction, missing: acceptMissing, guard: guardNothing},
		{names: "tpl", fn: tplFunction, missing: acceptMissing, guard: guardNothing},
		{names: "required", fn: requireValue, missing: acceptMissing, guard: guardNothing},
		{names: "fail", fn: fail, guard: guardNothing},
		{names: "default", fn: defaultTo, missing: acceptMissing, guard: guardNothing},
		{names: "coalesce", fn: coalesce, missing: acceptMissing, guard: guardNothing},
		{names: "ternary", fn: ternary, missing: acceptMissing, guard: guardNothing},
		{names: "dig", fn: dig, missing: asNil, guard: guardNothing},
		{names: "not", fn: func(value any) bool { return !isTrue(value) }, missing: asNil, guard: guardNothing},
		{names: "index", fn: index, guard: guardNothing},
		{names: "len", fn: lenFunction, guard: guardNothing},
		{names: "eq", fn: equal, missing: asNil, guard: guardTexts},
		{names: "ne", fn: notEqual, missing: asNil, guard: guardTexts},
		{names: "lt", fn: less, guard: guardTexts},
		{names: "le", fn: lessOrEqual, guard: guardTexts},
		{names: "gt", fn: greater, guard: guardTexts},
		{names: "ge", fn: greaterOrEqual, guard: guardTexts},
	}
}

// requireValue returns a value, or an error with the author's message if the value is null, an empty string or
// missing.
func requireValue(message string, value any) (any, error) {
	if value = valueOrNil(value); value == nil || value == "" {
		return nil, errors.New(message)
	}
	return value, nil
}

func fail(message string) (string, error) { return "", errors.New(message) }

// defaultTo returns the value if it is true as a condition of if, or else the default.
func defaultTo(otherwise any, values ...any) any {
	if len(values) == 0 || !isTrue(values[0]) {
		return otherwise
	}
	return values[0]
}

// coalesce returns the first value that is true as a condition of if. If there is none, it returns a missing value, if
// there is one, so that using the result is an error.
func coalesce(values ...any) any {
	var none any
	for _, value := range values {
		if isTrue(value) {
			return value
		}
		if missing, ok := value.(*absent); ok {
			none = missing
		}
	}
	return none
}

// ternary implements ternary: it returns the first value if the condition is true, and the second value otherwise.
func ternary(ifTrue, ifFalse any, condition bool) any {
	if condition {
		return ifTrue
	}
	return ifFalse
}

// dig returns the value at a path of keys, or the default if one of the keys does not exist.
func dig(f *frame, args ...any) (any, error) {
	if len(args) < 3 {
		return nil, errors.New("dig takes at least a key, a default and a map")
	}
	keys, otherwise, value := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	for _, key := range keys {
		name, isText := key.(string)
		tree, isMap := value.(map[string]any)
		switch {
		case !isText:
			return nil, fmt.Errorf("dig takes keys that are strings; got %s", describeType(key))
		case value == nil:
			return otherwise, nil
		case !isMap:
			return nil, fmt.Errorf("dig looks for %q in a map; got %s", shorten(name), describeType(value))
		}
		f.meter.watch.recordKey(value, name)
		item, isKey := tree[name]
		if !isKey {
			return otherwise, nil
		}
		value = item
	}
	return value, nil
}
