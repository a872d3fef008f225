// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
)

// index returns item[a][b]… for lists, maps and strings. If a map does not have a key, the result is a missing
// value. If an index is out of range, index returns an error.
func index(f *frame, item any, indexes ...any) (any, error) {
	for _, subscript := range indexes {
		switch holder := item.(type) {
		case *absent:
			return nil, holder.asError()
		case nil:
			return nil, withHint(fmt.Errorf("index %v cannot be read from null", plainResult(subscript)), optionalHint)
		}
		element, err := f.indexOnce(dereference(item), subscript)
		if err != nil {
			return nil, err
		}
		item = element
	}
	return item, nil
}

// indexOnce returns the element of a map, a list or a string at one key or index.
func (f *frame) indexOnce(item, subscript any) (any, error) {
	holder := reflect.ValueOf(item)
	switch holder.Kind() {
	case reflect.Map:
		key, err := convertValue(subscript, holder.Type().Key())
		if err != nil {
			return nil, fmt.Errorf("index %v: %w", plainResult(subscript), err)
		}
		f.meter.watch.recordKey(item, key.String())
		if element := holder.MapIndex(key); element.IsValid() {
			return elementValue(element), nil
		}
		return &absent{holder: "the map", container: item, key: fmt.Sprint(plainResult(subscript)), watch: &f.meter.watch}, nil
	case reflect.Slice, reflect.Array, reflect.String:
		f.meter.watch.recordWhole(item)
		number, err := integerIndex(subscript)
		if err != nil {
			return nil, err
		}
		if number < 0 || number >= int64(holder.Len()) {
			return nil, fmt.Errorf("index %d is out of range; the value has %d items", number, holder.Len())
		}
		return elementValue(holder.Index(int(number))), nil
	}
	return nil, fmt.Errorf("%s cannot be indexed", describeType(holder.Interface()))
}

// integerIndex returns the value of an index, or an error if it is not an integer.
func integerIndex(subscript any) (int64, error) {
	v := reflect.ValueOf(subscript)
	switch {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return int64(min(v.Uint(), 1<<62)), nil
	}
	return 0, fmt.Errorf("the index of a list must be a number; got %s", describeType(subscript))
}

// plainResult returns a value for a message that is safe to print: a shortened text, a scalar, or the description
// of the value's type.
func plainResult(value any) any {
	switch value := value.(type) {
	case string:
		return shorten(value)
	case bool, int, int64, float64:
		return value
	}
	return describeType(value)
}

// lenFunction implements len.
func lenFunction(f *frame, value any) (int, error) {
	item := dereference(value)
	f.meter.watch.recordLength(item)
	v := reflect.ValueOf(item)
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		return v.Len(), nil
	}
	return 0, fmt.Errorf("%s has no length", describeType(value))
}
