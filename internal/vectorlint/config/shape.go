// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// topLevel are the keys that a configuration may have at its top.
var topLevel = strings.Fields(`
	data_dir wildcard_matching log_schema telemetry timezone proxy acknowledgements expire_metrics
	expire_metrics_secs expire_metrics_per_metric_set buffer_utilization_ewma_half_life_seconds
	latency_ewma_alpha metrics_storage_refresh_period api schema healthchecks enrichment_tables sources
	transforms sinks tests provider secret`)

// IsTopLevel reports whether a configuration may have a key at its top.
func IsTopLevel(key string) bool { return slices.Contains(topLevel, key) }

func (c *checker) checkKeys() {
	for _, e := range c.root.entries {
		if !c.mayBeOneOf(e.key, topLevel) {
			near := c.effort.nearest(e.key, topLevel)
			c.add(unknownKey, e.at, e.key, near != "" || c.version.isCovered(), "unknown top-level key %q", e.key, didYouMean(near))
		}
	}
	for _, option := range slices.Sorted(maps.Keys(c.tables.globalsRemoved)) {
		removed := c.tables.globalsRemoved[option]
		path := strings.Split(option, ".")
		if e := c.root.get(path[:len(path)-1]...).entry(path[len(path)-1]); e != nil && c.version.minor >= removed {
			c.add(otherVersion, e.at, option, c.version.known, "Vector 0.%d and later refuse %s: its API is gRPC, not GraphQL", removed, option)
		}
	}
}

// checkFitsTOML finds content that TOML does not have: keys and items without a value, wide numbers, and keys that are
// not texts.
func (c *checker) checkFitsTOML(path string, v *value) {
	for i, item := range v.items {
		c.checkValueFitsTOML(path+"["+itoa(i)+"]", item.at, item)
	}
	for i := range v.entries {
		e := &v.entries[i]
		here := join(path, e.key)
		if e.isNoText {
			c.add(wrongForm, e.at, here, c.isTabled, "the key %s is not a text", e.key, help(fmt.Sprintf("write it in quotes: %q", e.key)))
		}
		c.checkValueFitsTOML(here, e.at, e.value)
	}
}

func (c *checker) checkValueFitsTOML(path string, at position, v *value) {
	switch v.form {
	case null:
		c.add(wrongForm, at, path, c.isTabled, "%s has no value", path, help("set a value, or remove it: Vector does not accept null"))
	case wide:
		c.add(wrongForm, v.at, path, c.isTabled, "%s is %s, which does not fit into 64 bits", path, v.scalar, help("write a smaller number, or a text in quotes"))
	default:
		c.checkFitsTOML(path, v)
	}
}

// checkProvider reports whether the configuration comes from a provider. If so, the other checks are skipped.
func (c *checker) checkProvider() bool {
	provider := c.root.entry("provider")
	if provider == nil || provider.value.form == null {
		return false
	}
	if len(c.components) > 0 {
		first := c.components[0]
		c.report(besideProvider, first.at, first.path, "%s is used together with provider", first.path)
	}
	c.judgeGlobals()
	return true
}

func (c *checker) checkIDs() {
	for _, one := range c.components {
		if one.kind != memory && strings.Contains(one.id, ".") {
			c.report(dotInID, one.at, one.path, "the id %q contains a dot", one.id)
		}
	}
}

// checkShape requires a source and a sink, ids of one kind, and inputs without repetition.
func (c *checker) checkShape() {
	for _, section := range sections {
		given := c.root.get(section.key)
		if section.kind == transform || len(given.entries) > 0 || given.form != null && given.form != table {
			continue
		}
		if given.form == open || c.isRootOpen() {
			continue
		}
		c.report(noComponents, c.root.at, section.key, "%s is empty", section.key)
	}
	for _, one := range c.components {
		if first := c.otherOf(one); first != nil {
			c.report(idOfSeveral, one.at, one.path, "%q is the id of a %s and of a %s", one.id, first.kind, one.kind)
		}
		c.checkRepeated(one)
	}
}

// otherOf returns an earlier component of another kind with the same id.
func (c *checker) otherOf(one *component) *component {
	for _, section := range sections {
		if section.kind == one.kind || one.kind == memory {
			return nil
		}
		if first := c.byKind[section.kind][one.id]; first != nil {
			return first
		}
	}
	return nil
}

// checkOutputNames finds names of outputs that are reserved by Vector or repeated.
func (c *checker) checkOutputNames() {
	for _, one := range c.components {
		switch {
		case one.is("route"):
			for _, e := range one.options.get("route").entries {
				path := one.path + ".route." + e.key
				if e.key == "_unmatched" || e.key == "_default" {
					c.report(reservedOutput, e.at, path, "%q is a reserved output name of Vector", e.key)
				}
			}
		case one.is("exclusive_route"):
			c.checkExclusiveNames(one)
		}
	}
}

func (c *checker) checkExclusiveNames(one *component) {
	seen := map[string]bool{}
	for i, route := range one.options.get("routes").items {
		name, path := route.get("name"), one.path+".routes["+itoa(i)+"].name"
		switch {
		case name.scalar == "_unmatched" || name.scalar == "_default":
			c.report(reservedOutput, name.at, path, "%q is a reserved output name of Vector", name.scalar)
		case name.scalar != "" && seen[name.scalar]:
			c.report(reservedOutput, name.at, path, "a second route named %q", name.scalar)
		}
		seen[name.scalar] = true
	}
}

func (c *checker) checkGlobals() {
	alpha := c.root.get("latency_ewma_alpha")
	if n, ok := alpha.float(); ok && !(n > 0 && n < 1) {
		c.report(outOfRange, alpha.at, "latency_ewma_alpha", "%s is not between 0 and 1", alpha.scalar)
	}
	life := c.root.get("buffer_utilization_ewma_half_life_seconds")
	if n, ok := life.float(); ok && !(n > 0) {
		c.report(outOfRange, life.at, "buffer_utilization_ewma_half_life_seconds", "%s is not above 0", life.scalar)
	}
}
