// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"maps"
	"slices"
)

// collections are the top-level tables whose entries several files may share;
// an entry of one name may be in one of them only.
var collections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// merge adds a file to the configuration as Vector does: components side by
// side, tests one after the other, and everything else only once or the same.
func (c *checker) merge(into, from *value) {
	for _, e := range from.entries {
		there := into.entry(e.key)
		switch {
		case there == nil:
			into.add(entry{key: e.key, at: e.at, value: copied(e.value)})
		case slices.Contains(collections, e.key) && there.value.form == table && e.value.form == table:
			c.mergeEntries(e.key, there.value, e.value)
		case there.value.form == list && e.value.form == list:
			there.value.items = append(there.value.items, e.value.items...)
		case there.value.form == table && e.value.form == table:
			c.mergeOptions(e.key, there.value, e.value)
		case there.value.form == open || e.value.form == open:
		case there.value.scalar != e.value.scalar || there.value.form != e.value.form:
			c.report(definedTwice, e.at, e.key, "%q is %s here and %s at %s", e.key, e.value.scalar, there.value.scalar, c.place(there.at))
		}
	}
}

// copied is a table of its own, so that adding to it leaves the file alone.
func copied(v *value) *value {
	fresh := *v
	fresh.entries, fresh.items, fresh.index = slices.Clone(v.entries), slices.Clone(v.items), maps.Clone(v.index)
	return &fresh
}

func (c *checker) mergeEntries(path string, into, from *value) {
	for _, e := range from.entries {
		if first := into.entry(e.key); first != nil {
			c.report(definedTwice, e.at, join(path, e.key), "%q is also defined at %s", e.key, c.place(first.at))
			continue
		}
		into.add(e)
	}
}

// mergeOptions merges a table of options, such as api, in which two files may
// say the same.
func (c *checker) mergeOptions(path string, into, from *value) {
	for _, e := range from.entries {
		first := into.entry(e.key)
		switch {
		case first == nil:
			into.add(e)
		case first.value.form == table && e.value.form == table:
			c.mergeOptions(join(path, e.key), first.value, e.value)
		case first.value.form == open || e.value.form == open:
		case first.value.scalar != e.value.scalar || first.value.form != e.value.form:
			c.report(definedTwice, e.at, join(path, e.key), "%q is %s here and %s at %s", e.key, e.value.scalar, first.value.scalar, c.place(first.at))
		}
	}
}
