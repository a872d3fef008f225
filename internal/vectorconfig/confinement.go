// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import "strings"

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

func (c *checker) checkTemplate(template *value, path, kind string) {
	prefix, _, isTemplate := strings.Cut(template.scalar, "{{")
	if !isTemplate || isConfined(prefix, kind) {
		return
	}
	if kind == "uri" {
		c.add(unconfined, template.at, path, c.version.known, "the template %q does not begin with http:// or https:// and a host", template.scalar)
		return
	}
	c.add(unconfined, template.at, path, c.version.known, "the template %q has no literal text before its first field", template.scalar)
}

// isConfined tells whether what stands before the first field holds the rest.
func isConfined(prefix, kind string) bool {
	prefix, _, _ = strings.Cut(prefix, "%") // A date is not literal either.
	switch kind {
	case "path":
		return strings.Trim(prefix, "/") != ""
	case "uri":
		rest, isHTTPS := strings.CutPrefix(prefix, "https://")
		rest, isHTTP := strings.CutPrefix(rest, "http://")
		host, _, ends := strings.Cut(rest, "/")
		return (isHTTP || isHTTPS) && host != "" && ends
	}
	return prefix != ""
}
