// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// widening adds the options that the program of the newest release accepts to the
// documentation of each release. Only options that are not in the documentation of the newest
// release are added, so that no option is rejected that the program or the documentation has.
type widening struct {
	// isNewest reports whether the release is the release of the program.
	isNewest bool
	depth    int
}

// component widens the options of a component: documented in this release, in the
// newest one (nil if it is not), and of the program (nil if it is not known there).
func (w widening) component(documented, newest, program *form) {
	if program == nil {
		return
	}
	if newest == nil {
		newest = documented
	}
	w.object(documented, newest, program)
}

func (w widening) object(documented, newest, program *form) {
	documented.denies = program.denies
	for _, variant := range program.variants {
		documented.variants = append(documented.variants, variant.clone())
	}
	for name, mine := range documented.Options {
		theirs := program.Options[name]
		if theirs == nil {
			// An older release may have required it; within alternatives this is unknown.
			mine.Required = mine.Required && !w.isNewest && w.depth == 0 && mine.When == ""
			continue
		}
		mine.isLenient = theirs.isLenient
		known := newest.Options[name]
		if known == nil {
			known = mine.clone()
		}
		// An option that is no longer required was so before, by the documentation of then.
		mine.Required = mine.Required && (theirs.Required || w.depth == 0 && !known.Required)
		if w.isNewest && theirs.Required && (theirs.When == "" || theirs.When == mine.When) {
			mine.Required = true
		}
		below := w
		below.depth++
		below.types(mine.Type, known.Type, theirs.Type)
	}
	for name, theirs := range program.Options {
		if documented.Options[name] == nil && newest.Options[name] == nil {
			hidden := theirs.clone()
			hidden.Required = hidden.Required && w.isNewest
			documented.Options[name] = hidden
		}
	}
}

func (w widening) types(documented, newest, program typ) {
	for kind, theirs := range program {
		mine := documented[kind]
		if mine == nil {
			if newest[kind] == nil {
				documented[kind] = theirs.clone()
			}
			continue
		}
		known := newest[kind]
		if known == nil {
			known = mine.clone()
		}
		if len(theirs.Enum) == 0 {
			mine.Enum = nil
		} else if len(mine.Enum) > 0 {
			beyond := slices.DeleteFunc(slices.Clone(theirs.Enum), func(value string) bool { return slices.Contains(known.Enum, value) })
			mine.Enum = union(mine.Enum, beyond)
		}
		if w.isNewest && (mine.Syntax == "" || mine.Syntax == "literal") {
			mine.Syntax = theirs.Syntax
		}
		if mine.Items != nil && theirs.Items != nil {
			w.types(mine.Items, known.Items, theirs.Items)
		}
		if mine.Options != nil && theirs.Options != nil {
			w.object(mine, known, theirs)
		}
	}
}

func (t typ) clone() typ {
	if t == nil {
		return nil
	}
	all := typ{}
	for kind, of := range t {
		all[kind] = of.clone()
	}
	return all
}

func (f *form) clone() *form {
	fresh := *f
	fresh.Enum, fresh.Items = slices.Clone(f.Enum), f.Items.clone()
	fresh.variants = nil
	for _, variant := range f.variants {
		fresh.variants = append(fresh.variants, variant.clone())
	}
	if f.Options != nil {
		fresh.Options = map[string]*option{}
		for name, o := range f.Options {
			fresh.Options[name] = o.clone()
		}
	}
	return &fresh
}

func (o *option) clone() *option {
	fresh := *o
	fresh.Type = o.Type.clone()
	return &fresh
}

// widened is every release as the tables have it: the documentation, widened by the
// program, and then by the exceptions.
func widened(f *facts, denies map[string]int, exceptions []*exception) map[int]release {
	const last = schemaMinor
	all := map[int]release{}
	for minor, documented := range f.releases {
		of := program(f.schema, denies, minor)
		fresh := release{}
		for kind, components := range documented {
			fresh[kind] = map[string]*form{}
			for name, component := range components {
				mine := component.clone()
				widening{isNewest: minor == last}.component(mine, f.releases[last][kind][name], of[kind][name])
				fresh[kind][name] = mine
			}
		}
		if minor == last {
			fresh["globals"] = of["globals"]
		}
		for _, e := range exceptions {
			if minor == last || !e.narrows() {
				e.apply(fresh)
			}
		}
		all[minor] = fresh
	}
	return all
}
