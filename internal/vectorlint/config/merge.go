// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// collections are the top-level tables with entries from several files. An entry of one name may be in one file only.
var collections = []string{"sources", "transforms", "sinks", "enrichment_tables", "secret"}

// agreed are the options that two files must not set to different values, with their defaults. A default yields to
// another value. For any other option, the value in the first file counts, except for booleans.
var agreed = map[string]string{
	"data_dir": defaultDataDir, "api.address": defaultAPIAddress,
	"wildcard_matching": "", "timezone": "", "acknowledgements": "", "acknowledgements.enabled": "", "proxy.http": "", "proxy.https": "",
	"expire_metrics_secs": "", "expire_metrics.secs": "", "expire_metrics.nanos": "", "schema.log_namespace": "",
	"log_schema.host_key": "host", "log_schema.message_key": "message", "log_schema.timestamp_key": "timestamp",
	"log_schema.source_type_key": "source_type", "log_schema.metadata_key": "metadata",
}

// offByOne are the options that are off if one file sets them to false. All other booleans are on if one file sets
// them to true.
var offByOne = []string{"healthchecks.enabled", "proxy.enabled"}

// merge adds a file to the configuration as Vector does. Components are combined, tests are appended, and all other
// options must agree.
func (c *checker) merge(into, from *value) {
	for _, e := range from.entries {
		there := into.entry(e.key)
		switch {
		case there == nil:
			into.add(entry{key: e.key, at: e.at, value: copied(e.value)})
		case slices.Contains(collections, e.key) && there.value.form == table && e.value.form == table:
			c.mergeEntries(e.key, there.value, e.value)
		case there.value.form == list && e.value.form == list:
			c.mergeItems(e.key, there.value, e.value)
		default:
			c.mergeValue(e.key, there, e)
		}
	}
}

// copied returns a copy of a value, so that additions do not change the file.
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

// mergeItems adds a list to another one. Two tests of one name must be in the same file.
func (c *checker) mergeItems(path string, into, from *value) {
	names := map[string]position{}
	for _, item := range into.items {
		names[item.get("name").scalar] = item.at
	}
	for i, item := range from.items {
		name := item.get("name")
		if first, isThere := names[name.scalar]; isThere && path == "tests" && name.form == text {
			c.report(definedTwice, name.at, path+"["+itoa(i)+"].name", "a test %q is also defined at %s", name.scalar, c.place(first))
		}
	}
	into.items = append(into.items, from.items...)
}

// mergeValue merges an option that both files have, such as api, or options below it.
func (c *checker) mergeValue(path string, into *entry, from entry) {
	was, is := into.value, from.value
	standard, isAgreed := agreed[path]
	switch {
	case was.form == open || is.form == open:
	case was.form == table && is.form == table:
		if path == "log_schema" {
			c.checkSchemas(was, from)
		}
		into.value = copied(was)
		for _, e := range is.entries {
			if first := into.value.entry(e.key); first != nil {
				c.mergeValue(join(path, e.key), first, e)
			} else {
				into.value.add(e)
			}
		}
	case path == "proxy.no_proxy":
		if len(was.scalar)+len(was.items) > 0 && len(is.scalar)+len(is.items) > 0 {
			c.report(definedTwice, from.at, path, "%s is also defined at %s", path, c.place(into.at))
		}
	case isAgreed && was.form == is.form && !isSame(was, is):
		switch {
		case standard != "" && isSame(was, &value{form: text, scalar: standard}):
			into.value = is
		case standard == "" || !isSame(is, &value{form: text, scalar: standard}):
			c.report(definedTwice, from.at, path, "%q is %s here and %s at %s", from.key, is.scalar, was.scalar, c.place(into.at))
		}
	case is.form == boolean && is.isTrue() != slices.Contains(offByOne, path):
		into.value = is
	}
}

// checkSchemas finds an option of log_schema that one file sets and another file leaves at its default, although that
// other file sets other options of log_schema. In that case the default does not yield.
func (c *checker) checkSchemas(was *value, from entry) {
	isSet := func(v *value, path string) bool {
		given := v.get(strings.TrimPrefix(path, "log_schema."))
		return given.form == text && !c.isDynamic(given.scalar) && strings.TrimPrefix(given.scalar, ".") != agreed[path]
	}
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(agreed)), func(path string) bool { return !strings.HasPrefix(path, "log_schema.") })
	if c.hasOpenKey(from.value) || !slices.ContainsFunc(paths, func(path string) bool { return isSet(from.value, path) }) {
		return
	}
	for _, path := range paths {
		there, isThere := from.value.get(strings.TrimPrefix(path, "log_schema.")), isSet(was, path)
		if isThere && (there.form == null || there.form == text && !c.isDynamic(there.scalar) && !isSet(from.value, path)) {
			c.report(definedTwice, from.at, path, "%s is the default here, and not at %s", path, c.place(was.at), help("write log_schema into one of the files, or the same into both"))
		}
	}
}

// isSame reports whether Vector reads two values as the same value.
func isSame(one, other *value) bool {
	if one.form != other.form || one.scalar == other.scalar {
		return one.form == other.form
	}
	a, isNumber := one.float()
	b, _ := other.float()
	return isNumber && a == b || one.form == text && path.IsAbs(one.scalar) && path.Clean(one.scalar) == path.Clean(other.scalar)
}
