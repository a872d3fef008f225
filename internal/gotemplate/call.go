// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"
)

// function is a function that a template can call.
type function struct {
	name string
	// fn is a function with any signature that text/template allows. If bound is true, its first parameter is
	// not an argument of the template: the frame of the caller, or the receiver of a method.
	fn    reflect.Value
	bound bool
	// missing defines what happens if an argument is a missing value.
	missing missingRule
	// guard charges the meter before the function is called. nil stands for guardDeep.
	guard guard
	// isOwn is true if errors of the function are returned without the prefix "calling NAME".
	isOwn bool
}

type missingRule int

const (
	// refuseMissing makes a missing argument an error.
	refuseMissing missingRule = iota
	// asNil passes a missing argument as nil.
	asNil
	// acceptMissing passes a missing value unchanged, to a function that handles missing values itself.
	acceptMissing
)

// guard charges the meter for a call with the given arguments, before the call is made.
type guard func(m *meter, args []any) error

// callFunction evaluates the call of a function by its name.
func (f *frame) callFunction(dot any, node parse.Node, name *parse.IdentifierNode, args []parse.Node, piped any) (any, error) {
	callArgs := &arguments{dot: dot, nodes: args, piped: piped}
	if name.Ident == "and" || name.Ident == "or" {
		return f.shortCircuit(name.Ident == "or", callArgs)
	}
	called := f.run.set.functions[name.Ident]
	if called == nil {
		return nil, fmt.Errorf("unknown function %q", name.Ident)
	}
	value, err := f.applyFunction(called, reflect.Value{}, node, callArgs)
	return value, f.locateError(node, err)
}

// shortCircuit evaluates and, and or. It returns the first argument that decides the result, or else the last
// argument.
func (f *frame) shortCircuit(stopOn bool, callArgs *arguments) (any, error) {
	var value any
	if len(callArgs.nodes) == 0 && isNothing(callArgs.piped) {
		return nil, errors.New("the functions \"and\" and \"or\" need at least one argument")
	}
	for _, node := range callArgs.nodes {
		err := f.meter.addSteps(1)
		if err == nil {
			value, err = f.evaluateArgument(callArgs.dot, node, reflect.TypeFor[any]())
		}
		if err != nil {
			return nil, err
		}
		if isTrue(value) == stopOn {
			return value, nil
		}
	}
	if !isNothing(callArgs.piped) {
		value = callArgs.piped
	}
	return value, nil
}

// applyFunction evaluates the arguments of a function or method, adds the cost of the call to the budget, and calls it.
// The first argument of a function is the frame. For a method, it is the receiver, and its size also counts.
func (f *frame) applyFunction(called *function, receiver reflect.Value, node parse.Node, callArgs *arguments) (any, error) {
	values, err := f.evaluateArguments(called, node, callArgs)
	if err != nil {
		return nil, err
	}
	firstArg, costly := reflect.ValueOf(f), values
	if receiver.IsValid() {
		firstArg, costly = receiver, append([]any{addressed{receiver}}, values...)
	}
	if err := f.chargeCall(called, costly); err != nil {
		return nil, err
	}
	args, err := called.convertArguments(firstArg, values)
	if err != nil {
		return nil, err
	}
	f.calling = node // The function include needs the node for errors.
	result, err := called.invoke(args, values)
	if err != nil {
		return nil, err
	}
	return result, f.chargeResult(result)
}

// evaluateArguments returns the values of the arguments. It returns an error if their number is wrong.
func (f *frame) evaluateArguments(called *function, node parse.Node, callArgs *arguments) ([]any, error) {
	count := len(callArgs.nodes)
	if !isNothing(callArgs.piped) {
		count++
	}
	if err := called.checkArgumentCount(count); err != nil {
		return nil, err
	}
	values := make([]any, 0, count)
	for i, arg := range callArgs.nodes {
		value, err := f.evaluateArgument(callArgs.dot, arg, called.parameterType(i))
		if err == nil {
			value, err = called.admitArgument(value)
		}
		if err != nil {
			return nil, f.locateError(arg, err)
		}
		values = append(values, value)
	}
	if isNothing(callArgs.piped) {
		return values, nil
	}
	value, err := called.admitArgument(callArgs.piped)
	return append(values, value), f.locateError(node, err)
}

// admitArgument returns the value to pass for an argument, by the function's rule for missing values.
func (called *function) admitArgument(value any) (any, error) {
	switch called.missing {
	case refuseMissing:
		if err := requirePresent(value); err != nil {
			return nil, err
		}
	case asNil:
		value = valueOrNil(value)
	}
	return plainValue(value), nil
}

// hiddenParameters returns the number of the Go function's first parameters that the template does not pass: 1 if the
// function is bound, and 0 otherwise.
func (called *function) hiddenParameters() int {
	if called.bound {
		return 1
	}
	return 0
}

// checkArgumentCount returns an error if the number of arguments is wrong.
func (called *function) checkArgumentCount(count int) error {
	typ := called.fn.Type()
	expected := typ.NumIn() - called.hiddenParameters()
	if typ.IsVariadic() && count < expected-1 {
		return fmt.Errorf("wrong number of arguments for function %s: want at least %d, got %d", called.name, expected-1, count)
	}
	if !typ.IsVariadic() && count != expected {
		return fmt.Errorf("wrong number of arguments for function %s: want %d, got %d", called.name, expected, count)
	}
	return nil
}

// parameterType returns the type of the n-th argument of the template.
func (called *function) parameterType(n int) reflect.Type {
	typ := called.fn.Type()
	n += called.hiddenParameters()
	if typ.IsVariadic() && n >= typ.NumIn()-1 {
		return typ.In(typ.NumIn() - 1).Elem()
	}
	return typ.In(n)
}

// callBytes is the maximum number of bytes that a call allocates in addition to its result.
const callBytes = 256

// chargeCall charges one step and the memory for a call of a function, and calls the function's guard.
func (f *frame) chargeCall(called *function, args []any) error {
	if err := f.meter.addSteps(1); err != nil {
		return err
	}
	if err := f.meter.allocate(callBytes + 16*len(args)); err != nil {
		return err
	}
	if called.guard == nil {
		return guardDeep(f.meter, args)
	}
	return called.guard(f.meter, args)
}

// chargeResult returns an error if a result is too large. It does not charge for the content of a container, which
// existed before the call.
func (f *frame) chargeResult(result any) error {
	switch result := result.(type) {
	case nil, bool, int, int64, float64:
		return nil
	case string:
		return f.meter.checkTextSize(len(result))
	}
	v := reflect.ValueOf(result)
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		if v.Len() > f.meter.budget.Nodes && v.Type().Elem().Kind() != reflect.Uint8 {
			return f.meter.allocatePieces(v.Len(), 0)
		}
	}
	return nil
}
