// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// longestQuantity and longestExponent are the maximum lengths of a quantity and of its exponent, as in the
// CustomResourceDefinitions. Longer quantities are expensive: 700,000 digits take seconds to read, and a
// comparison with 1e60000000 takes a minute.
const (
	// longestQuantity and longestExponent are the maximum lengths of a quantity and of its exponent, as in the
	// CustomResourceDefinitions. Longer quantities are expensive: reading 700,000 digits takes seconds, and comparing
	// with 1e60000000 takes a minute.
	longestQuantity = 64
	longestExponent = 2
)

// CheckQuantities returns an error for the first quantity in a value that is too long, with the path of the quantity.
// The value is not decoded into a T yet, because decoding such a quantity takes seconds.
func CheckQuantities[T any](path string, value any) error {
	typ := reflect.TypeFor[T]()
	node, isKnown := quantityNodes.Load(typ)
	if !isKnown {
		node, _ = quantityNodes.LoadOrStore(typ, newQuantityNode(typ))
	}
	return node.(*quantityNode).checkQuantities(path, value)
}

// quantityNodes caches the *quantityNode of each type.
var quantityNodes sync.Map

// quantityNode describes where values of a type contain quantities: isQuantity is true if the value itself is one. It
// is empty for a type without quantities.
type quantityNode struct {
	isQuantity bool
	// fields and items contain only nodes with quantities. items is nil if the type has no such items.
	fields map[string]*quantityNode
	items  *quantityNode
}

func (p *quantityNode) isEmpty() bool { return !p.isQuantity && len(p.fields) == 0 && p.items == nil }

// newQuantityNode returns the quantityNode of a type.
func newQuantityNode(typ reflect.Type) *quantityNode {
	switch typ.Kind() {
	case reflect.Pointer:
		return newQuantityNode(typ.Elem())
	case reflect.Slice, reflect.Map:
		if items := newQuantityNode(typ.Elem()); !items.isEmpty() {
			return &quantityNode{items: items}
		}
	case reflect.Struct:
		if typ == reflect.TypeFor[resource.Quantity]() {
			return &quantityNode{isQuantity: true}
		}
		return &quantityNode{fields: fieldNodes(typ)}
	}
	return &quantityNode{}
}

// fieldNodes returns the quantityNodes of a struct's fields, by their JSON names.
func fieldNodes(typ reflect.Type) map[string]*quantityNode {
	fields := map[string]*quantityNode{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		switch node := newQuantityNode(field.Type); {
		case node.isEmpty():
		case name == "":
			maps.Copy(fields, node.fields) // The field is inline.
		default:
			fields[name] = node
		}
	}
	return fields
}

// checkQuantities returns an error for the first quantity in a value that is too long. path is the path of the value.
func (p *quantityNode) checkQuantities(path string, value any) error {
	if p.isQuantity {
		return checkQuantity(path, value)
	}
	if p.items != nil {
		for i, item := range tree.List(value) {
			if err := p.items.checkQuantities(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
				return err
			}
		}
	}
	object := tree.Map(value)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		child := p.child(key)
		if child == nil {
			continue
		}
		if err := child.checkQuantities(strings.TrimPrefix(path+tree.JoinPath("", key), "."), object[key]); err != nil {
			return err
		}
	}
	return nil
}

// child returns the quantityNode of a key, or nil if the value of the key contains no quantities. It ignores case,
// because decoders may also ignore it.
func (p *quantityNode) child(key string) *quantityNode {
	for name, node := range p.fields {
		if strings.EqualFold(name, key) {
			return node
		}
	}
	return p.items
}

// checkQuantity returns an error for a quantity that is too long, or has a too long exponent.
func checkQuantity(path string, value any) error {
	text := ""
	switch value := value.(type) {
	case string:
		text = value
	case float64:
		text = strconv.FormatFloat(value, 'g', -1, 64)
	}
	exponent := ""
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		exponent = strings.TrimLeft(text[e+1:], "+-")
	}
	if len(text) > longestQuantity || len(exponent) > longestExponent {
		return fmt.Errorf("%s: quantity %.40s is out of range; use a quantity of at most %d characters, with an exponent of at most %d digits", path, text, longestQuantity, longestExponent)
	}
	return nil
}
