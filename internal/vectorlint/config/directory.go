// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// mergeDirectory adds the files of a directory to the configuration as Vector does. The files at its top are added
// first, as one file. The files of the directories that name a kind of components follow. There, the name of a file is
// the id of its component.
func (c *checker) mergeDirectory(root *value, files []File, trees []*value) {
	top := &value{form: table, at: position{line: 1, column: 1}}
	sections := map[string]*value{}
	for i, tree := range trees {
		steps := strings.Split(files[i].Below, "/")
		if len(steps) == 1 {
			c.mergeTables("", top, tree)
			continue
		}
		section := sections[steps[0]]
		if section == nil {
			section = &value{form: table, at: tree.at}
			sections[steps[0]] = section
		}
		c.mergeNested(section, steps, tree)
	}
	c.merge(root, top)
	for _, name := range vectorflags.Sections {
		section := sections[name]
		if section == nil {
			continue
		}
		c.trees = append(c.trees, &value{form: table, entries: []entry{{key: name, at: section.at, value: section}}})
		extend(root, name, section)
	}
}

// mergeNested adds a file at a path of directories. The first directory is the section. A directory with the name of a
// file next to it adds options to that file's component.
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
			into.add(entry{key: id, at: tree.at, value: copied(tree)})
			return
		case existing == nil:
			into.add(entry{key: id, at: tree.at, value: &value{form: table, at: tree.at}})
			existing = into.entry(id)
		case existing.value.form != table:
			c.report(definedTwice, tree.at, strings.Join(keys, "."), "%s is also defined at %s", strings.Join(keys, "."), c.place(existing.at))
			return
		case isFile:
			c.mergeTables(strings.Join(keys, "."), existing.value, tree)
			return
		}
		into = existing.value
	}
}

// extend adds components and tests to a section. Components replace components with the same id.
func extend(root *value, name string, from *value) {
	existing := root.entry(name)
	if existing == nil {
		form := table
		if name == "tests" {
			form = list
		}
		root.add(entry{key: name, at: from.at, value: &value{form: form, at: from.at}})
		existing = root.entry(name)
	}
	section := copied(existing.value)
	existing.value = section
	for _, e := range from.entries {
		switch first := section.entry(e.key); {
		case section.form == list:
			section.items = append(section.items, e.value)
		case section.form != table: // A separate rule reports it.
		case first != nil:
			*first = e
		default:
			section.add(e)
		}
	}
}

// mergeTables adds a table to another one as Vector merges the files of a directory. Tables are combined, and lists
// are appended. The last one of two other values counts, and the order of files is not known.
func (c *checker) mergeTables(at string, into, from *value) {
	for _, e := range from.entries {
		first := into.entry(e.key)
		if first == nil {
			into.add(entry{key: e.key, at: e.at, value: copied(e.value)})
			continue
		}
		was, is, key := first.value, e.value, join(at, e.key)
		switch {
		case was.form == open || is.form == open:
			first.value = &value{form: open, at: e.value.at}
		case was.form != is.form:
			c.report(definedTwice, e.at, key, "%s is %s here and %s at %s", key, is.form.noun(), was.form.noun(), c.place(first.at))
		case was.form == table:
			first.value = copied(was)
			c.mergeTables(key, first.value, is)
		case was.form == list:
			first.value = copied(was)
			first.value.items = append(first.value.items, is.items...)
		case was.scalar != is.scalar:
			first.value = &value{form: open, at: e.value.at}
		}
	}
}
