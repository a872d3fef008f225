// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"
)

// resolveInputs collects the outputs, sources before transforms, and expands the patterns in inputs against them.
func (c *checker) resolveInputs() {
	c.outputs = map[string]*output{}
	var ids []string
	for _, one := range c.components {
		for _, out := range one.outputs {
			if first := c.outputs[out.id]; first != nil {
				first.isTwice = true
				continue
			}
			c.outputs[out.id] = out
			ids = append(ids, out.id)
		}
	}
	room := mostInputs
	for _, one := range c.components {
		one.inputs = c.expand(one, ids, &room)
	}
	switch {
	case room < 0:
		c.report(tooLarge, c.root.at, "", "the patterns in inputs match more than %d times", mostInputs)
	case c.effort.left < 0:
		c.report(tooLarge, c.root.at, "", "the patterns in inputs, and the outputs that they may match, are too many or too long")
	}
}

// mostInputs is the maximum number of inputs of a configuration, with patterns expanded.
const mostInputs = 50_000

// expand replaces each pattern by the outputs that it matches, except the outputs of the consumer itself. A pattern
// without a match is unchanged.
func (c *checker) expand(one *component, ids []string, room *int) []input {
	var all []input
	for _, in := range one.inputs {
		if !isPattern(in.text) || isLiteral(in.text) {
			all = append(all, in)
			continue
		}
		before, pattern := len(all), globOf(in.text)
		for _, id := range ids {
			if *room < 0 || !c.effort.spend(len(id)) {
				return nil
			}
			if id != one.id && pattern.matches(id, c.effort) {
				*room--
				all = append(all, input{text: id, path: in.path, at: in.at, pattern: in.text})
			}
		}
		if len(all) == before {
			all = append(all, in)
		}
	}
	return all
}

// checkRepeated finds repeated inputs.
func (c *checker) checkRepeated(one *component) {
	seen := map[string]input{}
	for _, in := range one.inputs {
		first, isThere := seen[in.text]
		if !isThere {
			seen[in.text] = in
			continue
		}
		why := ""
		for _, pattern := range []string{first.pattern, in.pattern} {
			if pattern != "" {
				why = ", by the pattern \"" + pattern + "\""
			}
		}
		c.report(repeatedInput, in.at, in.path, "%q is an input twice%s", in.text, why)
	}
}

// checkInputs links inputs to outputs. Each output must exist, and must produce events that the consumer accepts.
func (c *checker) checkInputs() {
	matching := c.root.get("wildcard_matching")
	relaxed := matching.form == open || c.mayBe(matching.scalar, "relaxed")
	ids := slices.Collect(maps.Keys(c.outputs))
	for _, one := range c.components {
		for _, in := range one.inputs {
			out := c.outputs[in.text]
			switch {
			case out == nil && relaxed && isPattern(in.text):
			case out == nil && c.isDynamic(in.text) && (isPattern(in.text) || c.mayBeOneOf(in.text, ids)):
			case out == nil && c.hasUnknownOutputs(in.text): // It may exist.
			case out == nil:
				c.reportUnknownInput(one, in)
			case out.isTwice:
				c.report(ambiguousInput, in.at, in.path, "%q is the name of two outputs", in.text)
			default:
				c.link(one, in, out)
			}
		}
	}
}

// hasUnknownOutputs reports whether an input may be an output of a component with an unknown type, option or id.
func (c *checker) hasUnknownOutputs(text string) bool {
	id, _, isNamed := strings.Cut(text, ".")
	if c.isRootOpen() || c.hasUnknownTable() {
		return true
	}
	for _, section := range sections {
		of := c.root.get(section.key)
		isMeant := func(e entry) bool {
			return c.isDynamic(e.key) && (c.mayBe(e.key, text) || c.mayBe(e.key, id) || c.isDynamic(text))
		}
		if of.form == open || slices.ContainsFunc(of.entries, isMeant) {
			return true
		}
	}
	for _, k := range []kind{source, transform} {
		for _, owner := range c.byKind[k] {
			isMeant := isNamed && owner.id == id || c.isDynamic(text)
			if isMeant && (owner.profile == nil || c.isOpenComponent(owner)) {
				return true
			}
		}
	}
	return false
}

