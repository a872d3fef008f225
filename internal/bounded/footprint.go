// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "reflect"

// Footprint returns the approximate number of bytes of a value, including everything that the value points to. Objects
// that the other values point to are not included. An object that is pointed to several times counts once, except for
// strings.
func Footprint(value any, elsewhere ...any) int {
	seen := map[any]bool{}
	for _, other := range elsewhere {
		isSeen(reflect.ValueOf(other), seen)
	}
	of := reflect.ValueOf(value)
	return int(of.Type().Size()) + beyond(of, seen)
}

// beyond returns the number of bytes of a value in addition to its own size.
func beyond(value reflect.Value, seen map[any]bool) int {
	switch value.Kind() {
	case reflect.String:
		return value.Len()
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() || value.Kind() == reflect.Pointer && isSeen(value, seen) {
			return 0
		}
		return int(value.Elem().Type().Size()) + beyond(value.Elem(), seen)
	case reflect.Struct:
		total := 0
		for i := range value.NumField() {
			total += beyond(value.Field(i), seen)
		}
		return total
	case reflect.Slice:
		if value.IsNil() || isSeen(value, seen) {
			return 0
		}
		return value.Cap()*int(value.Type().Elem().Size()) + items(value, seen)
	case reflect.Array:
		return items(value, seen)
	case reflect.Map:
		if value.IsNil() || isSeen(value, seen) {
			return 0
		}
		each := int(value.Type().Key().Size()+value.Type().Elem().Size()) + 1
		total := 2 * each * value.Len() // Assume that hash tables are half full.
		for entries := value.MapRange(); entries.Next(); {
			total += beyond(entries.Key(), seen) + beyond(entries.Value(), seen)
		}
		return total
	}
	return 0
}

// items returns the number of bytes that the items of a list point to.
func items(list reflect.Value, seen map[any]bool) int {
	switch list.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
	default:
		return 0 // They contain no pointers.
	}
	total := 0
	for i := range list.Len() {
		total += beyond(list.Index(i), seen)
	}
	return total
}

// isSeen reports whether the target of a pointer, list or map was seen before, and records it. A struct and its first
// field have the same address, so the type is part of the key.
func isSeen(value reflect.Value, seen map[any]bool) bool {
	key := struct {
		at uintptr
		of reflect.Type
	}{value.Pointer(), value.Type()}
	before := seen[key]
	seen[key] = true
	return before
}
