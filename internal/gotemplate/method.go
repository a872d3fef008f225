// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"

	"github.com/Masterminds/semver/v3"
)

// Method is a method that templates may call.
type Method struct {
	// Name is the name that templates use.
	Name string
	// Func is the method expression, such as time.Time.Format; its first parameter is the receiver. The method must be
	// read-only, and its result must depend only on its arguments.
	Func any
}

// methods are all methods that templates can call, by receiver and name. Like the functions, they are an allow-list.
// If methods were found by name, templates could call methods that change values, while other goroutines use them.
// Also, a single such lookup anywhere makes Go's linker keep every method of the whole program.
type methods map[methodKey]*function

type methodKey struct {
	receiver reflect.Type
	name     string
}

// newMethods returns the methods of the results of functions, the methods of Files, and the methods that the caller
// adds for its own types.
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

func (m methods) add(name string, fn any, guard guard) {
	called := &function{name: name, fn: reflect.ValueOf(fn), bound: true, guard: guard}
	m[methodKey{called.fn.Type().In(0), name}] = called
}

// lookup returns a method, and the receiver as the method expects it. As in Go, a pointer also has the methods of its
// element type, and an addressable value the methods of its pointer type.
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

// versionMethods are the methods of the result of semver, without the methods that would change it: Scan,
// UnmarshalJSON and UnmarshalText.
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
