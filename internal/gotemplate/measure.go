// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"
	"slices"
	"strings"
)

// size is the size of a value if it were printed. A container that occurs twice counts twice.
type size struct {
	nodes int
	// bytes is the total length of all strings. indent is the additional length of a block indentation. paths
	// is the total length of the key paths of all nodes, as TOML prints them.
	bytes  int
	indent int
	paths  int
	// hasPointers reports whether the value contains a pointer, a function or a channel.
	hasPointers bool
}

// addSize adds the size of another value.
func (s *size) addSize(other size) {
	s.nodes += other.nodes
	s.bytes += other.bytes
	s.indent += other.indent
	s.paths += other.paths
	s.hasPointers = s.hasPointers || other.hasPointers
}

// scalarBytes is the approximate length of a printed number.
const scalarBytes = 8

// measure returns the size of a value, including all values in it. It returns an error if a bound for depth,
// nodes or memory is exceeded. A value that contains itself always exceeds a bound.
func (m *meter) measure(value any) (size, error) {
	walk := measuring{budget: &m.budget, watch: &m.watch}
	if err := walk.measureValue(value, 0, 0); err != nil {
		return walk.size, err
	}
	return walk.size, m.addSteps(walk.nodes / 8)
}

// measuring is the measurement of one value.
type measuring struct {
	size
	budget *Budget
	// watch records all containers that are measured as read, because the call that follows reads them.
	watch *watch
	// inside contains the addresses of the enclosing containers. The outermost container is first.
	inside []uintptr
}

// measureValue measures one value. The caller passes the number of enclosing containers, and the total length of the
// enclosing keys. The types of decoded YAML come first, because nearly all values have these types.
func (w *measuring) measureValue(value any, depth, path int) error {
	switch value := value.(type) {
	case nil, bool, int, int64, float64:
		return w.addLeaf(scalarBytes, path)
	case string:
		w.indent += (strings.Count(value, "\n") + 1) * depth * 2
		return w.addLeaf(len(value), path)
	case addressed:
		return w.measureReflected(value.Value, depth, path)
	case map[string]any:
		if err := w.enterContainer(reflect.ValueOf(value).Pointer(), depth, path); err != nil {
			return err
		}
		for key, item := range value {
			w.bytes += len(key)
			w.indent += depth * 2
			if err := w.measureValue(item, depth+1, path+len(key)+1); err != nil {
				return err
			}
		}
		w.exitContainer()
		return nil
	case []any:
		if err := w.enterContainer(reflect.ValueOf(value).Pointer(), depth, path); err != nil {
			return err
		}
		for _, item := range value {
			if err := w.measureValue(item, depth+1, path); err != nil {
				return err
			}
		}
		w.exitContainer()
		return nil
	}
	return w.measureReflected(reflect.ValueOf(value), depth, path)
}

// measureReflected measures a value of any other type. It never calls Interface, so that it can also measure
// unexported fields.
func (w *measuring) measureReflected(v reflect.Value, depth, path int) error {
	switch v.Kind() {
	case reflect.String:
		w.indent += (strings.Count(v.String(), "\n") + 1) * depth * 2
		return w.addLeaf(v.Len(), path)
	case reflect.Pointer, reflect.Interface:
		w.hasPointers = w.hasPointers || v.Kind() == reflect.Pointer
		return w.measureContainer(v, depth, path, func() error { return w.measureReflected(v.Elem(), depth+1, path) })
	case reflect.Struct:
		return w.measureContainer(v, depth, path, func() error {
			for i := range v.NumField() {
				if err := w.measureReflected(v.Field(i), depth+1, path+len(v.Type().Field(i).Name)); err != nil {
					return err
				}
			}
			return nil
		})
	case reflect.Map:
		return w.measureContainer(v, depth, path, func() error { return w.measureEntries(v, depth, path) })
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return w.addLeaf(4*v.Len(), path)
		}
		return w.measureContainer(v, depth, path, func() error {
			for i := range v.Len() {
				if err := w.measureReflected(v.Index(i), depth+1, path); err != nil {
					return err
				}
			}
			return nil
		})
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		w.hasPointers = true
	}
	return w.addLeaf(scalarBytes, path)
}

// measureEntries measures the keys and the values of a map.
func (w *measuring) measureEntries(v reflect.Value, depth, path int) error {
	for entries := v.MapRange(); entries.Next(); {
		bytesBefore := w.bytes
		if err := w.measureReflected(entries.Key(), depth+1, path); err != nil {
			return err
		}
		if err := w.measureReflected(entries.Value(), depth+1, path+w.bytes-bytesBefore+1); err != nil {
			return err
		}
	}
	return nil
}

// measureContainer measures a container. A nil container counts as a scalar.
func (w *measuring) measureContainer(v reflect.Value, depth, path int, content func() error) error {
	var address uintptr
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return w.addLeaf(scalarBytes, path)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		address = v.Pointer()
	}
	if err := w.enterContainer(address, depth, path); err != nil {
		return err
	}
	if err := content(); err != nil {
		return err
	}
	w.exitContainer()
	return nil
}

// enterContainer counts a container before its content is measured. It returns an error if the nesting is too deep.
// The address is 0 for a container without an address.
func (w *measuring) enterContainer(address uintptr, depth, path int) error {
	if depth > w.budget.Depth {
		if address != 0 && slices.Contains(w.inside, address) {
			return overBudget(boundDepth, "the value contains itself")
		}
		return overBudget(boundDepth, "the value is nested more than %d deep", w.budget.Depth)
	}
	if w.watch.count > 0 {
		w.watch.recordWholeAt(address)
	}
	w.inside = append(w.inside, address)
	return w.addLeaf(0, path)
}

func (w *measuring) exitContainer() { w.inside = w.inside[:len(w.inside)-1] }

// addLeaf counts one node with a number of bytes of text. It returns an error if the value has too many nodes or
// bytes.
func (w *measuring) addLeaf(bytes, path int) error {
	w.nodes++
	w.bytes += bytes
	w.paths += path
	if w.nodes > w.budget.Nodes {
		return overBudget(boundNodes, "the value has more than %d nodes", w.budget.Nodes)
	}
	if w.bytes > w.budget.Memory {
		return overBudget(boundMemory, "the value has more than %d bytes of text", w.budget.Memory)
	}
	return nil
}
