// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "reflect"

// Footprint is about how many bytes a value takes, with all that it points to. What
// several places of it point to counts once, but for texts.
func Footprint(value any) int {
	seen := map[any]bool{}
	of := reflect.ValueOf(value)
	return int(of.Type().Size()) + beyond(of, seen)
}

// beyond is what a value takes beside itself.
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
		total := 2 * each * value.Len() // A table is half full.
		for entries := value.MapRange(); entries.Next(); {
			total += beyond(entries.Key(), seen) + beyond(entries.Value(), seen)
		}
		return total
	}
	return 0
}

// items is what the items of a list point to.
func items(list reflect.Value, seen map[any]bool) int {
	switch list.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
	default:
		return 0 // They point to nothing.
	}
	total := 0
	for i := range list.Len() {
		total += beyond(list.Index(i), seen)
	}
	return total
}

// isSeen notes what a pointer, list or map points to. A struct and its first field lie at
// one place, so that the type counts.
func isSeen(value reflect.Value, seen map[any]bool) bool {
	key := struct {
		at uintptr
		of reflect.Type
	}{value.Pointer(), value.Type()}
	before := seen[key]
	seen[key] = true
	return before
}
