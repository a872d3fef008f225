// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// executeRange executes range over a list, a map or a number. Maps are iterated in the order of their keys. A missing
// value counts as empty.
func (f *frame) executeRange(dot any, node *parse.RangeNode) (control, error) {
	mark := len(f.variables)
	defer f.popVariables(mark)
	value, err := f.evaluatePipeline(dot, node.Pipe)
	if err != nil {
		return proceed, err
	}
	body := &iteration{frame: f, node: node, mark: len(f.variables)}
	if err := body.iterate(dereference(value)); err != nil {
		return proceed, f.locateError(node.Pipe, err)
	}
	if body.count == 0 {
		f.popVariables(mark)
		return f.executeList(dot, node.ElseList)
	}
	return proceed, nil
}

// iteration is a range that is executing.
type iteration struct {
	frame *frame
	node  *parse.RangeNode
	mark  int
	count int
}

// iterate executes the body for each item of a value. Errors of the body already have a position. All other
// errors concern the value.
func (i *iteration) iterate(value any) error {
	i.frame.meter.watch.recordWhole(value)
	switch value := value.(type) {
	case nil, *absent:
		return nil
	case []any:
		for index, item := range value {
			if stop, err := i.runBody(index, item); stop || err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if err := i.frame.meter.allocatePieces(len(value), 48); err != nil {
			return err
		}
		keys := sortedKeys(value)
		items := make([]any, len(keys)) // As they are before the body changes them.
		for n, key := range keys {
			items[n] = value[key]
		}
		for n, key := range keys {
			if stop, err := i.runBody(key, items[n]); stop || err != nil {
				return err
			}
		}
		return nil
	}
	return i.iterateReflected(reflect.ValueOf(value))
}

// iterateReflected does the same as iterate, for numbers and for types that decoded YAML does not have.
func (i *iteration) iterateReflected(v reflect.Value) error {
	switch {
	case v.CanInt():
		return i.iterateNumbers(v.Int(), v.Type())
	case v.CanUint():
		return i.iterateNumbers(int64(min(v.Uint(), 1<<62)), v.Type())
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for index := range v.Len() {
			if stop, err := i.runBody(index, elementValue(v.Index(index))); stop || err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Map:
		return i.iterateEntries(v)
	}
	return fmt.Errorf("range cannot iterate over %s", describeType(v.Interface()))
}

// iterateNumbers executes the body for the numbers from 0 to count, without count. The numbers have the type.
func (i *iteration) iterateNumbers(count int64, typ reflect.Type) error {
	if len(i.node.Pipe.Decl) > 1 {
		return fmt.Errorf("range over the number %d takes one variable, not two", count)
	}
	for number := range count {
		item := reflect.ValueOf(number).Convert(typ).Interface()
		if stop, err := i.runBody(nil, item); stop || err != nil {
			return err
		}
	}
	return nil
}

// iterateEntries iterates over a map of a type that decoded YAML does not have. The keys are sorted as in
// text/template, for all types of keys that exist in templates.
func (i *iteration) iterateEntries(v reflect.Value) error {
	if err := i.frame.meter.allocatePieces(v.Len(), 88); err != nil {
		return err
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	items := make([]reflect.Value, len(keys)) // As they are before the body changes them.
	for n, key := range keys {
		items[n] = v.MapIndex(key)
	}
	for n, key := range keys {
		if stop, err := i.runBody(elementValue(key), elementValue(items[n])); stop || err != nil {
			return err
		}
	}
	return nil
}

// compareKeys compares two keys of a map for sorting. Keys of different types are sorted by their types.
func compareKeys(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat() && b.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(fmt.Sprint(a.Kind()), fmt.Sprint(b.Kind()))
}

// runBody executes the body for one item. It reports whether the loop must stop.
func (i *iteration) runBody(key, item any) (stop bool, err error) {
	i.count++
	if err := i.frame.meter.addSteps(1); err != nil {
		return true, err
	}
	if err := i.bindVariables(key, item); err != nil {
		return true, err
	}
	flow, err := i.frame.executeList(item, i.node.List)
	i.frame.popVariables(i.mark)
	return flow == breakLoop, err
}

// bindVariables sets the variables of the range. A single variable gets the item, and two variables get the key and the
// item.
func (i *iteration) bindVariables(key, item any) error {
	names := i.node.Pipe.Decl
	values := []any{key, item}
	for n, name := range names {
		value := values[n+2-len(names)]
		if !i.node.Pipe.IsAssign {
			i.frame.variables[i.mark-len(names)+n].value = value
			continue
		}
		target, err := i.frame.variable(name.Ident[0])
		if err != nil {
			return err
		}
		target.value = value
	}
	return nil
}
