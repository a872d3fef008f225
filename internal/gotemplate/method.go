// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"

	"github.com/Masterminds/semver/v3"
)

// Method is a method that templates may call.
type Method struct {
	// Name is the name of the method in templates.
	Name string
	// Func is the method expression, such as time.Time.Format. Its first parameter is the receiver. The method
	// must not change values, and its result must depend only on its arguments.
	Func any
}

// methods contains all methods that templates can call, by receiver and name. It is an allow-list, as for
// functions. If templates could call methods by any name, they could call methods that change values, while
// other goroutines use these values. One such lookup also makes Go's linker keep every method of the whole
// program.
type methods map[methodKey]*function

type methodKey struct {
	receiver reflect.Type
	name     string
}

// newMethods returns the methods of Files, the methods of values that functions return, and the extra methods
// of the caller's types.
func newMethods(extra []Method) methods {
	m := methods{}
	for _, method := range extra {
		m.add(method.Name, method.Func, nil)
	}
	for name, fn := range filesMethods() {
		m.add(name, fn, guardFiles(name))
	}
	for name, fn := range versionMethods() {
		m.add(name, fn, nil)
	}
	return m
}

// add adds the method with a name. Its receiver type is the type of the function's first parameter.
func (m methods) add(name string, fn any, guard guard) {
	called := &function{name: name, fn: reflect.ValueOf(fn), bound: true, guard: guard}
	m[methodKey{called.fn.Type().In(0), name}] = called
}

// lookup returns the method of a value with a name, and the receiver in the form that the method needs. The
// method is nil if it does not exist. As in Go, a pointer also has the methods of its element type, and an
// addressable value also has the methods of its pointer type.
func (m methods) lookup(v reflect.Value, name string) (called *function, receiver reflect.Value) {
	pointer, value := v, v
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil, v
	case v.Kind() == reflect.Pointer:
		value = v.Elem()
	case v.CanAddr():
		pointer = v.Addr()
	}
	if called := m[methodKey{pointer.Type(), name}]; called != nil {
		return called, pointer
	}
	return m[methodKey{value.Type(), name}], value
}

// versionMethods returns the methods of the values that semver returns. It leaves out the methods that change a
// value: Scan, UnmarshalJSON and UnmarshalText.
func versionMethods() map[string]any {
	type version = semver.Version
	return map[string]any{
		"Compare":          (*version).Compare,
		"Equal":            (*version).Equal,
		"GreaterThan":      (*version).GreaterThan,
		"GreaterThanEqual": (*version).GreaterThanEqual,
		"IncMajor":         version.IncMajor,
		"IncMinor":         version.IncMinor,
		"IncPatch":         version.IncPatch,
		"LessThan":         (*version).LessThan,
		"LessThanEqual":    (*version).LessThanEqual,
		"Major":            version.Major,
		"MarshalJSON":      version.MarshalJSON,
		"MarshalText":      version.MarshalText,
		"Metadata":         version.Metadata,
		"Minor":            version.Minor,
		"Original":         (*version).Original,
		"Patch":            version.Patch,
		"Prerelease":       version.Prerelease,
		"SetMetadata":      version.SetMetadata,
		"SetPrerelease":    version.SetPrerelease,
		"String":           version.String,
		"Value":            version.Value,
	}
}
