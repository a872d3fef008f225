// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"regexp"
	"strings"
)

// confinedSince is the first version that requires a constant start of a sink's templates, which events cannot change.
const confinedSince = 57

// unconfinedKey is the option that disables this requirement. A sink has it in addition to its own options.
const unconfinedKey = "dangerously_allow_unconfined_template_resolution"

// checkConfinement finds sink templates without a literal prefix.
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

// checkConfined checks the confinement of an option: of a template, or of each template in a map.
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

// field is a reference to a field as Vector finds it. A reference that is not closed is plain text.
var field = regexp.MustCompile(`\{\{[^}]+\}\}`)

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
			c.add(unconfined, pos, path, c.version.isKnown, "the path %q does not have a directory before its first field", template, help("start it with a directory below the root, such as /var/log/vector/, or set base_dir"))
		}
	case isHTTP && strings.ContainsAny(template, "?#"):
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q has a field in a part with ? or #", template, help("remove the part that starts with ? or #, or set "+unconfinedKey+": true"))
	case isHTTP && (host == "" || strings.Contains(prefix, `\`)):
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q has a field instead of its host, or a backslash", template)
	case prefix == "":
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q does not start with literal text", template)
	case prefix == "/":
		c.add(unconfined, pos, path, c.version.isKnown, "the template %q has only a slash before its first field", template)
	}
}

// isBelowRoot reports whether the directories at the start of a path lead to another directory than the root. The text
// after the last slash may continue with a field.
func isBelowRoot(prefix string) bool {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	return strings.HasPrefix(folder, "/") && path.Clean(folder) != "/"
}
