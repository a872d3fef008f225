// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// position is a position in an overlay.
type position struct {
	path string
	// name is the name of the nearest list item that has a name: of a volume, a container, or a
	// variable.
	name string
}

// fieldPosition returns the position of a field of the value at this position.
func (p position) fieldPosition(name string) position {
	p.path += "." + name
	return p
}

// itemPosition returns the position of an item of the list at this position. If the item has a name, the position has
// it too.
func (p position) itemPosition(i int, item reflect.Value) position {
	p.path = fmt.Sprintf("%s[%d]", p.path, i)
	if item.Kind() == reflect.Struct {
		if name := item.FieldByName("Name"); name.IsValid() && name.Kind() == reflect.String {
			p.name = name.String()
		}
	}
	return p
}

// checkValue checks every field that is set against its line. A field without a line is rejected, because
// it comes from a version of Kubernetes that has not been reviewed yet.
func (c *checker) checkValue(pos position, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		c.checkValue(pos, value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			c.checkValue(pos.itemPosition(i, value.Index(i)), value.Index(i))
		}
	case reflect.Struct:
		if isSingleValue(value.Type()) {
			return
		}
		for i := range value.NumField() {
			c.checkField(pos, value.Type(), value.Type().Field(i), value.Field(i))
		}
	}
}

// checkField checks a field of a struct, if it is set, against its line, and then its content.
func (c *checker) checkField(pos position, structType reflect.Type, field reflect.StructField, value reflect.Value) {
	if value.IsZero() {
		return
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" { // Its fields are written like fields of the type that embeds it.
		c.checkValue(pos, value)
		return
	}
	pos = pos.fieldPosition(name)
	line := LineFor(structType.Name() + "." + name)
	if line == nil {
		c.report(pos, "the field is unknown to this release of the operator; remove it")
		return
	}
	if line.check != nil {
		line.check(c, pos, value, line)
	}
	c.checkValue(pos, value)
}

// isSingleValue reports whether the fields of a type are not fields of the API, for example the fields
// of quantities.
func isSingleValue(valueType reflect.Type) bool {
	return reflect.PointerTo(valueType).Implements(reflect.TypeFor[json.Marshaler]())
}
