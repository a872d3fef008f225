// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// collections are the top-level tables that several files may add entries to. Two files must not define the
// same entry.
var collections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// agreed contains the options that two files must not set to different values, with their defaults. If one file
// sets the default and another file sets another value, the other value counts. For options that are not in
// agreed, except booleans, the value of the first file counts.
var agreed = map[string]string{
	"data_dir": defaultDataDir, "api.address": defaultAPIAddress,
	"wildcard_matching": "", "timezone": "", "acknowledgements": "", "acknowledgements.enabled": "", "proxy.http": "", "proxy.https": "",
	"expire_metrics_secs": "", "expire_metrics.secs": "", "expire_metrics.nanos": "", "schema.log_namespace": "",
	"log_schema.host_key": "host", "log_schema.message_key": "message", "log_schema.timestamp_key": "timestamp",
	"log_schema.source_type_key": "source_type", "log_schema.metadata_key": "metadata",
}

// disabledByAny are the boolean options that are false if any file sets them to false. All other booleans are
// true if any file sets them to true.
var disabledByAny = []string{"healthchecks.enabled", "proxy.enabled"}

// mergeTable merges a file into the configuration as Vector does. It combines components, appends tests, and reports
// other options that the files set to different values.
func (c *checker) mergeTable(into, from *value) {
	for _, e := range from.entries {
		existing := into.entry(e.key)
		switch {
		case existing == nil:
			into.addEntry(entry{key: e.key, pos: e.pos, value: shallowCopy(e.value)})
		case slices.Contains(collections, e.key) && existing.value.form == table && e.value.form == table:
			c.mergeEntries(e.key, existing.value, e.value)
		case existing.value.form == list && e.value.form == list:
			c.mergeItems(e.key, existing.value, e.value)
		default:
			c.mergeValue(e.key, existing, e)
		}
	}
}

// shallowCopy returns a copy of a value to which entries and items can be added without changing the parsed
// file.
func shallowCopy(v *value) *value {
	fresh := *v
	fresh.entries, fresh.items, fresh.index = slices.Clone(v.entries), slices.Clone(v.items), maps.Clone(v.index)
	return &fresh
}

// mergeEntries adds the components of a file to the components with the same kind. It reports a component that both
// have.
func (c *checker) mergeEntries(path string, into, from *value) {
	for _, e := range from.entries {
		if existing := into.entry(e.key); existing != nil {
			c.report(definedTwice, e.pos, joinPath(path, e.key), "key %q is also defined at %s", e.key, c.describePosition(existing.pos))
			continue
		}
		into.addEntry(e)
	}
}

// mergeItems appends a list to another list. It reports two tests with the same name in different files.
func (c *checker) mergeItems(path string, into, from *value) {
	names := map[string]position{}
	for _, item := range into.items {
		names[item.get("name").scalar] = item.pos
	}
	for i, item := range from.items {
		name := item.get("name")
		if firstPos, ok := names[name.scalar]; ok && path == "tests" && name.form == text {
			c.report(definedTwice, name.pos, path+"["+itoa(i)+"].name", "a test %q is also defined at %s", name.scalar, c.describePosition(firstPos))
		}
	}
	into.items = append(into.items, from.items...)
}

// mergeValue merges an option that both files set. If both values are tables, such as api, it merges the
// options in them.
func (c *checker) mergeValue(path string, into *entry, from entry) {
	previous, current := into.value, from.value
	standard, isAgreed := agreed[path]
	switch {
	case previous.form == open || current.form == open:
	case previous.form == table && current.form == table:
		if path == "log_schema" {
			c.checkSchemas(previous, from)
		}
		into.value = shallowCopy(previous)
		for _, e := range current.entries {
			if existing := into.value.entry(e.key); existing != nil {
				c.mergeValue(joinPath(path, e.key), existing, e)
			} else {
				into.value.addEntry(e)
			}
		}
	case path == "proxy.no_proxy":
		if len(previous.scalar)+len(previous.items) > 0 && len(current.scalar)+len(current.items) > 0 {
			c.report(definedTwice, from.pos, path, "%s is also defined at %s", path, c.describePosition(into.pos))
		}
	case isAgreed && previous.form == current.form && !isSameValue(previous, current):
		switch {
		case standard != "" && isSameValue(previous, &value{form: text, scalar: standard}):
			into.value = current
		case standard == "" || !isSameValue(current, &value{form: text, scalar: standard}):
			c.report(definedTwice, from.pos, path, "option %q is %s here, but %s at %s", from.key, current.scalar, previous.scalar, c.describePosition(into.pos))
		}
	case current.form == boolean && current.isTrue() != slices.Contains(disabledByAny, path):
		into.value = current
	}
}

// checkSchemas reports an option of log_schema that one file sets and the other file leaves at its default.
// This is a fault only if the other file sets another option of log_schema, because Vector then does not ignore
// the default.
func (c *checker) checkSchemas(previous *value, from entry) {
	isSet := func(v *value, path string) bool {
		configured := v.get(strings.TrimPrefix(path, "log_schema."))
		return configured.form == text && !c.isDynamic(configured.scalar) && strings.TrimPrefix(configured.scalar, ".") != agreed[path]
	}
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(agreed)), func(path string) bool { return !strings.HasPrefix(path, "log_schema.") })
	if c.hasOpenKey(from.value) || !slices.ContainsFunc(paths, func(path string) bool { return isSet(from.value, path) }) {
		return
	}
	for _, path := range paths {
		added, wasSet := from.value.get(strings.TrimPrefix(path, "log_schema.")), isSet(previous, path)
		if wasSet && (added.form == null || added.form == text && !c.isDynamic(added.scalar) && !isSet(from.value, path)) {
			c.report(definedTwice, from.pos, path, "%s has its default here, but not at %s", path, c.describePosition(previous.pos), help("write log_schema into one of the files, or the same into both"))
		}
	}
}

// isSameValue reports whether two values are equal for Vector.
func isSameValue(x, y *value) bool {
	if x.form != y.form || x.scalar == y.scalar {
		return x.form == y.form
	}
	a, isNumber := x.float()
	b, _ := y.float()
	return isNumber && a == b || x.form == text && path.IsAbs(x.scalar) && path.Clean(x.scalar) == path.Clean(y.scalar)
}
