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

// longestQuantity and longestExponent are the maximum lengths of a quantity and its exponent, as in the
// CustomResourceDefinitions. Reading 700,000 digits takes seconds, and a comparison with 1e60000000 takes a
// minute.
const (
	longestQuantity = 64
	longestExponent = 2
)

// CheckQuantities returns an error for the first quantity, under a path, that is unusable and takes excessive
// time to decode. It checks a value before it is decoded into a T, because the decoding takes the time.
func CheckQuantities[T any](at string, value any) error {
	of := reflect.TypeFor[T]()
	places, isKnown := quantityPlaces.Load(of)
	if !isKnown {
		places, _ = quantityPlaces.LoadOrStore(of, placesIn(of))
	}
	return places.(*quantityPlace).check(at, value)
}

// quantityPlaces caches the places by type.
var quantityPlaces sync.Map

// quantityPlace describes the quantities in a value: the value itself, some of its fields, or its items. It is
// nil for a value without quantities.
type quantityPlace struct {
	isOne  bool
	fields map[string]*quantityPlace
	items  *quantityPlace
}

// placesIn returns the places in a type.
func placesIn(of reflect.Type) *quantityPlace {
	switch of.Kind() {
	case reflect.Pointer:
		return placesIn(of.Elem())
	case reflect.Slice, reflect.Map:
		if items := placesIn(of.Elem()); items != nil {
			return &quantityPlace{items: items}
		}
	case reflect.Struct:
		if of == reflect.TypeFor[resource.Quantity]() {
			return &quantityPlace{isOne: true}
		}
		if fields := fieldsIn(of); len(fields) > 0 {
			return &quantityPlace{fields: fields}
		}
	}
	return nil
}

// fieldsIn returns the fields of a struct that have quantities, by their name in JSON.
func fieldsIn(of reflect.Type) map[string]*quantityPlace {
	fields := map[string]*quantityPlace{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		switch places := placesIn(field.Type); {
		case places == nil:
		case name == "":
			maps.Copy(fields, places.fields) // The field is inline.
		default:
			fields[name] = places
		}
	}
	return fields
}

func (p *quantityPlace) check(at string, value any) error {
	switch {
	case p == nil:
		return nil
	case p.isOne:
		return checkQuantity(at, value)
	}
	for i, item := range tree.List(value) {
		if err := p.items.check(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	of := tree.Map(value)
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if err := p.at(key).check(strings.TrimPrefix(at+tree.Path("", key), "."), of[key]); err != nil {
			return err
		}
	}
	return nil
}

// at returns the place of a key. It ignores case, because decoders may ignore it.
func (p *quantityPlace) at(key string) *quantityPlace {
	for name, places := range p.fields {
		if strings.EqualFold(name, key) {
			return places
		}
	}
	return p.items
}

func checkQuantity(at string, value any) error {
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
		return fmt.Errorf("%s: %.40s is out of range; use a quantity of at most %d characters, with an exponent of at most %d digits", at, text, longestQuantity, longestExponent)
	}
	return nil
}
