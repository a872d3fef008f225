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
func (c *checker) checkConfinement(one *component) {
	if one.profile == nil || c.version.minor < confinedSince {
		return
	}
	options := one.options
	if one.is("opentelemetry") {
		options = options.get("protocol") // Its options are the options of an http sink.
	}
	if allowed := options.get(unconfinedKey); allowed.isTrue() || allowed.form == open || c.hasOpenKey(options) {
		return
	}
	for _, of := range one.profile.confined {
		switch mode := one.options.get("mode"); {
		case of.kind == "path" && one.options.has("base_dir"):
			continue
		case one.is("elasticsearch") && (mode.form == open || strings.HasPrefix(of.option, "data_stream.") != (mode.scalar == "data_stream")):
			continue // The templates of an unused mode are not confined.
		}
		c.checkConfined(one, of)
	}
}

// checkConfined checks the confinement of an option: of a template, or of each template in a map.
func (c *checker) checkConfined(one *component, of confined) {
	parent, isEach := strings.CutSuffix(of.option, ".*")
	given := one.options.get(strings.Split(parent, ".")...)
	if !isEach {
		c.checkTemplate(given.scalar, given.at, one.path+"."+of.option, of.kind)
		return
	}
	for i := range given.entries {
		e := &given.entries[i]
		if of.option == "resource.*" && e.key == "type" {
			continue // All other labels of a resource are templates.
		}
		if of.kind == "prefix and key" {
			c.checkTemplate(e.key, e.at, one.path+"."+parent+"."+e.key, of.kind)
		}
		c.checkTemplate(e.value.scalar, e.value.at, one.path+"."+parent+"."+e.key, of.kind)
	}
}

// field is a reference to a field as Vector finds it. A reference that is not closed is plain text.
var field = regexp.MustCompile(`\{\{[^}]+\}\}`)

func (c *checker) checkTemplate(template string, at position, path, kind string) {
	if !field.MatchString(c.knownStart(template)) {
		return
	}
	prefix, _, _ := strings.Cut(template, "{{")
	prefix, _, _ = strings.Cut(prefix, "%") // A date is not literal either.
	lower := strings.ToLower(prefix)
	rest, isHTTP := strings.CutPrefix(lower, "http://")
	if !isHTTP {
		rest, isHTTP = strings.CutPrefix(lower, "https://")
	}
	host, _, _ := strings.Cut(rest, "/")
	switch {
	case kind == "path":
		if !isBelowRoot(prefix) {
			c.add(unconfined, at, path, c.version.known, "the path %q does not have a directory before its first field", template, help("start it with a directory below the root, such as /var/log/vector/, or set base_dir"))
		}
	case isHTTP && strings.ContainsAny(template, "?#"):
		c.add(unconfined, at, path, c.version.known, "the template %q has a field in a part with ? or #", template, help("remove the part that starts with ? or #, or set "+unconfinedKey+": true"))
	case isHTTP && (host == "" || strings.Contains(prefix, `\`)):
		c.add(unconfined, at, path, c.version.known, "the template %q has a field instead of its host, or a backslash", template)
	case prefix == "":
		c.add(unconfined, at, path, c.version.known, "the template %q does not start with literal text", template)
	case prefix == "/":
		c.add(unconfined, at, path, c.version.known, "the template %q has only a slash before its first field", template)
	}
}

// isBelowRoot reports whether the directories at the start of a path lead to another directory than the root. The text
// after the last slash may continue with a field.
func isBelowRoot(prefix string) bool {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	return strings.HasPrefix(folder, "/") && path.Clean(folder) != "/"
}
