// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// class is a group of types with values that can be compared with each other. Integers of any size and sign are in one
// class.
type class int

const (
	otherClass class = iota
	null
	boolean
	integer
	float
	text
)

// classify returns the class of a value.
func classify(v reflect.Value) class {
	switch {
	case !v.IsValid():
		return null
	case v.Kind() == reflect.Bool:
		return boolean
	case v.CanInt(), v.CanUint():
		return integer
	case v.CanFloat():
		return float
	case v.Kind() == reflect.String:
		return text
	}
	return otherClass
}

// equal reports whether the first argument is equal to at least one of the other arguments.
func equal(value any, candidates ...any) (bool, error) {
	if len(candidates) == 0 {
		return false, errors.New("eq takes at least two arguments")
	}
	for _, second := range candidates {
		isEqual, err := equalTwo(reflect.ValueOf(value), reflect.ValueOf(second))
		if isEqual || err != nil {
			return isEqual, err
		}
	}
	return false, nil
}

// equalTwo reports whether two values are equal. null equals null values of all types. It returns an error for values
// that cannot be compared.
func equalTwo(a, b reflect.Value) (bool, error) {
	x, y := classify(a), classify(b)
	switch {
	case x == null || y == null:
		return isNull(a) && isNull(b), nil
	case x != y:
		return false, fmt.Errorf("incompatible types for comparison: %s and %s", a.Type(), b.Type())
	case x == boolean:
		return a.Bool() == b.Bool(), nil
	case x != otherClass:
		return compare(a, b, x) == 0, nil
	case isNull(a) || isNull(b):
		return isNull(a) && isNull(b), nil
	case !a.Comparable() || !b.Comparable():
		return false, withHint(fmt.Errorf("%s cannot be compared by eq", describeType(a.Interface())), "use deepEqual")
	}
	return a.Interface() == b.Interface(), nil
}

// isNull reports whether a value is null: nil, or a nil map, list, pointer or interface.
func isNull(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Slice, reflect.Pointer, reflect.Interface:
		return v.IsNil()
	}
	return false
}

// compare compares two values of the same class, which must have an order. The result is negative, 0 or positive.
func compare(a, b reflect.Value, valueClass class) int {
	switch valueClass {
	case text:
		return cmp.Compare(a.String(), b.String())
	case float:
		return compareFloats(a.Float(), b.Float())
	}
	switch {
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanInt():
		return -compare(b, a, valueClass)
	case b.Int() < 0:
		return 1
	}
	return cmp.Compare(a.Uint(), uint64(b.Int())) //nolint:gosec // it is not negative
}

// compareFloats compares two floats. NaN is not equal to any float, not even to itself.
func compareFloats(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return 1
	}
	return cmp.Compare(a, b)
}

// notEqual implements ne.
func notEqual(a, b any) (bool, error) {
	isEqual, err := equal(a, b)
	return !isEqual, err
}

// orderValues compares two values for the functions lt, le, gt and ge. The result is negative, 0 or positive. It
// returns an error for values without an order.
func orderValues(a, b any) (int, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	valueClass := classify(x)
	switch {
	case valueClass != classify(y):
		return 0, fmt.Errorf("incompatible types for comparison: %s and %s", describeType(a), describeType(b))
	case valueClass != integer && valueClass != float && valueClass != text:
		return 0, fmt.Errorf("lt, le, gt and ge cannot compare %s", describeType(a))
	}
	return compare(x, y, valueClass), nil
}

// less implements lt.
func less(a, b any) (bool, error) {
	n, err := orderValues(a, b)
	return n < 0, err
}

// lessOrEqual implements le.
func lessOrEqual(a, b any) (bool, error) {
	n, err := orderValues(a, b)
	return n <= 0, err
}

// greater implements gt.
func greater(a, b any) (bool, error) {
	n, err := orderValues(a, b)
	return err == nil && n > 0, err
}

// greaterOrEqual implements ge.
func greaterOrEqual(a, b any) (bool, error) {
	n, err := orderValues(a, b)
	return err == nil && n >= 0, err
}
