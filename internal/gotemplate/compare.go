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

// class groups kinds that can be compared: integers of any size and sign with each other, and all other kinds with
// themselves.
type class int

const (
	other class = iota
	null
	boolean
	integer
	float
	text
)

func classOf(v reflect.Value) class {
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
	return other
}

// equal reports whether the first argument equals any of the others.
func equal(first any, rest ...any) (bool, error) {
	if len(rest) == 0 {
		return false, errors.New("eq takes at least two arguments")
	}
	for _, second := range rest {
		same, err := equalTwo(reflect.ValueOf(first), reflect.ValueOf(second))
		if same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func equalTwo(a, b reflect.Value) (bool, error) {
	x, y := classOf(a), classOf(b)
	switch {
	case x == null || y == null:
		return isNull(a) && isNull(b), nil
	case x != y:
		return false, fmt.Errorf("incompatible types for comparison: %s and %s", a.Type(), b.Type())
	case x == boolean:
		return a.Bool() == b.Bool(), nil
	case x != other:
		return compare(a, b, x) == 0, nil
	case isNull(a) || isNull(b):
		return isNull(a) && isNull(b), nil
	case !a.Comparable() || !b.Comparable():
		return false, withHint(fmt.Errorf("%s cannot be compared by eq", describeType(a.Interface())), "use deepEqual")
	}
	return a.Interface() == b.Interface(), nil
}

func isNull(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Slice, reflect.Pointer, reflect.Interface:
		return v.IsNil()
	}
	return false
}

// compare orders two values of a class that has an order.
func compare(a, b reflect.Value, of class) int {
	switch of {
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
		return -compare(b, a, of)
	case b.Int() < 0:
		return 1
	}
	return cmp.Compare(a.Uint(), uint64(b.Int())) //nolint:gosec // it is not negative
}

// compareFloats treats NaN as unequal to everything, including itself.
func compareFloats(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return 1
	}
	return cmp.Compare(a, b)
}

func notEqual(a, b any) (bool, error) {
	same, err := equal(a, b)
	return !same, err
}

// order compares two values for lt, le, gt and ge.
func order(a, b any) (int, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	of := classOf(x)
	switch {
	case of != classOf(y):
		return 0, fmt.Errorf("incompatible types for comparison: %s and %s", describeType(a), describeType(b))
	case of != integer && of != float && of != text:
		return 0, fmt.Errorf("%s has no order", describeType(a))
	}
	return compare(x, y, of), nil
}

func less(a, b any) (bool, error) {
	n, err := order(a, b)
	return n < 0, err
}

func lessOrEqual(a, b any) (bool, error) {
	n, err := order(a, b)
	return n <= 0, err
}

func greater(a, b any) (bool, error) {
	n, err := order(a, b)
	return err == nil && n > 0, err
}

func greaterOrEqual(a, b any) (bool, error) {
	n, err := order(a, b)
	return err == nil && n >= 0, err
}
