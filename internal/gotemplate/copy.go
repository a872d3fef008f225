// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import "reflect"

// copyValue returns a deep copy of maps and lists, so that templates can change them. A named map type becomes
// a plain map, because templates must not call its methods. Values of all other types are shared. The value
// must have been measured, so that it has no cycles.
func copyValue(value any) any {
	switch value := value.(type) {
	case nil, string, bool, int, int64, float64, Files:
		return value
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, item := range value {
			copied[key] = copyValue(item)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, item := range value {
			copied[i] = copyValue(item)
		}
		return copied
	}
	return copyReflected(reflect.ValueOf(value))
}

// copyReflected does the same as copyValue, for types that decoded YAML does not have.
func copyReflected(v reflect.Value) any {
	plain := reflect.TypeFor[map[string]any]()
	switch {
	case v.Kind() == reflect.Map && !v.IsNil() && v.Type().ConvertibleTo(plain):
		return copyValue(v.Convert(plain).Interface())
	case v.Kind() == reflect.Map && !v.IsNil():
		copied := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			copied.SetMapIndex(entries.Key(), copyInto(entries.Value(), v.Type().Elem()))
		}
		return copied.Interface()
	case v.Kind() == reflect.Slice && !v.IsNil():
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			copied.Index(i).Set(copyInto(v.Index(i), v.Type().Elem()))
		}
		return copied.Interface()
	}
	return v.Interface()
}

// copyInto returns a copy of an item in a container with a typed element. If the copy cannot be converted to
// that type, it returns the item itself.
func copyInto(item reflect.Value, typ reflect.Type) reflect.Value {
	copied := reflect.ValueOf(copyValue(item.Interface()))
	if copied.IsValid() && copied.Type().AssignableTo(typ) {
		return copied
	}
	if copied.IsValid() && copied.Type().ConvertibleTo(typ) {
		return copied.Convert(typ)
	}
	return item
}
