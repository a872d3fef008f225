// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"regexp"
	"strings"
)

// confinedSince is the first version in which templates of sinks must start with literal text that events
// cannot change.
const confinedSince = 57

// unconfinedKey is the option of a sink that allows templates without literal text at the start.
const unconfinedKey = "dangerously_allow_unconfined_template_resolution"

// checkConfinement reports templates of a sink that do not start with literal text.
func (c *checker) checkConfinement(comp *component) {
	if comp.profile == nil || c.version.minor < confinedSince {
		return
	}
	options := comp.options
	if comp.hasType("opentelemetry") {
		options = options.get("protocol") // Its options are the options of an http sink.
	}
	if allowed := options.get(unconfinedKey); allowed.isTrue() || allowed.form == open || c.hasOpenKey(options) {
		return
	}
	for _, rule := range comp.profile.confined {
		switch mode := comp.options.get("mode"); {
		case rule.kind == "path" && comp.options.hasKey("base_dir"):
			continue
		case comp.hasType("elasticsearch") && (mode.form == open || strings.HasPrefix(rule.option, "data_stream.") != (mode.scalar == "data_stream")):
			continue // The templates of an unused mode are not confined.
		}
		c.checkConfined(comp, rule)
	}
}

// checkConfined checks one option that must start with literal text. The option is a template or a map of
// templates.
func (c *checker) checkConfined(comp *component, rule confined) {
	parent, isEach := strings.CutSuffix(rule.option, ".*")
	configured := comp.options.get(strings.Split(parent, ".")...)
	if !isEach {
		c.checkTemplate(configured.scalar, configured.pos, comp.path+"."+rule.option, rule.kind)
		return
	}
	for i := range configured.entries {
		e := &configured.entries[i]
		if rule.option == "resource.*" && e.key == "type" {
			continue // All other labels of a resource are templates.
		}
		if rule.kind == "prefix and key" {
			c.checkTemplate(e.key, e.pos, comp.path+"."+parent+"."+e.key, rule.kind)
		}
		c.checkTemplate(e.value.scalar, e.value.pos, comp.path+"."+parent+"."+e.key, rule.kind)
	}
}

// field matches a reference to a field in a template, as Vector does. Vector treats a reference without closing
// braces as plain text.
var field = regexp.MustCompile(`\{\{[^}]+\}\}`)

// checkTemplate reports a template that does not start with literal text. The kind is the rule for the template: a
// path must start with a directory, and other kinds with other text than a slash. A URL must have a literal host.
func (c *checker) checkTemplate(template string, pos position, path, kind string) {
	if !field.MatchString(c.knownStart(template)) {
		return
	}
	prefix, _, _ := strings.Cut(template, "{{")
	prefix, _, _ = strings.Cut(prefix, "%") // A date is not literal either.
	lower := strings.ToLower(prefix)
	afterScheme, isHTTP := strings.CutPrefix(lower, "http://")
	if !isHTTP {
		afterScheme, isHTTP = strings.CutPrefix(lower, "https://")
	}
	host, _, _ := strings.Cut(afterScheme, "/")
	switch {
	case kind == "path":
		if !isBelowRoot(prefix) {
			c.add(unconfined, pos, path, c.version.isKnown, "the path %q does not have a directory before its first field", template, help("start the path with a directory below the root, such as /var/log/vector/, or set base_dir"))
		}
	case isHTTP && strings.ContainsAny(template, "?#"):
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q has a field in a part with ? or #", template, help("remove the part that starts with ? or #, or set "+unconfinedKey+": true"))
	case isHTTP && host == "":
		c.add(unconfined, pos, path, c.version.isKnown, "the URL template %q has a field instead of a literal host", template)
	case isHTTP && strings.Contains(prefix, `\`):
		c.add(unconfined, pos, path, c.version.isKnown, "the URL template %q has a backslash before its first field", template)
	case prefix == "":
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q does not start with literal text", template)
	case prefix == "/":
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q has only a slash before its first field", template)
	}
}

// isBelowRoot reports whether the directories at the start of a path lead below the root directory. Text after
// the last slash does not count, because a field may follow it.
func isBelowRoot(prefix string) bool {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	return strings.HasPrefix(folder, "/") && path.Clean(folder) != "/"
}
