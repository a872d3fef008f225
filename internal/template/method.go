// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"reflect"

	"github.com/Masterminds/semver/v3"
)

// Method is a method that templates may call.
type Method struct {
	// Name is what templates call it by.
	Name string
	// Func is the method expression, such as time.Time.Format, whose first
	// parameter is the receiver. It must only read, and its result depend on
	// nothing but its arguments.
	Func any
}

// methods are all that templates can call, by receiver and name. Like functions,
// they are a list of what is let in: a method that is not there is as good as
// none. Looking methods up by name would let templates call what changes values
// that others use at the same time; and for one such look-up anywhere, Go's
// linker keeps every method of the whole program.
type methods map[methodOf]*function

type methodOf struct {
	receiver reflect.Type
	name     string
}

// newMethods lists the methods of what functions return, of Files, and those that
// the caller adds for values of its own.
func newMethods(others []Method) methods {
	all := methods{}
	for _, method := range others {
		all.add(method.Name, method.Func, nil)
	}
	for name, fn := range filesMethods() {
		all.add(name, fn, guardFiles(name))
	}
	for name, fn := range versionMethods() {
		all.add(name, fn, nil)
	}
	return all
}

func (m methods) add(name string, fn any, guard guard) {
	called := &function{name: name, fn: reflect.ValueOf(fn), bound: true, guard: guard}
	m[methodOf{called.fn.Type().In(0), name}] = called
}

// of finds a method, and the receiver as the method takes it: as in Go, a pointer
// has the methods of what it points to as well, and a value that a pointer leads
// to those of the pointer.
func (m methods) of(v reflect.Value, name string) (called *function, receiver reflect.Value) {
	pointer, value := v, v
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil, v
	case v.Kind() == reflect.Pointer:
		value = v.Elem()
	case v.CanAddr():
		pointer = v.Addr()
	}
	if called := m[methodOf{pointer.Type(), name}]; called != nil {
		return called, pointer
	}
	return m[methodOf{value.Type(), name}], value
}

// versionMethods are those of what semver returns, without those that would
// change it: Scan, UnmarshalJSON and UnmarshalText.
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
