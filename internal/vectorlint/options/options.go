// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package options knows the options of Vector's components, of every release
// from 0.45: names, forms, allowed values, what is required and when. It judges no
// configuration. The table is written by make vector-tables; an object of it is
// decoded when it is first asked for.
package options

import "strings"

// Object is a map of options.
type Object struct {
	// Options by their names, in the order of the alphabet.
	Options []Option
	// Denies tells that Vector refuses an option that is not here. Others it ignores.
	Denies bool

	variants []string
}

// Option is an option of an object.
type Option struct {
	// Name is * for keys that are free.
	Name string
	// AliasOf is the option that this is another name of, "" for none.
	AliasOf              string
	Required, Deprecated bool
	// Lenient reports whether Vector ignores a value that it cannot read: of a struct that
	// is optional and whose options stand among those of another.
	Lenient bool
	// Forms that a value may have; none where it is not known.
	Forms []Form

	// When says with which values of other options it has a meaning: mode = "tcp" or mode = "udp".
	When string
}

// Form is one form that a value may have.
type Form struct {
	// Kind is string, uint, int, float, bool, array, object, ascii_char, condition or
	// any.
	Kind string
	// Syntax of a string that is more than a text: template, target_path, uri, time_zone
	// and more, of a number its bounds, MIN..MAX of which one may be missing, with > before a MIN that is out.
	// Unit of a number. Default in JSON. Each is "" where there is none.
	Syntax, Unit, Default string

	values, object, items string
}

// Option returns an option of an object by its name, or the free key; nil if it has
// neither.
func (o *Object) Option(name string) *Option {
	var free *Option
	for i := range o.Options {
		switch o.Options[i].Name {
		case name:
			return &o.Options[i]
		case "*":
			free = &o.Options[i]
		}
	}
	return free
}

// Variants are whole objects of which one has to fit; none where there is one only.
func (o *Object) Variants() []*Object {
	var all []*Object
	for _, number := range o.variants {
		all = append(all, table().object(number))
	}
	return all
}

// Applies tells whether an option has a meaning beside the values of others; valueOf
// returns one of these, and whether it can be known.
func (o *Option) Applies(valueOf func(name string) (value string, isKnown bool)) (applies, isKnown bool) {
	if o.When == "" {
		return true, true
	}
	isKnown = true
	for alternative := range strings.SplitSeq(o.When, " or ") {
		name, want, _ := strings.Cut(alternative, ` = "`)
		value, known := valueOf(name)
		if !known {
			isKnown = false
			continue
		}
		if value == strings.TrimSuffix(want, `"`) {
			return true, true
		}
	}
	return false, isKnown
}

// Values are the only ones that a string may have; none where it is free.
func (f Form) Values() []string {
	if f.values == "" {
		return nil
	}
	return strings.Split(f.values, "|")
}

// Allows tells whether a string may have a value.
func (f Form) Allows(value string) bool {
	if f.values == "" {
		return true
	}
	for one := range strings.SplitSeq(f.values, "|") {
		if one == value {
			return true
		}
	}
	return false
}

// Object is what an object may hold; nil for other kinds, or where it is not known.
func (f Form) Object() *Object {
	if f.object == "" {
		return nil
	}
	return table().object(f.object)
}

// Items are the forms of what an array holds; none where they are not known.
func (f Form) Items() []Form {
	if f.items == "" {
		return nil
	}
	return table().forms(f.items)
}
