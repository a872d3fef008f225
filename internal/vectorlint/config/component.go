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
	// memory is an enrichment table of type memory, which may receive or produce events.
	memory kind = "enrichment table"
)

// sections are the top-level keys of components, in Vector's order.
var sections = []struct {
	key  string
	kind kind
}{{"sources", source}, {"transforms", transform}, {"sinks", sink}}

// component is a source, a transform, a sink, or an enrichment table that receives or produces events.
type component struct {
	kind     kind
	id, path string
	pos      position
	options  *value
	typeName string
	// profile is the profile of the component's type, or nil for an unknown type.
	profile     *profile
	inputEvents events
	outputs     []*output
	// inputs are the inputs of the component in the configuration. sources are the outputs that they refer to.
	inputs  []input
	sources []*output
	// hasOpenAddress reports whether the component listens on an address that is unknown.
	hasOpenAddress bool
}

// profileListeners returns the listening addresses of the component's type.
func (comp *component) profileListeners() []listening {
	if comp.profile == nil {
		return nil
	}
	return comp.profile.listens
}

// output is an output of a component that other components can use as input.
type output struct {
	// id is the component's id, or the component's id and the name of the output: ID.NAME.
	id        string
	events    events
	component *component
	// isTwice reports whether another output has the same id. isUsed reports whether a component uses the
	// output as input.
	isTwice, isUsed bool
}

// input is an entry of a component's inputs after patterns are expanded.
type input struct {
	text, path string
	pos        position
	// pattern is the pattern that was expanded to this input, or "" for an input without a pattern.
	pattern string
}

// readComponents adds the components of the configuration, and checks each component on its own.
func (c *checker) readComponents() {
	c.byKind = map[kind]map[string]*component{source: {}, transform: {}, sink: {}, memory: {}}
	for _, section := range sections {
		sectionValue := c.root.get(section.key)
		if sectionValue.form != table && sectionValue.form != null && sectionValue.form != open {
			c.report(wrongForm, sectionValue.pos, section.key, "%s is %s, not a map of components by their id", section.key, sectionValue.form.formNoun())
		}
		for i := range sectionValue.entries {
			e := &sectionValue.entries[i]
			comp := &component{kind: section.kind, id: e.key, pos: e.pos, path: joinPath(section.key, e.key), options: e.value}
			if c.readComponent(comp) {
				c.components = append(c.components, comp)
				c.byKind[section.kind][e.key] = comp
			}
		}
	}
	c.readTables()
	for _, comp := range c.components {
		comp.outputs = c.componentOutputs(comp)
	}
}

// readComponent sets the inputs, the type and the profile of a component from its options, and reports a missing or
// wrong type. It returns false if the component is not a map, so that it has to be ignored.
func (c *checker) readComponent(comp *component) bool {
	if comp.options.form == open {
		comp.options = &value{form: open, pos: comp.pos}
	} else if comp.options.form != table {
		c.report(wrongForm, comp.pos, comp.path, "%s is %s, not a map with a type", comp.path, comp.options.form.formNoun())
		return false
	}
	comp.inputEvents = everything
	c.readInputs(comp)
	typed := comp.options.get("type")
	switch {
	case comp.options.form == open || typed.form == open || typed.form == null && c.hasOpenKey(comp.options):
	case typed.form == null:
		advice := mergesOnce
		if !comp.options.hasKey(mergeKey) {
			advice = didYouMean(c.nearestKey(comp.options, "type"))
		}
		c.report(noType, comp.pos, comp.path, "type is missing", advice)
	case typed.form != text || typed.scalar == "":
		c.report(noType, typed.pos, comp.path+".type", "the type is %s, not the name of a %s type", typed.form.formNoun(), comp.kind)
	case c.isDynamic(typed.scalar):
		if !c.canEqualAny(typed.scalar, c.tables.names[comp.kind]) {
			c.add(unknownType, typed.pos, comp.path+".type", c.version.isCovered(), "unknown %s type %q", comp.kind, typed.scalar)
		}
	default:
		comp.typeName = typed.scalar
		comp.profile = c.findProfile(comp, typed.pos)
	}
	if comp.profile != nil {
		comp.inputEvents = c.acceptedEvents(comp)
	}
	return true
}

// nearestKey returns the name if one of a table's keys is probably a typo of that name, and "" otherwise.
func (c *checker) nearestKey(options *value, name string) string {
	for i := range options.entries {
		if c.effort.nearestName(options.entries[i].key, []string{name}) == name {
			return name
		}
	}
	return ""
}

