// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// addressed is a struct in a struct that was reached through a pointer. It stays addressable, so that methods
// of its pointer type, such as String, can be called.
type addressed struct{ reflect.Value }

// plainValue returns the value in an addressed, and all other values unchanged.
func plainValue(value any) any {
	if value, ok := value.(addressed); ok {
		return value.Interface()
	}
	return value
}

// dereference returns the target of pointers, as range does.
func dereference(value any) any {
	v := reflect.ValueOf(value)
	if _, isMissing := value.(*absent); isMissing || v.Kind() != reflect.Pointer {
		return plainValue(value)
	}
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v.Interface()
}

// elementValue returns an element of a container without the interface around it.
func elementValue(v reflect.Value) any {
	switch {
	case !v.IsValid(), v.Kind() == reflect.Interface && v.IsNil():
		return nil
	case v.Kind() == reflect.Struct && v.CanAddr():
		return addressed{v}
	}
	return v.Interface()
}

// evaluateChain evaluates .A.B, $x.A.B and (…).A.B. Only the last part may be a method with arguments. If the last key
// is missing, the result is a missing value. If an earlier key is missing, evaluateChain returns an error.
func (f *frame) evaluateChain(dot any, node parse.Node, args []parse.Node, piped any) (any, error) {
	value, name, fields, err := f.chainStart(dot, node)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && (len(args) > 0 || !isNothing(piped)) {
		return nil, fmt.Errorf("%s is not a function and takes no arguments", name)
	}
	for i, field := range fields {
		if err := f.meter.addSteps(1); err != nil {
			return nil, err
		}
		var callArgs *arguments
		if i == len(fields)-1 && (len(args) > 0 || !isNothing(piped)) {
			callArgs = &arguments{dot: dot, nodes: args, piped: piped}
		}
		// Nearly all fields are existing keys.
		if tree, ok := value.(map[string]any); ok && callArgs == nil {
			f.meter.watch.recordKey(value, field)
			if item, isKey := tree[field]; isKey {
				value = item
				continue
			}
		}
		holder := strings.Join(append([]string{name}, fields[:i]...), ".")
		lookup := &fieldLookup{frame: f, field: field, holder: nameOrDot(holder)}
		if value, err = lookup.resolve(value, callArgs); err != nil {
			return nil, f.locateError(node, err)
		}
	}
	return value, nil
}

// nameOrDot returns the name of a value for messages, which is a dot for the dot itself.
func nameOrDot(holder string) string {
	if holder == "" {
		return "."
	}
	return holder
}

// chainStart returns the first value of a chain, its name for messages, and the fields that follow it.
func (f *frame) chainStart(dot any, node parse.Node) (value any, name string, fields []string, err error) {
	switch node := node.(type) {
	case *parse.FieldNode:
		return dot, "", node.Ident, nil
	case *parse.VariableNode:
		variable, err := f.variable(node.Ident[0])
		if err != nil {
			return nil, "", nil, err
		}
		return variable.value, node.Ident[0], node.Ident[1:], nil
	case *parse.ChainNode:
		value, err := f.operandValue(dot, node.Node)
		return value, shorten(node.Node.String()), node.Field, err
	}
	return nil, "", nil, fmt.Errorf("%s has no value", shorten(node.String()))
}

// fieldLookup is the lookup of one field in a chain: the name of the field, and the name of the value that
// contains the field.
type fieldLookup struct {
	frame  *frame
	field  string
	holder string
}

// arguments are the arguments that a template passes to a function or method.
type arguments struct {
	dot   any
	nodes []parse.Node
	piped any
}

var errNotAMethod = errors.New("only methods take arguments")

// resolve returns the field of a value, or the result of the method with its name. callArgs is nil without arguments.
func (p *fieldLookup) resolve(value any, callArgs *arguments) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		if callArgs != nil {
			return nil, fmt.Errorf("field %s.%s has arguments: %w", p.holder, p.field, errNotAMethod)
		}
		if item, ok := value[p.field]; ok {
			return item, nil
		}
		return &absent{holder: p.holder, container: value, key: p.field, watch: &p.frame.meter.watch}, nil
	case *absent:
		return nil, value.asError()
	case nil:
		return nil, withHint(fmt.Errorf("%s is null and has no key %q", p.holder, p.field), optionalHint)
	case addressed:
		return p.resolveReflected(value.Value, callArgs)
	}
	return p.resolveReflected(reflect.ValueOf(value), callArgs)
}

// resolveReflected looks up a field in a value of a type that decoded YAML does not have. Methods come first,
// then the fields of structs and the keys of maps.
func (p *fieldLookup) resolveReflected(v reflect.Value, callArgs *arguments) (any, error) {
	if called, receiver := p.frame.run.set.methods.lookup(v, p.field); called != nil {
		if callArgs == nil {
			callArgs = &arguments{piped: nothing{}}
		}
		return p.frame.applyFunction(called, receiver, nil, callArgs)
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		field, ok := v.Type().FieldByName(p.field)
		if !ok || !field.IsExported() {
			return nil, (&absent{holder: p.holder, container: v.Interface(), key: p.field}).asError()
		}
		fieldValue, err := v.FieldByIndexErr(field.Index)
		if err != nil || callArgs != nil {
			return nil, errors.Join(err, errNotAMethod)
		}
		return elementValue(fieldValue), nil
	case reflect.Map:
		key := reflect.ValueOf(p.field)
		if callArgs != nil || !key.Type().ConvertibleTo(v.Type().Key()) || v.Type().Key().Kind() != reflect.String {
			break
		}
		if item := v.MapIndex(key.Convert(v.Type().Key())); item.IsValid() {
			return elementValue(item), nil
		}
		return &absent{holder: p.holder, container: v.Interface(), key: p.field}, nil
	}
	return nil, fmt.Errorf("%s is %s, not a map, and has no key %q", p.holder, describeType(v.Interface()), p.field)
}

// describeType returns the name of a value's type in the terms of YAML.
func describeType(value any) string {
	switch reflect.ValueOf(value).Kind() {
	case reflect.Invalid:
		return "null"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Map, reflect.Struct:
		return "a map"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return "a number"
	}
	return fmt.Sprintf("a %T", value)
}
