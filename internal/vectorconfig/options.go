// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// smallestBuffer is how many bytes a disk buffer has at least.
const smallestBuffer = 268435488

// misplaced are common options by the kinds that do not have them.
var misplaced = map[kind][]string{
	source:    {"inputs", "buffer", "healthcheck", "encoding"},
	transform: {"buffer", "healthcheck", "encoding", "proxy"},
}

// checkOptions finds what is missing from a component, and what it cannot have.
func (c *checker) checkOptions(one *component) {
	for _, key := range misplaced[one.kind] {
		if e := one.options.entry(key); e != nil {
			c.report(misplacedKey, e.at, join(one.path, key), "a %s has no %s", one.kind, key)
		}
	}
	c.checkBuffer(one)
	if one.profile == nil {
		return
	}
	for _, option := range slices.Sorted(maps.Keys(one.profile.options)) {
		since := one.profile.options[option]
		if e := one.options.entry(option); e != nil && since > c.version.minor {
			c.add(otherVersion, e.at, join(one.path, option), c.version.known, "%s came with Vector 0.%d, and the image is %s", option, since, c.version)
		}
	}
	for _, required := range one.profile.required {
		c.checkRequired(one, required)
	}
}

// checkRequired holds a component to one entry of required_options. What an older
// version requires is not known.
func (c *checker) checkRequired(one *component, required string) {
	name, depends := strings.CutSuffix(required, "*")
	if depends && !appliesTo(name, one.options) {
		return
	}
	names := strings.Split(name, "|")
	if slices.ContainsFunc(names, one.options.has) {
		return
	}
	c.add(missingOption, one.at, one.path, c.version.isCovered(), "the %s %q needs %s", one.kind, one.typeName, strings.Join(names, " or "), c.didYouMeanInstead(one.options, names))
}

// appliesTo tells whether an option is required in this mode.
func appliesTo(option string, options *value) bool {
	mode := options.get("mode").scalar
	switch option {
	case "address":
		return mode == "tcp" || mode == "udp"
	case "path", "socket_path":
		return strings.HasPrefix(mode, "unix")
	case "lines":
		return options.get("format").scalar == "shuffle"
	}
	return false
}

// didYouMeanInstead helps with a key that is nearly one of those that are missing.
func (c *checker) didYouMeanInstead(options *value, names []string) help {
	for i := range options.entries {
		if near := c.effort.nearest(options.entries[i].key, names); near != "" {
			return help("did you mean " + strconv.Quote(near) + " where it says " + strconv.Quote(options.entries[i].key) + "?")
		}
	}
	return ""
}

// checkBuffer wants disk buffers of the size that Vector wants.
func (c *checker) checkBuffer(one *component) {
	for _, stage := range diskBuffers(one) {
		size := stage.get("max_size")
		if n, ok := size.float(); ok && n < smallestBuffer {
			c.report(smallBuffer, size.at, one.path+".buffer.max_size", "a disk buffer of %s bytes is too small", size.scalar)
		}
	}
}

// diskBuffers lists the stages of a sink's buffer that are on disk.
func diskBuffers(one *component) []*value {
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
		if stage.get("type").scalar == "disk" {
			found = append(found, stage)
		}
	}
	return found
}
