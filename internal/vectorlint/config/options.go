// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// smallestBuffer is the minimum size of a disk buffer in bytes.
const smallestBuffer = 268435488

// misplaced are common options by the kinds that do not have them.
var misplaced = map[kind][]string{
	source:    {"inputs", "buffer", "healthcheck", "encoding"},
	transform: {"buffer", "healthcheck", "encoding", "proxy"},
}

// exclusive are options that exclude each other in the Vector of the schema, by the type of their component, and
// whether one of them is needed. If a needed one is missing, Vector reads the configuration, but does not start.
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

func (c *checker) checkExclusive(one *component) {
	if !c.isTabled || c.version.minor != vectoroptions.Schema || one.options.form == open {
		return
	}
	for _, of := range exclusive {
		if of.kind != one.kind || of.typeName != one.typeName {
			continue
		}
		given := slices.DeleteFunc(slices.Clone(of.choices), func(name string) bool {
			v := one.options.get(name)
			return v.form == null || one.kind == sink && v.form == list && len(v.items) == 0
		})
		switch {
		case len(given) == 0 && (!of.isNeeded || c.hasOpenKey(one.options)):
		case len(given) == 0:
			c.report(missingOption, one.at, one.path, "the %s %q needs %s", one.kind, one.typeName, strings.Join(of.choices, " or "))
		case len(given) > 1:
			c.report(unknownOption, one.at, one.path, "the %s %q has %s: Vector takes one of them", one.kind, one.typeName, strings.Join(given, " and "), help("leave out the others"))
		}
	}
}

// checkOptions checks a component against the options of its type.
func (c *checker) checkOptions(one *component) {
	object := c.objectOf(one, c.version.minor)
	for _, key := range misplaced[one.kind] {
		if e := one.options.entry(key); e != nil && (object == nil || object.Option(key) == nil) {
			c.add(misplacedKey, e.at, join(one.path, key), object != nil && object.Denies && c.isTabled, "a %s of this type has no %s", one.kind, key)
		}
	}
	c.checkBuffer(one)
	if object == nil {
		return
	}
	of := fmt.Sprintf("the %s %q", one.kind, one.typeName)
	options := &value{form: table, at: one.options.at}
	for _, e := range one.options.entries {
		if object.Option(e.key) == nil && (slices.Contains(misplaced[one.kind], e.key) || c.isOfOtherVersion(one, object, &e)) {
			continue
		}
		options.add(e)
	}
	c.judge(one.path, of, one.at, options, object, "type", "inputs")
	c.checkExclusive(one)
}

// isOfOtherVersion reports whether another version has an option, and adds a finding in that case.
func (c *checker) isOfOtherVersion(one *component, object *vectoroptions.Object, e *entry) bool {
	has := func(minor int) bool {
		other := c.objectOf(one, minor)
		return other != nil && other.Option(e.key) != nil
	}
	isCertain := object.Denies && c.version.known
	for minor := max(c.version.minor+1, vectoroptions.Oldest); minor <= vectoroptions.Newest; minor++ {
		if has(minor) {
			c.add(otherVersion, e.at, join(one.path, e.key), isCertain, "%s came with Vector 0.%d, and the image is %s", e.key, minor, c.version)
			return true
		}
	}
	for minor := min(c.version.minor-1, vectoroptions.Newest); minor >= vectoroptions.Oldest; minor-- {
		if has(minor) {
			c.add(otherVersion, e.at, join(one.path, e.key), isCertain, "%s was removed in Vector 0.%d, and the image is %s", e.key, minor+1, c.version)
			return true
		}
	}
	return false
}

// checkBuffer requires the minimum size of disk buffers.
func (c *checker) checkBuffer(one *component) {
	for _, stage := range diskBuffers(one) {
		size := stage.get("max_size")
		if n, ok := size.float(); ok && n < smallestBuffer {
			c.report(smallBuffer, size.at, one.path+".buffer.max_size", "a disk buffer of %s bytes is too small", size.scalar)
		}
	}
}

// diskBuffers returns the stages of a sink's buffer that are on disk.
func diskBuffers(one *component) []*value { return buffers(one, "disk") }

// memoryBuffers returns the stages that are in memory, which is the default.
func memoryBuffers(one *component) []*value { return buffers(one, "memory", "") }

func buffers(one *component, types ...string) []*value {
	if one.kind != sink {
		return nil
	}
	buffer := one.options.get("buffer")
	stages := buffer.items
	if buffer.form == table {
		stages = []*value{buffer}
	}
	var found []*value
	for _, stage := range stages {
		if slices.Contains(types, stage.get("type").scalar) {
			found = append(found, stage)
		}
	}
	return found
}
