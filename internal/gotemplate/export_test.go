// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"context"
	"reflect"
)

// ExecuteCharged is like Execute, and also returns the memory that the meter charged, in bytes.
func ExecuteCharged(ctx context.Context, s *Set, name string, data map[string]any) (string, int, error) {
	r := &run{set: s, meter: newMeter(ctx, s.budget)}
	text, err := r.execute(s.scope.definitions[name], data)
	return text, r.meter.memory, err
}

// Callable returns the names of the methods that templates can call, by the type of the receiver
// without a pointer.
func Callable() map[reflect.Type][]string {
	callable := map[reflect.Type][]string{}
	for method := range newMethods(nil) {
		receiver := method.receiver
		if receiver.Kind() == reflect.Pointer {
			receiver = receiver.Elem()
		}
		callable[receiver] = append(callable[receiver], method.name)
	}
	return callable
}

// Results returns the result types of functions and methods, by name.
func Results() map[string]reflect.Type {
	results := map[string]reflect.Type{}
	for name, called := range newFunctions() {
		if called.fn.IsValid() {
			results[name] = called.fn.Type().Out(0)
		}
	}
	for method, called := range newMethods(nil) {
		results[method.receiver.String()+"."+method.name] = called.fn.Type().Out(0)
	}
	return results
}
