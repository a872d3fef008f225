// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// kind is the kind of a component.
type kind string

const (
	source    kind = "source"
	transform kind = "transform"
	sink      kind = "sink"
	// memory is an enrichment table that receives or produces events.
	memory kind = "enrichment table"
)

// sections are the top-level keys of components, in Vector's order.
var sections = []struct {
	key  string
	kind kind
}{{"sources", source}, {"transforms", transform}, {"sinks", sink}}

// component is a source, a transform, a sink, or an enrichment table that acts as one.
type component struct {
	kind     kind
	id, path string
	at       position
	options  *value
	typeName string
	// profile is nil for an unknown type.
	profile *profile
	takes   events
	outputs []*output
	// inputs are as written, sources are the resolved inputs.
	inputs  []input
	sources []*output
	// hasOpenAddress reports whether a listening address is not known.
	hasOpenAddress bool
}

// profileListens returns the listening addresses of the component's type.
func (one *component) profileListens() []listening {
	if one.profile == nil {
		return nil
	}
	return one.profile.listens
}

// output is an output of a component.
type output struct {
	// id is the id of the component, or ID.NAME.
	id    string
	gives events
	of    *component
	// isTwice reports that another output has the same id.
	isTwice, isUsed bool
}

// input is an entry of inputs, with patterns expanded.
type input struct {
	text, path string
	at         position
	// pattern is the pattern that the entry matches, "" for a plain entry.
	pattern string
}

// readComponents finds the components and checks each of them separately.
func (c *checker) readComponents() {
	c.byKind = map[kind]map[string]*component{source: {}, transform: {}, sink: {}, memory: {}}
	for _, section := range sections {
		of := c.root.get(section.key)
		if of.form != table && of.form != null && of.form != open {
			c.report(wrongForm, of.at, section.key, "%s is %s, not a map of components by their id", section.key, of.form.noun())
		}
		for i := range of.entries {
			e := &of.entries[i]
			one := &component{kind: section.kind, id: e.key, at: e.at, path: join(section.key, e.key), options: e.value}
			if c.readComponent(one) {
				c.components = append(c.components, one)
				c.byKind[section.kind][e.key] = one
			}
		}
	}
	c.readTables()
	for _, one := range c.components {
		one.outputs = c.outputsOf(one)
	}
}

func (c *checker) readComponent(one *component) bool {
	if one.options.form == open {
		one.options = &value{form: open, at: one.at}
	} else if one.options.form != table {
		c.report(wrongForm, one.at, one.path, "%s is %s, not a map with a type", one.path, one.options.form.noun())
		return false
	}
	one.takes = everything
	c.readInputs(one)
	typed := one.options.get("type")
	switch {
	case one.options.form == open || typed.form == open || typed.form == null && c.hasOpenKey(one.options):
	case typed.form == null:
		advice := mergesOnce
		if !one.options.has(mergeKey) {
			advice = didYouMean(c.nearestKey(one.options, "type"))
		}
		c.report(noType, one.at, one.path, "type is missing", advice)
	case typed.form != text || typed.scalar == "":
		c.report(noType, typed.at, one.path+".type", "type is %s, not the name of a %s", typed.form.noun(), one.kind)
	case c.isDynamic(typed.scalar):
		if !c.mayBeOneOf(typed.scalar, c.tables.names[one.kind]) {
			c.add(unknownType, typed.at, one.path+".type", c.version.isCovered(), "unknown %s type %q", one.kind, typed.scalar)
		}
	default:
		one.typeName = typed.scalar
		one.profile = c.profileOf(one, typed.at)
	}
	if one.profile != nil {
		one.takes = c.taken(one)
	}
	return true
}

// nearestKey returns the key of a table that probably is a typo of a name.
func (c *checker) nearestKey(options *value, name string) string {
	for i := range options.entries {
		if c.effort.nearest(options.entries[i].key, []string{name}) == name {
			return name
		}
	}
	return ""
}

// profileOf returns the profile of a type and checks it against the version.
func (c *checker) profileOf(one *component, at position) *profile {
	path := one.path + ".type"
	p := c.tables.profiles[one.kind][one.typeName]
	if p == nil {
		near := c.effort.nearest(one.typeName, c.tables.names[one.kind])
		c.add(unknownType, at, path, near != "" || c.version.isCovered(), "unknown %s type %q", one.kind, one.typeName, c.otherKind(one, near))
		return nil
	}
	switch {
	case p.since > c.version.minor && p.since > 20:
		c.add(newerThanImage, at, path, c.version.known, "the %s %q came with Vector 0.%d, and the image is %s", one.kind, one.typeName, p.since, c.version)
	case p.removed > 0 && p.removed <= c.version.minor:
		c.add(removedFromImage, at, path, c.version.known, "the %s %q was removed in Vector 0.%d, and the image is %s", one.kind, one.typeName, p.removed, c.version, help(p.instead))
	case p.alias != "":
		c.report(deprecatedType, at, path, "the %s %q is now called %q", one.kind, one.typeName, p.alias, help("write type: "+p.alias))
	}
	return p
}

// otherKind returns a help for an unknown type: the nearest name of the kind, or the kind that has the type.
func (c *checker) otherKind(one *component, near string) help {
	if near != "" {
		return didYouMean(near)
	}
	for _, section := range sections {
		if c.tables.profiles[section.kind][one.typeName] != nil {
			return help("the type is a " + string(section.kind) + ": move the component to " + section.key)
		}
	}
	return ""
}

// readInputs reads inputs as they are written.
func (c *checker) readInputs(one *component) {
	if one.kind == source {
		return
	}
	given := one.options.get("inputs")
	path := one.path + ".inputs"
	switch {
	case given.form == open || one.options.form == open || given.form == null && c.hasOpenKey(one.options):
	case given.form == null:
		c.report(noInputs, one.at, path, "inputs is missing", didYouMean(c.nearestKey(one.options, "inputs")))
	case given.form != list:
		c.report(noInputs, given.at, path, "inputs is %s, not a list", given.form.noun())
	case len(given.items) == 0:
		c.report(noInputs, given.at, path, "inputs is empty")
	}
	for i, item := range given.items {
		at := path + "[" + itoa(i) + "]"
		if item.form == list || item.form == table || item.form == null {
			c.report(noInputs, item.at, at, "an input is %s, not the id of a component", item.form.noun())
			continue
		}
		one.inputs = append(one.inputs, input{text: item.scalar, path: at, at: item.at})
	}
}

// readTables finds the enrichment tables of type memory that receive or produce events.
func (c *checker) readTables() {
	of := c.root.get("enrichment_tables")
	for i := range of.entries {
		e := &of.entries[i]
		if e.value.get("type").scalar != "memory" {
			continue
		}
		one := &component{kind: memory, id: e.key, at: e.at, path: join("enrichment_tables", e.key), options: e.value, typeName: "memory", takes: logs}
		if inputs := e.value.get("inputs"); inputs.form != list && inputs.form != null && inputs.form != open || len(inputs.items) > 0 {
			c.readInputs(one)
		}
		c.components = append(c.components, one)
		c.byKind[memory][e.key] = one
	}
}

// isSinkLike reports whether events end in a component.
func (one *component) isSinkLike() bool {
	return one.kind == sink || one.kind == memory && len(one.inputs) > 0
}

// isDynamic reports whether a part of a text is not known: a variable or a secret.
func (c *checker) isDynamic(scalar string) bool {
	return c.openTexts[scalar] || strings.Contains(scalar, "SECRET[") && secret.MatchString(scalar)
}

// is reports whether a component has one of these types.
func (one *component) is(types ...string) bool { return slices.Contains(types, one.typeName) }
