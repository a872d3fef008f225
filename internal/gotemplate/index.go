// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"reflect"
)

// index returns item[a][b]… for lists, maps and strings. A key that a map does not have yields a
// missing value; an index out of range is an error.
func index(f *frame, item any, indexes ...any) (any, error) {
	for _, at := range indexes {
		switch holder := item.(type) {
		case *absent:
			return nil, holder.asError()
		case nil:
			return nil, withHint(fmt.Errorf("index %v is looked up in null", printable(at)), optionalHint)
		}
		next, err := f.indexOne(indirect(item), at)
		if err != nil {
			return nil, err
		}
		item = next
	}
	return item, nil
}

func (f *frame) indexOne(item, at any) (any, error) {
	holder := reflect.ValueOf(item)
	switch holder.Kind() {
	case reflect.Map:
		key, err := assign(at, holder.Type().Key())
		if err != nil {
			return nil, fmt.Errorf("index %v: %w", printable(at), err)
		}
		f.watch.key(item, key.String())
		if found := holder.MapIndex(key); found.IsValid() {
			return elementOf(found), nil
		}
		return &absent{holder: "the map", in: item, key: fmt.Sprint(printable(at)), watch: &f.watch}, nil
	case reflect.Slice, reflect.Array, reflect.String:
		f.watch.whole(item)
		number, err := integerOf(at)
		if err != nil {
			return nil, err
		}
		if number < 0 || number >= int64(holder.Len()) {
			return nil, fmt.Errorf("index %d is out of range; there are %d items", number, holder.Len())
		}
		return elementOf(holder.Index(int(number))), nil
	}
	return nil, fmt.Errorf("%s cannot be indexed", describeType(holder.Interface()))
}

func integerOf(at any) (int64, error) {
	v := reflect.ValueOf(at)
	switch {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return int64(min(v.Uint(), 1<<62)), nil
	}
	return 0, fmt.Errorf("a list is indexed by a number; got %s", describeType(at))
}

// printable returns a value that is safe to print in a message: it is never a container.
func printable(value any) any {
	switch value := value.(type) {
	case string:
		return shorten(value)
	case bool, int, int64, float64:
		return value
	}
	return describeType(value)
}

// lengthOf implements len.
func lengthOf(f *frame, value any) (int, error) {
	item := indirect(value)
	f.watch.length(item)
	v := reflect.ValueOf(item)
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		return v.Len(), nil
	}
	return 0, fmt.Errorf("%s has no length", describeType(value))
}
