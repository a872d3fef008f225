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

// disabledByAny are the options that are off if one file sets them to false. All other booleans are on if one file sets
// them to true.
var disabledByAny = []string{"healthchecks.enabled", "proxy.enabled"}

// merge adds a file to the configuration as Vector does. Components are combined, tests are appended, and all other
// options must agree.
func (c *checker) merge(into, from *value) {
	for _, e := range from.entries {
		existing := into.entry(e.key)
		switch {
		case existing == nil:
			into.add(entry{key: e.key, pos: e.pos, value: shallowCopy(e.value)})
		case slices.Contains(collections, e.key) && existing.value.form == table && e.value.form == table:
			c.mergeEntries(e.key, existing.value, e.value)
		case existing.value.form == list && e.value.form == list:
			c.mergeItems(e.key, existing.value, e.value)
		default:
			c.mergeValue(e.key, existing, e)
		}
	}
}

// shallowCopy returns a copy of a value, so that additions do not change the file.
func shallowCopy(v *value) *value {
	fresh := *v
	fresh.entries, fresh.items, fresh.index = slices.Clone(v.entries), slices.Clone(v.items), maps.Clone(v.index)
	return &fresh
}

func (c *checker) mergeEntries(path string, into, from *value) {
	for _, e := range from.entries {
		if existing := into.entry(e.key); existing != nil {
			c.report(definedTwice, e.pos, join(path, e.key), "%q is also defined at %s", e.key, c.describePosition(existing.pos))
			continue
		}
		into.add(e)
	}
}

// mergeItems adds a list to another one. Two tests of one name must be in the same file.
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

// mergeValue merges an option that both files have, such as api, or options below it.
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
				c.mergeValue(join(path, e.key), existing, e)
			} else {
				into.value.add(e)
			}
		}
	case path == "proxy.no_proxy":
		if len(previous.scalar)+len(previous.items) > 0 && len(current.scalar)+len(current.items) > 0 {
			c.report(definedTwice, from.pos, path, "%s is also defined at %s", path, c.describePosition(into.pos))
		}
	case isAgreed && previous.form == current.form && !isSame(previous, current):
		switch {
		case standard != "" && isSame(previous, &value{form: text, scalar: standard}):
			into.value = current
		case standard == "" || !isSame(current, &value{form: text, scalar: standard}):
			c.report(definedTwice, from.pos, path, "%q is %s here and %s at %s", from.key, current.scalar, previous.scalar, c.describePosition(into.pos))
		}
	case current.form == boolean && current.isTrue() != slices.Contains(disabledByAny, path):
		into.value = current
	}
}

// checkSchemas finds an option of log_schema that one file sets and another file leaves at its default, although that
// other file sets other options of log_schema. In that case the default does not yield.
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
			c.report(definedTwice, from.pos, path, "%s is the default here, and not at %s", path, c.describePosition(previous.pos), help("write log_schema into one of the files, or the same into both"))
		}
	}
}

// isSame reports whether Vector reads two values as the same value.
func isSame(x, y *value) bool {
	if x.form != y.form || x.scalar == y.scalar {
		return x.form == y.form
	}
	a, isNumber := x.float()
	b, _ := y.float()
	return isNumber && a == b || x.form == text && path.IsAbs(x.scalar) && path.Clean(x.scalar) == path.Clean(y.scalar)
}
