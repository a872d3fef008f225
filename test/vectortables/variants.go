// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// alternatives is what one of has to hold. An option is required that all objects
// require, or, of those with a tag, all that have it.
func (f *flattener) alternatives(s *schema) typ {
	all, objects := typ{}, []*form{}
	for _, part := range append(slices.Clone(s.OneOf), s.AnyOf...) {
		of := f.typeOf(part)
		if object := of["object"]; object != nil {
			for _, value := range object.tagged(s.Metadata.Tag) {
				f.deny(f.within+"["+value+"]", of)
			}
			objects = append(objects, object)
			delete(of, "object")
		}
		all.add(of)
	}
	if len(objects) == 0 {
		return all
	}
	united := &form{Options: map[string]*option{}, denies: true, variants: f.variants(objects)}
	for _, object := range objects {
		united.denies = united.denies && object.denies
		for name, o := range object.Options {
			if united.Options[name] == nil {
				united.Options[name] = f.acrossObjects(name, s.Metadata.Tag, objects, o)
			}
		}
	}
	all["object"] = united
	return all
}

// variants are the objects of which one has to fit. They are distinguished only in the release of
// the schema.
func (f *flattener) variants(objects []*form) []*form {
	if f.minor != schemaMinor {
		return nil
	}
	var all []*form
	for _, object := range objects {
		if len(object.variants) == 0 && len(objects) > 1 {
			all = append(all, object.clone())
		}
		for _, variant := range object.variants {
			all = append(all, variant.clone())
		}
	}
	return all
}

// acrossObjects is an option of some of several objects.
func (f *flattener) acrossObjects(name, tag string, objects []*form, first *option) *option {
	united := &option{Type: typ{}, Required: true, When: first.When, Deprecated: first.Deprecated}
	var when []string
	everywhere := true
	for _, object := range objects {
		o := object.Options[name]
		if o == nil {
			everywhere = false
			continue
		}
		united.Type.add(o.Type)
		united.Required, united.isLenient = united.Required && o.Required, united.isLenient || o.isLenient
		for _, value := range object.tagged(tag) {
			when = append(when, tag+` = "`+value+`"`)
		}
	}
	if !everywhere {
		united.When = strings.Join(when, " or ")
		united.Required = united.Required && len(when) > 0
	}
	return united
}

// tagged are the values of the tag that identify an object.
func (f *form) tagged(tag string) []string {
	if o := f.Options[tag]; o != nil && o.Type["string"] != nil {
		return o.Type["string"].Enum
	}
	return nil
}

// share gives every variant the options of all, which it does not require.
func (f *form) share() {
	for _, variant := range f.variants {
		for name, o := range f.Options {
			if variant.Options[name] == nil {
				variant.Options[name] = o.clone()
				variant.Options[name].Required = false
			}
		}
	}
}

// crossed are the variants of objects that have to hold at once: those of the only one that
// has some, each with the options of all others. One that its only key identifies takes the
// first such key that it finds, and leaves everything else alone.
func crossed(objects []*form) []*form {
	var variants []*form
	of := -1
	for i, object := range objects {
		if len(object.variants) == 0 {
			continue
		}
		if of >= 0 {
			return nil
		}
		of, variants = i, object.variants
	}
	for _, variant := range variants {
		variant.denies = variant.denies && !variant.isKeyed()
		for i, object := range objects {
			for name, o := range object.Options {
				if i != of && variant.Options[name] == nil {
					variant.Options[name] = o.clone()
				}
			}
		}
	}
	return variants
}

// levels gives the object of a compression a variant for each algorithm, with the levels of that.
func (f *flattener) levels(of *form) {
	if f.minor != schemaMinor {
		return
	}
	most := map[string]string{"gzip": "..9", "zlib": "..9", "zstd": "..21"}
	for _, algorithm := range of.tagged("algorithm") {
		variant := of.clone()
		variant.variants = nil
		variant.Options["algorithm"].Type["string"].Enum = []string{algorithm}
		if bounds := most[algorithm]; bounds == "" {
			delete(variant.Options, "level")
		} else {
			variant.Options["level"].Type["uint"].Syntax = bounds
		}
		of.variants = append(of.variants, variant)
	}
}

// isKeyed reports whether an object has one key, which identifies it instead of the value of
// a tag.
func (f *form) isKeyed() bool {
	for _, only := range f.Options {
		text := only.Type["string"]
		return len(f.Options) == 1 && (text == nil || len(text.Enum) == 0)
	}
	return false
}

// each visits an object and its variants.
func (f *form) each(visit func(*form)) {
	visit(f)
	for _, one := range f.variants {
		visit(one)
	}
}
