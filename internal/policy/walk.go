// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// place is a position in an overlay.
type place struct {
	path string
	// name is the name of the nearest list item that has a name: of a volume, a container, or a
	// variable.
	name string
}

func (p place) field(name string) place {
	p.path += "." + name
	return p
}

func (p place) item(i int, item reflect.Value) place {
	p.path = fmt.Sprintf("%s[%d]", p.path, i)
	if item.Kind() == reflect.Struct {
		if name := item.FieldByName("Name"); name.IsValid() && name.Kind() == reflect.String {
			p.name = name.String()
		}
	}
	return p
}

// walk checks every field that is set against its line. A field without a line is rejected, because
// it comes from a version of Kubernetes that has not been reviewed yet.
func (c *checker) walk(at place, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		c.walk(at, value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			c.walk(at.item(i, value.Index(i)), value.Index(i))
		}
	case reflect.Struct:
		if isOneValue(value.Type()) {
			return
		}
		for i := range value.NumField() {
			c.field(at, value.Type(), value.Type().Field(i), value.Field(i))
		}
	}
}

func (c *checker) field(at place, of reflect.Type, field reflect.StructField, value reflect.Value) {
	if value.IsZero() {
		return
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" { // Its fields are written like fields of the type that embeds it.
		c.walk(at, value)
		return
	}
	at = at.field(name)
	line := LineOf(of.Name() + "." + name)
	if line == nil {
		c.report(at, "field is unknown to this release")
		return
	}
	if line.judge != nil {
		line.judge(c, at, value, line)
	}
	c.walk(at, value)
}

// isOneValue reports whether the fields of a type are not fields of the API, for example the fields
// of quantities.
func isOneValue(of reflect.Type) bool {
	return reflect.PointerTo(of).Implements(reflect.TypeFor[json.Marshaler]())
}