// hasUnknownTable reports whether an enrichment table may be a source with unknown outputs.
func (c *checker) hasUnknownTable() bool {
	tables := c.root.get("enrichment_tables")
	return tables.form == open || c.hasOpenKey(tables) || slices.ContainsFunc(tables.entries, func(e entry) bool {
		typed, config := e.value.get("type"), e.value.get("source_config")
		mayBeMemory := e.value.form == open || typed.form == open || c.hasOpenKey(e.value) || c.mayBe(typed.scalar, "memory")
		isKnown := typed.scalar == "memory" && config.form != open && !c.hasOpenKey(config) && !c.hasOpenKey(e.value) &&
			config.get("source_key").form != open && !c.isDynamic(config.get("source_key").scalar) && config.get("export_expired_items").form != open
		return mayBeMemory && !isKnown
	})
}

// isOpenComponent reports whether an option of a component may be anything, or a part of the names of its outputs.
func (c *checker) isOpenComponent(one *component) bool {
	isOpenRoute := func(v *value) bool {
		name := v.get("name")
		return v.form == open || name.form == open || c.isDynamic(name.scalar) || c.hasOpenKey(v)
	}
	return one.options.form == open || c.hasOpenKey(one.options) || c.hasOpenKey(one.options.get("route")) ||
		slices.ContainsFunc(one.options.get("routes").items, isOpenRoute) ||
		slices.ContainsFunc(one.options.entries, func(e entry) bool { return e.value.form == open })
}

func (c *checker) link(one *component, in input, out *output) {
	out.isUsed = true
	one.sources = append(one.sources, out)
	if out.gives&one.takes == 0 {
		c.report(eventsDoNotMeet, in.at, in.path, "%q gives %s events, and the %s %q takes %s events", in.text, out.gives, one.kind, one.id, one.takes)
	}
}

func (c *checker) reportUnknownInput(one *component, in input) {
	id, name, isNamed := strings.Cut(in.text, ".")
	names := c.namesOf(id)
	switch {
	case c.byKind[sink][in.text] != nil:
		c.report(unknownInput, in.at, in.path, "%q is a sink, and events end there", in.text)
	case isNamed && len(names) > 0:
		c.report(unknownInput, in.at, in.path, "%q has no output %q", id, name, help(c.dropHint(id, name)+"the outputs are "+strings.Join(names, ", ")))
	case isPattern(in.text):
		c.report(unknownInput, in.at, in.path, "the pattern %q matches no output", in.text)
	case len(names) > 0:
		c.report(unknownInput, in.at, in.path, "%q has no output of its own name", in.text, help("name one of "+strings.Join(names, ", ")))
	default:
		c.report(unknownInput, in.at, in.path, "unknown source, transform or output %q", in.text, didYouMean(c.nearestOutput(one, in.text)))
	}
}

// dropHint explains the output dropped, which remap has only if an option enables it.
func (c *checker) dropHint(id, name string) string {
	if one := c.byKind[transform][id]; one != nil && one.is("remap") && name == "dropped" {
		return "set reroute_dropped: true: "
	}
	return ""
}

// namesOf returns the outputs of a component.
func (c *checker) namesOf(id string) []string {
	var names []string
	for _, k := range []kind{source, transform} {
		if one := c.byKind[k][id]; one != nil {
			for _, out := range one.outputs {
				names = append(names, out.id)
			}
		}
	}
	return names
}

// nearestOutput returns the output that was probably meant. It is skipped after the maximum number of findings,
// because further findings are not reported.
func (c *checker) nearestOutput(one *component, text string) string {
	if c.counts[Error] >= mostFindings {
		return ""
	}
	var ids []string
	for id, out := range c.outputs {
		if out.of != one {
			ids = append(ids, id)
		}
	}
	return c.effort.nearest(text, ids)
}
