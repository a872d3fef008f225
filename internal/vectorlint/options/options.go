// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package options describes the options of Vector's components. It takes a component and a release (0.45 or
// later), and returns the names, forms, allowed values and required options. It does not check configuration.
// `make vector-tables` generates the table from Vector's own schema; each object is decoded at its first use.
package options

import "strings"

// Object describes a map of options.
type Object struct {
	// Options are sorted by name.
	Options []Option
	// Denies reports whether Vector rejects an option that is not in Options. If it is false, Vector ignores
	// such an option.
	Denies bool

	variants []string
}

// Option describes one key that an object of Vector's configuration may have.
type Option struct {
	// Name is the name of the option, or * for free keys.
	Name string
	// AliasOf is the name of the option for which this option is another name, or "".
	AliasOf              string
	Required, Deprecated bool
	// Lenient reports whether Vector ignores an invalid value of the option. This is the case for an optional
	// struct with options that are flattened into the options of another struct.
	Lenient bool
	// Forms are the forms that a value may have. The list is empty if the forms are unknown.
	Forms []Form

	// Condition is the condition on other options under which this option has an effect, such as: mode = "tcp"
	// or mode = "udp". It is "" for no condition.
	Condition string
}

// Form describes one form that a value may have.
type Form struct {
	// Kind is string, uint, int, float, bool, array, object, ascii_char, condition or any.
	Kind string
	// Syntax is the syntax of a string, such as template, target_path, uri or time_zone, or the bounds of a
	// number. Bounds have the form MIN..MAX. MIN or MAX may be missing, and a > before MIN excludes MIN itself.
	// Unit is the unit of a number. Default is the default value in JSON. Each field is "" if the form does not
	// have it.
	Syntax, Unit, Default string

	values, object, items string
}

// Option returns the option with a name, or else the option for free keys. It returns nil if the object has
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

// Variants returns the alternatives for the whole object. A value must be valid in one of them. The list is
// empty if the object has only one form.
func (o *Object) Variants() []*Object {
	var variants []*Object
	for _, number := range o.variants {
		variants = append(variants, table().object(number))
	}
	return variants
}

// Applies reports whether the option has an effect with the values of other options, and whether this is known.
// valueOf returns the value of another option, and whether that value is known.
func (o *Option) Applies(valueOf func(name string) (value string, isKnown bool)) (applies, isKnown bool) {
	if o.Condition == "" {
		return true, true
	}
	isKnown = true
	for alternative := range strings.SplitSeq(o.Condition, " or ") {
		name, expected, _ := strings.Cut(alternative, ` = "`)
		value, ok := valueOf(name)
		if !ok {
			isKnown = false
			continue
		}
		if value == strings.TrimSuffix(expected, `"`) {
			return true, true
		}
	}
	return false, isKnown
}

// Values returns the only values that a string may have, or nil if it may have any value.
func (f Form) Values() []string {
	if f.values == "" {
		return nil
	}
	return strings.Split(f.values, "|")
}

// Allows reports whether a value is one of the form's values. A form without a list of values allows every value.
func (f Form) Allows(value string) bool {
	if f.values == "" {
		return true
	}
	for allowed := range strings.SplitSeq(f.values, "|") {
		if allowed == value {
			return true
		}
	}
	return false
}

// Object returns the options of a map, or nil for other kinds and for a map with unknown options.
func (f Form) Object() *Object {
	if f.object == "" {
		return nil
	}
	return table().object(f.object)
}

// Items returns the forms of the items of an array, or nil if they are unknown.
func (f Form) Items() []Form {
	if f.items == "" {
		return nil
	}
	return table().forms(f.items)
}
