// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// mergeDirectory merges the files of a configuration directory into the configuration as Vector does. It first
// merges the files at the top of the directory as if they were one file. The files in subdirectories, such as
// sources, follow. In a subdirectory, each file defines one component, and the file name is the component's id.
func (c *checker) mergeDirectory(root *value, files []File, trees []*value) {
	top := &value{form: table, pos: position{line: 1, column: 1}}
	sections := map[string]*value{}
	for i, tree := range trees {
		steps := strings.Split(files[i].RelativePath, "/")
		if len(steps) == 1 {
			c.mergeTables("", top, tree)
			continue
		}
		section := sections[steps[0]]
		if section == nil {
			section = &value{form: table, pos: tree.pos}
			sections[steps[0]] = section
		}
		c.mergeNested(section, steps, tree)
	}
	c.mergeTable(root, top)
	for _, name := range vectorflags.Sections {
		section := sections[name]
		if section == nil {
			continue
		}
		c.trees = append(c.trees, &value{form: table, entries: []entry{{key: name, pos: section.pos, value: section}}})
		extendTable(root, name, section)
	}
}

// mergeNested merges a file that is in a subdirectory. The first step of its path is the section, such as
// sources. If a subdirectory has the same name as a file next to it, its files add options to that file's
// component.
func (c *checker) mergeNested(section *value, steps []string, tree *value) {
	into, keys := section, steps[:1]
	for i, step := range steps[1:] {
		id := strings.TrimSuffix(step, path.Ext(step))
		if id == "" {
			id = step // Such as .hidden.
		}
		keys = append(slices.Clone(keys), id)
		isFile := i == len(steps)-2
		existing := into.entry(id)
		switch {
		case existing == nil && isFile:
			into.addEntry(entry{key: id, pos: tree.pos, value: shallowCopy(tree)})
			return
		case existing == nil:
			into.addEntry(entry{key: id, pos: tree.pos, value: &value{form: table, pos: tree.pos}})
			existing = into.entry(id)
		case existing.value.form != table:
			c.report(definedTwice, tree.pos, strings.Join(keys, "."), "%s is also defined at %s", strings.Join(keys, "."), c.describePosition(existing.pos))
			return
		case isFile:
			c.mergeTables(strings.Join(keys, "."), existing.value, tree)
			return
		}
		into = existing.value
	}
}

// extendTable merges the components or tests of a section into the configuration. A component replaces an existing
// component with the same id.
func extendTable(root *value, name string, from *value) {
	existing := root.entry(name)
	if existing == nil {
		form := table
		if name == "tests" {
			form = list
		}
		root.addEntry(entry{key: name, pos: from.pos, value: &value{form: form, pos: from.pos}})
		existing = root.entry(name)
	}
	section := shallowCopy(existing.value)
	existing.value = section
	for _, e := range from.entries {
		switch previous := section.entry(e.key); {
		case section.form == list:
			section.items = append(section.items, e.value)
		case section.form != table: // A separate rule reports it.
		case previous != nil:
			*previous = e
		default:
			section.addEntry(e)
		}
	}
}

// mergeTables merges a table into another table as Vector merges the files of a directory. Nested tables are
// merged, and lists are appended. If both tables set an option to different values, the result is unknown,
// because the order of files in a directory is unknown.
func (c *checker) mergeTables(path string, into, from *value) {
	for _, e := range from.entries {
		existing := into.entry(e.key)
		if existing == nil {
			into.addEntry(entry{key: e.key, pos: e.pos, value: shallowCopy(e.value)})
			continue
		}
		previous, current, key := existing.value, e.value, joinPath(path, e.key)
		switch {
		case previous.form == open || current.form == open:
			existing.value = &value{form: open, pos: e.value.pos}
		case previous.form != current.form:
			c.report(definedTwice, e.pos, key, "%s is %s here, but %s at %s", key, current.form.formNoun(), previous.form.formNoun(), c.describePosition(existing.pos))
		case previous.form == table:
			existing.value = shallowCopy(previous)
			c.mergeTables(key, existing.value, current)
		case previous.form == list:
			existing.value = shallowCopy(previous)
			existing.value.items = append(existing.value.items, current.items...)
		case previous.scalar != current.scalar:
			existing.value = &value{form: open, pos: e.value.pos}
		}
	}
}