// oldestTableMinor is the minor version up to which the release that added a type is not checked.
const oldestTableMinor = 20

// findProfile returns the profile of a component's type, or nil for an unknown type. It reports a type that is unknown
// or deprecated, and a type that the checked version of Vector does not have.
func (c *checker) findProfile(comp *component, pos position) *profile {
	path := comp.path + ".type"
	p := c.tables.profiles[comp.kind][comp.typeName]
	if p == nil {
		near := c.effort.nearestName(comp.typeName, c.tables.names[comp.kind])
		isCertain := near != "" || c.version.isCovered() // A newer version may have other types.
		c.add(unknownType, pos, path, isCertain, "unknown %s type %q", comp.kind, comp.typeName, c.otherKindHint(comp, near))
		return nil
	}
	switch {
	case p.sinceMinor > c.version.minor && p.sinceMinor > oldestTableMinor:
		c.add(newerThanImage, pos, path, c.version.isKnown, "the %s type %q requires Vector 0.%d or later; the image has Vector %s", comp.kind, comp.typeName, p.sinceMinor, c.version)
	case p.removedMinor > 0 && p.removedMinor <= c.version.minor:
		c.add(removedFromImage, pos, path, c.version.isKnown, "the %s type %q was removed in Vector 0.%d, and the image has Vector %s", comp.kind, comp.typeName, p.removedMinor, c.version, help(p.instead))
	case p.alias != "":
		c.report(deprecatedType, pos, path, "the %s type %q is now called %q", comp.kind, comp.typeName, p.alias, help("write type: "+p.alias))
	}
	return p
}

// otherKindHint returns a help for an unknown type. The help suggests a similar type of the same kind, or else the
// kind of components that has the type.
func (c *checker) otherKindHint(comp *component, near string) help {
	if near != "" {
		return didYouMean(near)
	}
	for _, section := range sections {
		if c.tables.profiles[section.kind][comp.typeName] != nil {
			return help("the type is a " + string(section.kind) + ": move the component to " + section.key)
		}
	}
	return ""
}

// readInputs sets the inputs of a component as they are in the configuration, with patterns not expanded.
func (c *checker) readInputs(comp *component) {
	if comp.kind == source {
		return
	}
	configured := comp.options.get("inputs")
	path := comp.path + ".inputs"
	switch {
	case configured.form == open || comp.options.form == open || configured.form == null && c.hasOpenKey(comp.options):
	case configured.form == null:
		c.report(noInputs, comp.pos, path, "inputs is missing", didYouMean(c.nearestKey(comp.options, "inputs")))
	case configured.form != list:
		c.report(noInputs, configured.pos, path, "inputs is %s, not a list", configured.form.formNoun())
	case len(configured.items) == 0:
		c.report(noInputs, configured.pos, path, "inputs is empty")
	}
	for i, item := range configured.items {
		itemPath := path + "[" + itoa(i) + "]"
		if item.form == list || item.form == table || item.form == null {
			c.report(noInputs, item.pos, itemPath, "an input is %s, not the id of a component", item.form.formNoun())
			continue
		}
		comp.inputs = append(comp.inputs, input{text: item.scalar, path: itemPath, pos: item.pos})
	}
}

// readTables adds the enrichment tables of type memory as components, because they may receive or produce
// events.
func (c *checker) readTables() {
	sectionValue := c.root.get("enrichment_tables")
	for i := range sectionValue.entries {
		e := &sectionValue.entries[i]
		if e.value.get("type").scalar != "memory" {
			continue
		}
		comp := &component{kind: memory, id: e.key, pos: e.pos, path: joinPath("enrichment_tables", e.key), options: e.value, typeName: "memory", inputEvents: logs}
		if inputs := e.value.get("inputs"); inputs.form != list && inputs.form != null && inputs.form != open || len(inputs.items) > 0 {
			c.readInputs(comp)
		}
		c.components = append(c.components, comp)
		c.byKind[memory][e.key] = comp
	}
}

// isSinkLike reports whether a component consumes events: a sink, or a memory table with inputs.
func (comp *component) isSinkLike() bool {
	return comp.kind == sink || comp.kind == memory && len(comp.inputs) > 0
}

// isDynamic reports whether a text contains an unknown part, such as a variable or a secret.
func (c *checker) isDynamic(scalar string) bool {
	return c.openTexts[scalar] || strings.Contains(scalar, "SECRET[") && secret.MatchString(scalar)
}

// hasType reports whether the component has one of some types.
func (comp *component) hasType(types ...string) bool { return slices.Contains(types, comp.typeName) }
