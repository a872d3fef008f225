// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// smallestBuffer is the minimum size in bytes that Vector accepts for a disk buffer.
const smallestBuffer = 268435488

// misplaced contains common options that some kinds of components do not have, by these kinds.
var misplaced = map[kind][]string{
	source:    {"inputs", "buffer", "healthcheck", "encoding"},
	transform: {"buffer", "healthcheck", "encoding", "proxy"},
}

// exclusive contains options that exclude each other in the version of the schema, by the type of their
// component. If isNeeded is true, one of them is required. If it is missing, Vector reads the configuration but
// does not start.
var exclusive = []struct {
	kind     kind
	typeName string
	isNeeded bool
	choices  []string
}{
	{transform, "remap", true, []string{"source", "file", "files"}},
	{transform, "sample", true, []string{"rate", "ratio"}},
	{transform, "reduce", false, []string{"starts_when", "ends_when"}},
	{sink, "elasticsearch", true, []string{"endpoints", "endpoint"}},
	{sink, "vector", true, []string{"routing", "address"}},
}

// checkExclusive reports options of a component that exclude each other, or the absence of all of them if one is
// needed.
func (c *checker) checkExclusive(comp *component) {
	if !c.hasOptionTable || c.version.minor != vectoroptions.Schema || comp.options.form == open {
		return
	}
	for _, rule := range exclusive {
		if rule.kind != comp.kind || rule.typeName != comp.typeName {
			continue
		}
		present := slices.DeleteFunc(slices.Clone(rule.choices), func(name string) bool {
			v := comp.options.get(name)
			return v.form == null || comp.kind == sink && v.form == list && len(v.items) == 0
		})
		switch {
		case len(present) == 0 && (!rule.isNeeded || c.hasOpenKey(comp.options)):
		case len(present) == 0:
			c.report(missingOption, comp.pos, comp.path, "the %s %q needs %s", comp.kind, comp.typeName, strings.Join(rule.choices, " or "))
		case len(present) > 1:
			c.report(unknownOption, comp.pos, comp.path, "the %s %q has the options %s: Vector accepts only one of them", comp.kind, comp.typeName, strings.Join(present, " and "), help("leave out the others"))
		}
	}
}

// checkOptions checks the options of a component against the options that its type has.
func (c *checker) checkOptions(comp *component) {
	object := c.findObject(comp, c.version.minor)
	for _, key := range misplaced[comp.kind] {
		if e := comp.options.entry(key); e != nil && (object == nil || object.Option(key) == nil) {
			c.add(misplacedKey, e.pos, joinPath(comp.path, key), object != nil && object.Denies && c.hasOptionTable, "a %s of this type has no option %s", comp.kind, key)
		}
	}
	c.checkBuffer(comp)
	if object == nil {
		return
	}
	owner := fmt.Sprintf("the %s %q", comp.kind, comp.typeName)
	options := &value{form: table, pos: comp.options.pos}
	for _, e := range comp.options.entries {
		if object.Option(e.key) == nil && (slices.Contains(misplaced[comp.kind], e.key) || c.isOptionOfOtherVersion(comp, object, &e)) {
			continue
		}
		options.addEntry(e)
	}
	c.checkObject(comp.path, owner, comp.pos, options, object, "type", "inputs")
	c.checkExclusive(comp)
}

// isOptionOfOtherVersion reports whether only another version of Vector has an option. If so, it also adds a finding.
func (c *checker) isOptionOfOtherVersion(comp *component, object *vectoroptions.Object, e *entry) bool {
	hasOption := func(minor int) bool {
		otherObject := c.findObject(comp, minor)
		return otherObject != nil && otherObject.Option(e.key) != nil
	}
	isCertain := object.Denies && c.version.isKnown
	for minor := max(c.version.minor+1, vectoroptions.Oldest); minor <= vectoroptions.Newest; minor++ {
		if hasOption(minor) {
			c.add(otherVersion, e.pos, joinPath(comp.path, e.key), isCertain, "option %s requires Vector 0.%d or later; the image has Vector %s", e.key, minor, c.version)
			return true
		}
	}
	for minor := min(c.version.minor-1, vectoroptions.Newest); minor >= vectoroptions.Oldest; minor-- {
		if hasOption(minor) {
			c.add(otherVersion, e.pos, joinPath(comp.path, e.key), isCertain, "option %s was removed in Vector 0.%d, and the image has Vector %s", e.key, minor+1, c.version)
			return true
		}
	}
	return false
}

// checkBuffer reports disk buffers that are smaller than the minimum size.
func (c *checker) checkBuffer(comp *component) {
	for _, stage := range diskBuffers(comp) {
		size := stage.get("max_size")
		if n, ok := size.float(); ok && n < smallestBuffer {
			c.report(smallBuffer, size.pos, comp.path+".buffer.max_size", "a disk buffer of %s bytes is too small", size.scalar)
		}
	}
}

// diskBuffers returns the stages of a sink's buffer that store events on disk.
func diskBuffers(comp *component) []*value { return buffersOfType(comp, "disk") }

// memoryBuffers returns the stages of a sink's buffer that store events in memory. A stage without a type is in
// memory.
func memoryBuffers(comp *component) []*value { return buffersOfType(comp, "memory", "") }

// buffersOfType returns the stages of a sink's buffer with one of the types. A buffer without a list of stages is one
// stage.
func buffersOfType(comp *component, types ...string) []*value {
	if comp.kind != sink {
		return nil
	}
	buffer := comp.options.get("buffer")
	stages := buffer.items
	if buffer.form == table {
		stages = []*value{buffer}
	}
	var matches []*value
	for _, stage := range stages {
		if slices.Contains(types, stage.get("type").scalar) {
			matches = append(matches, stage)
		}
	}
	return matches
}
