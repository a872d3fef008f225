// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
)

// convertArguments returns the arguments for the Go call of the function. If the function is bound, the bound
// argument comes first.
func (called *function) convertArguments(boundArg reflect.Value, values []any) ([]reflect.Value, error) {
	args := make([]reflect.Value, 0, len(values)+1)
	if called.bound {
		args = append(args, boundArg)
	}
	for i, value := range values {
		converted, err := convertValue(value, called.parameterType(i))
		if err != nil {
			return nil, fmt.Errorf("calling %s: argument %d: %w", called.name, i+1, err)
		}
		args = append(args, converted)
	}
	return args, nil
}

// convertValue converts a value to the type of a parameter, by the rules of text/template.
func convertValue(value any, typ reflect.Type) (reflect.Value, error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil && canBeNil(typ):
		return reflect.Zero(typ), nil
	case value == nil:
		return v, withHint(fmt.Errorf("got null; expected %s", typ), optionalHint)
	case v.Type().AssignableTo(typ):
		return v, nil
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().AssignableTo(typ):
		return v.Elem(), nil
	}
	if missing, ok := value.(*absent); ok {
		return v, missing.asError()
	}
	return v, fmt.Errorf("wrong type for value; expected %s; got %s", typ, v.Type())
}

func canBeNil(typ reflect.Type) bool {
	switch typ.Kind() {
	case reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.Func, reflect.Chan:
		return true
	}
	return false
}

// invoke calls the Go function. It converts a panic to an error.
func (called *function) invoke(args []reflect.Value, values []any) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = called.panicError(cause, values)
		}
	}()
	results := called.fn.Call(args)
	if len(results) == 2 && !results[1].IsNil() {
		err, _ = results[1].Interface().(error)
		if !called.isOwn {
			err = fmt.Errorf("calling %s: %w", called.name, err)
		}
		return nil, err
	}
	return results[0].Interface(), nil
}

// panicError returns the error for a panic in the function. Most panics are caused by a null argument.
func (called *function) panicError(cause any, values []any) error {
	for i, value := range values {
		if value == nil {
			return withHint(fmt.Errorf("calling %s: argument %d is null", called.name, i+1), optionalHint)
		}
	}
	if err, ok := cause.(error); ok {
		return fmt.Errorf("calling %s: %w", called.name, err)
	}
	return fmt.Errorf("calling %s: %v", called.name, cause)
}
