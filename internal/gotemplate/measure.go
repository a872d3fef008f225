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

func (s *size) add(other size) {
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
	if err := walk.visit(value, 0, 0); err != nil {
		return walk.size, err
	}
	return walk.size, m.step(walk.nodes / 8)
}

type measuring struct {
	size
	budget *Budget
	// watch records all containers that are measured as read, because the call that follows reads them.
	watch *watch
	// inside contains the addresses of the enclosing containers. The outermost container is first.
	inside []uintptr
}

// visit measures one value. The caller passes the number of enclosing containers, and the total length of the
// enclosing keys. The types of decoded YAML come first, because nearly all values have these types.
func (w *measuring) visit(value any, depth, path int) error {
	switch value := value.(type) {
	case nil, bool, int, int64, float64:
		return w.leaf(scalarBytes, path)
	case string:
		w.indent += (strings.Count(value, "\n") + 1) * depth * 2
		return w.leaf(len(value), path)
	case addressed:
		return w.visitReflected(value.Value, depth, path)
	case map[string]any:
		if err := w.enter(reflect.ValueOf(value).Pointer(), depth, path); err != nil {
			return err
		}
		for key, item := range value {
			w.bytes += len(key)
			w.indent += depth * 2
			if err := w.visit(item, depth+1, path+len(key)+1); err != nil {
				return err
			}
		}
		w.exit()
		return nil
	case []any:
		if err := w.enter(reflect.ValueOf(value).Pointer(), depth, path); err != nil {
			return err
		}
		for _, item := range value {
			if err := w.visit(item, depth+1, path); err != nil {
				return err
			}
		}
		w.exit()
		return nil
	}
	return w.visitReflected(reflect.ValueOf(value), depth, path)
}

// visitReflected does the same as visit for all other types. It never calls Interface, so that it can also
// visit unexported fields.
func (w *measuring) visitReflected(v reflect.Value, depth, path int) error {
	switch v.Kind() {
	case reflect.String:
		w.indent += (strings.Count(v.String(), "\n") + 1) * depth * 2
		return w.leaf(v.Len(), path)
	case reflect.Pointer, reflect.Interface:
		w.hasPointers = w.hasPointers || v.Kind() == reflect.Pointer
		return w.container(v, depth, path, func() error { return w.visitReflected(v.Elem(), depth+1, path) })
	case reflect.Struct:
		return w.container(v, depth, path, func() error {
			for i := range v.NumField() {
				if err := w.visitReflected(v.Field(i), depth+1, path+len(v.Type().Field(i).Name)); err != nil {
					return err
				}
			}
			return nil
		})
	case reflect.Map:
		return w.container(v, depth, path, func() error { return w.entries(v, depth, path) })
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return w.leaf(4*v.Len(), path)
		}
		return w.container(v, depth, path, func() error {
			for i := range v.Len() {
				if err := w.visitReflected(v.Index(i), depth+1, path); err != nil {
					return err
				}
			}
			return nil
		})
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		w.hasPointers = true
	}
	return w.leaf(scalarBytes, path)
}

func (w *measuring) entries(v reflect.Value, depth, path int) error {
	for entries := v.MapRange(); entries.Next(); {
		bytesBefore := w.bytes
		if err := w.visitReflected(entries.Key(), depth+1, path); err != nil {
			return err
		}
		if err := w.visitReflected(entries.Value(), depth+1, path+w.bytes-bytesBefore+1); err != nil {
			return err
		}
	}
	return nil
}

// container measures a container. A nil container counts as a scalar.
func (w *measuring) container(v reflect.Value, depth, path int, content func() error) error {
	var address uintptr
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return w.leaf(scalarBytes, path)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		address = v.Pointer()
	}
	if err := w.enter(address, depth, path); err != nil {
		return err
	}
	if err := content(); err != nil {
		return err
	}
	w.exit()
	return nil
}

func (w *measuring) enter(address uintptr, depth, path int) error {
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
	return w.leaf(0, path)
}

func (w *measuring) exit() { w.inside = w.inside[:len(w.inside)-1] }

func (w *measuring) leaf(bytes, path int) error {
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
