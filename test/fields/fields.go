// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package fields lists the fields of the API's types, for tables that have to have a
// line for each. What is in the lines is not its business.
package fields

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Field is a field of a type of the API.
type Field struct {
	// Name is the name of the type and that of the field, such as Container.image.
	Name string
	// Paths are where the field is below the root, such as spec.containers[].image.
	Paths []string
	// Type is the type of the field.
	Type reflect.Type
}

// Below returns the fields of all types that a type is made of, in the order in which
// they are met. It does not look into fields for which into is false.
func Below(root reflect.Type, into func(name string) bool) []Field {
	l := list{index: map[string]int{}, into: into}
	l.add("", root)
	return l.fields
}

// JSON is the name of a field as it is written, "" for one whose own fields are written
// in its place.
func JSON(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

type list struct {
	fields []Field
	index  map[string]int
	into   func(name string) bool
}

func (l *list) add(path string, of reflect.Type) {
	for {
		switch of.Kind() {
		case reflect.Slice, reflect.Map:
			path += "[]"
			fallthrough
		case reflect.Pointer:
			of = of.Elem()
			continue
		}
		break
	}
	// A quantity is one value, although its type is a struct.
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	for i := range of.NumField() {
		field := of.Field(i)
		if JSON(field) == "" {
			l.add(path, field.Type)
			continue
		}
		name, at := of.Name()+"."+JSON(field), strings.TrimPrefix(path+"."+JSON(field), ".")
		if known, ok := l.index[name]; ok {
			l.fields[known].Paths = append(l.fields[known].Paths, at)
		} else {
			l.index[name] = len(l.fields)
			l.fields = append(l.fields, Field{Name: name, Paths: []string{at}, Type: field.Type})
		}
		if l.into(name) {
			l.add(at, field.Type)
		}
	}
}
