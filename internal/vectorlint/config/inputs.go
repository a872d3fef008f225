// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"
)

// resolveInputs collects the outputs of all components, sources before transforms. It then expands the patterns
// in inputs to the outputs that they match.
func (c *checker) resolveInputs() {
	c.outputs = map[string]*output{}
	var ids []string
	for _, comp := range c.components {
		for _, output := range comp.outputs {
			if existing := c.outputs[output.id]; existing != nil {
				existing.isTwice = true
				continue
			}
			c.outputs[output.id] = output
			ids = append(ids, output.id)
		}
	}
	room := mostInputs
	for _, comp := range c.components {
		comp.inputs = c.expandInputs(comp, ids, &room)
	}
	switch {
	case room < 0:
		c.report(tooLarge, c.root.pos, "", "the patterns in inputs match more than %d times", mostInputs)
	case c.effort.remaining < 0:
		c.report(tooLarge, c.root.pos, "", "the patterns in inputs, and the outputs that they may match, are too many or too long")
	}
}

// mostInputs is the maximum number of inputs in a configuration after patterns are expanded.
const mostInputs = 50_000

// expandInputs returns the inputs of a component after each pattern is replaced by the outputs that it matches.
// Outputs of the component itself do not count. A pattern that does not match any output is unchanged. room is the
// number of inputs that patterns may still add in the whole configuration.
func (c *checker) expandInputs(comp *component, ids []string, room *int) []input {
	var expanded []input
	for _, ref := range comp.inputs {
		if !isPattern(ref.text) || isLiteral(ref.text) {
			expanded = append(expanded, ref)
			continue
		}
		start, pattern := len(expanded), newGlob(ref.text)
		for _, id := range ids {
			if *room < 0 || !c.effort.spendCharacters(len(id)) {
				return nil
			}
			if id != comp.id && pattern.matches(id, c.effort) {
				*room--
				expanded = append(expanded, input{text: id, path: ref.path, pos: ref.pos, pattern: ref.text})
			}
		}
		if len(expanded) == start {
			expanded = append(expanded, ref)
		}
	}
	return expanded
}

// checkRepeated reports inputs that a component lists more than once.
func (c *checker) checkRepeated(comp *component) {
	byText := map[string]input{}
	for _, ref := range comp.inputs {
		previous, ok := byText[ref.text]
		if !ok {
			byText[ref.text] = ref
			continue
		}
		suffix := ""
		for _, pattern := range []string{previous.pattern, ref.pattern} {
			if pattern != "" {
				suffix = ", by the pattern \"" + pattern + "\""
			}
		}
		c.report(repeatedInput, ref.pos, ref.path, "input %q is listed twice%s", ref.text, suffix)
	}
}

// checkInputs connects inputs with outputs. It reports inputs that do not exist, and outputs with events that
// the component does not accept.
func (c *checker) checkInputs() {
	matching := c.root.get("wildcard_matching")
	relaxed := matching.form == open || c.canEqual(matching.scalar, "relaxed")
	ids := slices.Collect(maps.Keys(c.outputs))
	for _, comp := range c.components {
		for _, ref := range comp.inputs {
			output := c.outputs[ref.text]
			switch {
			case output == nil && relaxed && isPattern(ref.text):
			case output == nil && c.isDynamic(ref.text) && (isPattern(ref.text) || c.canEqualAny(ref.text, ids)):
			case output == nil && c.hasUnknownOutputs(ref.text): // It may exist.
			case output == nil:
				c.reportUnknownInput(comp, ref)
			case output.isTwice:
				c.report(ambiguousInput, ref.pos, ref.path, "input %q is the name of two outputs", ref.text)
			default:
				c.linkInput(comp, ref, output)
			}
		}
	}
}

