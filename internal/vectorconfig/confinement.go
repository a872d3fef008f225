// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"regexp"
	"strings"
)

// confinedSince is the version from which on a sink's templates have to begin
// with something that no event can change.
const confinedSince = 57

// checkConfinement finds sink templates without a literal prefix.
func (c *checker) checkConfinement(one *component) {
	if one.profile == nil || c.version.minor < confinedSince || one.options.get("dangerously_allow_unconfined_template_resolution").isTrue() {
		return
	}
	for _, of := range one.profile.confined {
		if of.kind == "path" && one.options.has("base_dir") {
			continue
		}
		if of.option == "bulk.index" && one.options.get("mode").scalar == "data_stream" {
			continue // Of a mode that is not used, nothing is confined.
		}
		parent, isEach := strings.CutSuffix(of.option, ".*")
		given := one.options.get(strings.Split(parent, ".")...)
		if !isEach {
			c.checkTemplate(given, one.path+"."+of.option, of.kind)
			continue
		}
		for _, e := range given.entries {
			c.checkTemplate(e.value, one.path+"."+parent+"."+e.key, of.kind)
		}
	}
}

// field is a reference to a field as Vector finds it: one without an end is plain text.
var field = regexp.MustCompile(`\{\{[^}]+\}\}`)

func (c *checker) checkTemplate(template *value, path, kind string) {
	if !field.MatchString(template.scalar) {
		return
	}
	prefix, _, _ := strings.Cut(template.scalar, "{{")
	switch {
	case kind == "uri" && strings.ContainsAny(template.scalar, "?#"):
		c.add(unconfined, template.at, path, c.version.known, "the template %q has a field beside a ? or #", template.scalar, help("leave out what begins with ? or #, or set dangerously_allow_unconfined_template_resolution: true"))
	case isConfined(prefix, kind):
	case kind == "uri":
		c.add(unconfined, template.at, path, c.version.known, "the template %q does not begin with http:// or https:// and a host", template.scalar)
	default:
		c.add(unconfined, template.at, path, c.version.known, "the template %q has no literal text before its first field", template.scalar)
	}
}

// isConfined tells whether what stands before the first field holds the rest. Behind a
// host Vector lets a field add to no host, so it needs no slash.
func isConfined(prefix, kind string) bool {
	prefix, _, _ = strings.Cut(prefix, "%") // A date is not literal either.
	switch kind {
	case "path":
		return strings.Trim(prefix, "/") != ""
	case "uri":
		rest, isHTTPS := strings.CutPrefix(prefix, "https://")
		rest, isHTTP := strings.CutPrefix(rest, "http://")
		host, _, _ := strings.Cut(rest, "/")
		return (isHTTP || isHTTPS) && host != ""
	}
	return prefix != ""
}
