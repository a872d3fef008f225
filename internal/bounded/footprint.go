// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "reflect"

// Footprint returns the approximate number of bytes of a value, including all values that it points to. Values that
// shared points to do not count. A value that is pointed to several times counts once, except a string.
func Footprint(value any, shared ...any) int {
	visited := map[any]bool{}
	for _, sharedValue := range shared {
		markVisited(reflect.ValueOf(sharedValue), visited)
	}
	v := reflect.ValueOf(value)
	return int(v.Type().Size()) + referencedBytes(v, visited)
}

// referencedBytes returns the number of bytes of a value in addition to its own size.
func referencedBytes(value reflect.Value, visited map[any]bool) int {
	switch value.Kind() {
	case reflect.String:
		return value.Len()
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() || value.Kind() == reflect.Pointer && markVisited(value, visited) {
			return 0
		}
		return int(value.Elem().Type().Size()) + referencedBytes(value.Elem(), visited)
	case reflect.Struct:
		total := 0
		for i := range value.NumField() {
			total += referencedBytes(value.Field(i), visited)
		}
		return total
	case reflect.Slice:
		if value.IsNil() || markVisited(value, visited) {
			return 0
		}
		return value.Cap()*int(value.Type().Elem().Size()) + itemBytes(value, visited)
	case reflect.Array:
		return itemBytes(value, visited)
	case reflect.Map:
		if value.IsNil() || markVisited(value, visited) {
			return 0
		}
		entryBytes := int(value.Type().Key().Size()+value.Type().Elem().Size()) + 1
		total := 2 * entryBytes * value.Len() // Assume that hash tables are half full.
		for entries := value.MapRange(); entries.Next(); {
			total += referencedBytes(entries.Key(), visited) + referencedBytes(entries.Value(), visited)
		}
		return total
	}
	return 0
}

// itemBytes returns the number of bytes that the items of a list point to.
func itemBytes(list reflect.Value, visited map[any]bool) int {
	switch list.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
	default:
		return 0 // They contain no pointers.
	}
	total := 0
	for i := range list.Len() {
		total += referencedBytes(list.Index(i), visited)
	}
	return total
}

// markVisited reports whether the target of a pointer, list or map was already counted, and records it. The type is a
// part of the key, because a struct and its first field have the same address.
func markVisited(value reflect.Value, visited map[any]bool) bool {
	key := struct {
		address   uintptr
		valueType reflect.Type
	}{value.Pointer(), value.Type()}
	wasVisited := visited[key]
	visited[key] = true
	return wasVisited
}