// hasUnknownOutputs reports whether an input may refer to an output that is unknown, because a component's
// type, options or id are unknown.
func (c *checker) hasUnknownOutputs(text string) bool {
	id, _, isNamed := strings.Cut(text, ".")
	if c.isRootOpen() || c.hasUnknownTable() {
		return true
	}
	for _, section := range sections {
		sectionValue := c.root.get(section.key)
		isMeant := func(e entry) bool {
			return c.isDynamic(e.key) && (c.canEqual(e.key, text) || c.canEqual(e.key, id) || c.isDynamic(text))
		}
		if sectionValue.form == open || slices.ContainsFunc(sectionValue.entries, isMeant) {
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
		mayBeMemory := e.value.form == open || typed.form == open || c.hasOpenKey(e.value) || c.canEqual(typed.scalar, "memory")
		isKnown := typed.scalar == "memory" && config.form != open && !c.hasOpenKey(config) && !c.hasOpenKey(e.value) &&
			config.get("source_key").form != open && !c.isDynamic(config.get("source_key").scalar) && config.get("export_expired_items").form != open
		return mayBeMemory && !isKnown
	})
}

// isOpenComponent reports whether a component has unknown options, or outputs with unknown names.
func (c *checker) isOpenComponent(comp *component) bool {
	isOpenRoute := func(v *value) bool {
		name := v.get("name")
		return v.form == open || name.form == open || c.isDynamic(name.scalar) || c.hasOpenKey(v)
	}
	return comp.options.form == open || c.hasOpenKey(comp.options) || c.hasOpenKey(comp.options.get("route")) ||
		slices.ContainsFunc(comp.options.get("routes").items, isOpenRoute) ||
		slices.ContainsFunc(comp.options.entries, func(e entry) bool { return e.value.form == open })
}

// linkInput adds the output to which an input refers to the component's sources, and reports an output whose events
// the component does not accept.
func (c *checker) linkInput(comp *component, ref input, producer *output) {
	producer.isUsed = true
	comp.sources = append(comp.sources, producer)
	if producer.events&comp.inputEvents == 0 {
		c.report(eventsDoNotMeet, ref.pos, ref.path, "input %q sends %s events, but the %s %q accepts %s events", ref.text, producer.events, comp.kind, comp.id, comp.inputEvents)
	}
}

// reportUnknownInput reports an input that does not refer to any output, with the most probable reason.
func (c *checker) reportUnknownInput(comp *component, ref input) {
	id, name, isNamed := strings.Cut(ref.text, ".")
	names := c.outputIDs(id)
	switch {
	case c.byKind[sink][ref.text] != nil:
		c.report(unknownInput, ref.pos, ref.path, "input %q is a sink, which has no output", ref.text)
	case isNamed && len(names) > 0:
		c.report(unknownInput, ref.pos, ref.path, "component %q has no output %q", id, name, help(c.droppedOutputHint(id, name)+"the outputs are "+strings.Join(names, ", ")))
	case isPattern(ref.text):
		c.report(unknownInput, ref.pos, ref.path, "the input pattern %q matches no output", ref.text)
	case len(names) > 0:
		c.report(unknownInput, ref.pos, ref.path, "component %q has no output with the id of the component", ref.text, help("name one of "+strings.Join(names, ", ")))
	default:
		c.report(unknownInput, ref.pos, ref.path, "unknown source, transform or output %q", ref.text, didYouMean(c.nearestOutput(comp, ref.text)))
	}
}

// droppedOutputHint returns a hint if an input refers to the output dropped of a remap transform without
// reroute_dropped, and "" otherwise.
func (c *checker) droppedOutputHint(id, name string) string {
	if comp := c.byKind[transform][id]; comp != nil && comp.hasType("remap") && name == "dropped" {
		return "set reroute_dropped: true: "
	}
	return ""
}

// outputIDs returns the ids of the outputs of the source and the transform with an id.
func (c *checker) outputIDs(id string) []string {
	var names []string
	for _, k := range []kind{source, transform} {
		if comp := c.byKind[k][id]; comp != nil {
			for _, output := range comp.outputs {
				names = append(names, output.id)
			}
		}
	}
	return names
}

// nearestOutput returns the output with the id that is most similar to a text, except outputs of the component
// itself. It returns "" after the maximum number of findings, because further findings are dropped.
func (c *checker) nearestOutput(comp *component, text string) string {
	if c.counts[Error] >= mostFindings {
		return ""
	}
	var ids []string
	for id, output := range c.outputs {
		if output.component != comp {
			ids = append(ids, id)
		}
	}
	return c.effort.nearestName(text, ids)
}
