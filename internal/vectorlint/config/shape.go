// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// topLevel are the valid top-level keys of a configuration.
var topLevel = strings.Fields(`
	data_dir wildcard_matching log_schema telemetry timezone proxy acknowledgements expire_metrics
	expire_metrics_secs expire_metrics_per_metric_set buffer_utilization_ewma_half_life_seconds
	latency_ewma_alpha metrics_storage_refresh_period api schema healthchecks enrichment_tables sources
	transforms sinks tests provider secret`)

// IsTopLevel reports whether a key is a valid top-level key of a configuration.
func IsTopLevel(key string) bool { return slices.Contains(topLevel, key) }

// checkKeys reports unknown and removed keys at the top level.
func (c *checker) checkKeys() {
	for _, e := range c.root.entries {
		if !c.canEqualAny(e.key, topLevel) {
			near := c.effort.nearestName(e.key, topLevel)
			c.add(unknownKey, e.pos, e.key, near != "" || c.version.isCovered(), "unknown top-level key %q", e.key, didYouMean(near))
		}
	}
	for _, option := range slices.Sorted(maps.Keys(c.tables.globalsRemoved)) {
		removed := c.tables.globalsRemoved[option]
		path := strings.Split(option, ".")
		if e := c.root.get(path[:len(path)-1]...).entry(path[len(path)-1]); e != nil && c.version.minor >= removed {
			c.add(otherVersion, e.pos, option, c.version.isKnown, "Vector 0.%d and later reject %s: the API is gRPC, not GraphQL", removed, option)
		}
	}
}

// checkFitsTOML reports content that TOML cannot represent: keys and items without a value, numbers of more
// than 64 bits, and keys that are not texts.
func (c *checker) checkFitsTOML(path string, v *value) {
	for i, item := range v.items {
		c.checkValueFitsTOML(path+"["+itoa(i)+"]", item.pos, item)
	}
	for i := range v.entries {
		e := &v.entries[i]
		entryPath := joinPath(path, e.key)
		if e.isNoText {
			c.add(wrongForm, e.pos, entryPath, c.hasOptionTable, "the key %s is not a string", e.key, help(fmt.Sprintf("write it in quotes: %q", e.key)))
		}
		c.checkValueFitsTOML(entryPath, e.pos, e.value)
	}
}

// checkValueFitsTOML reports a value that TOML cannot represent, or such content of a table or a list.
func (c *checker) checkValueFitsTOML(path string, pos position, v *value) {
	switch v.form {
	case null:
		c.add(wrongForm, pos, path, c.hasOptionTable, "%s has no value", path, help("set a value, or remove it: Vector does not accept null"))
	case wide:
		c.add(wrongForm, v.pos, path, c.hasOptionTable, "%s is the number %s, which does not fit into 64 bits", path, v.scalar, help("write a smaller number, or a string in quotes"))
	default:
		c.checkFitsTOML(path, v)
	}
}

// checkProvider reports whether Vector gets the configuration from a provider. If so, most other checks are
// skipped.
func (c *checker) checkProvider() bool {
	provider := c.root.entry("provider")
	if provider == nil || provider.value.form == null {
		return false
	}
	if len(c.components) > 0 {
		first := c.components[0]
		c.report(besideProvider, first.pos, first.path, "%s is used together with provider", first.path)
	}
	c.checkGlobalOptions()
	return true
}

// checkIDs reports component ids with a dot.
func (c *checker) checkIDs() {
	for _, comp := range c.components {
		if comp.kind != memory && strings.Contains(comp.id, ".") {
			c.report(dotInID, comp.pos, comp.path, "the id %q contains a dot", comp.id)
		}
	}
}

// checkShape reports a configuration without sources or sinks, ids that components of several kinds have, and
// repeated inputs.
func (c *checker) checkShape() {
	for _, section := range sections {
		sectionValue := c.root.get(section.key)
		if section.kind == transform || len(sectionValue.entries) > 0 || sectionValue.form != null && sectionValue.form != table {
			continue
		}
		if sectionValue.form == open || c.isRootOpen() {
			continue
		}
		c.report(noComponents, c.root.pos, section.key, "%s is empty", section.key)
	}
	for _, comp := range c.components {
		if existing := c.sameIDComponent(comp); existing != nil {
			c.report(idOfSeveral, comp.pos, comp.path, "id %q is the id of a %s and of a %s", comp.id, existing.kind, comp.kind)
		}
		c.checkRepeated(comp)
	}
}

// sameIDComponent returns a component of an earlier section with the same id, or nil for none. It ignores enrichment tables.
func (c *checker) sameIDComponent(comp *component) *component {
	for _, section := range sections {
		if section.kind == comp.kind || comp.kind == memory {
			return nil
		}
		if existing := c.byKind[section.kind][comp.id]; existing != nil {
			return existing
		}
	}
	return nil
}

// checkOutputNames reports route names that Vector reserves or that are repeated.
func (c *checker) checkOutputNames() {
	for _, comp := range c.components {
		switch {
		case comp.hasType("route"):
			for _, e := range comp.options.get("route").entries {
				path := comp.path + ".route." + e.key
				if e.key == "_unmatched" || e.key == "_default" {
					c.report(reservedOutput, e.pos, path, "%q is a reserved output name of Vector", e.key)
				}
			}
		case comp.hasType("exclusive_route"):
			c.checkExclusiveNames(comp)
		}
	}
}

// checkExclusiveNames reports the reserved and the repeated names of the routes of an exclusive_route transform.
func (c *checker) checkExclusiveNames(comp *component) {
	usedNames := map[string]bool{}
	for i, route := range comp.options.get("routes").items {
		name, path := route.get("name"), comp.path+".routes["+itoa(i)+"].name"
		switch {
		case name.scalar == "_unmatched" || name.scalar == "_default":
			c.report(reservedOutput, name.pos, path, "%q is a reserved output name of Vector", name.scalar)
		case name.scalar != "" && usedNames[name.scalar]:
			c.report(reservedOutput, name.pos, path, "a second route named %q", name.scalar)
		}
		usedNames[name.scalar] = true
	}
}

// checkGlobalRanges reports options outside of components with numbers outside of their ranges.
func (c *checker) checkGlobalRanges() {
	alpha := c.root.get("latency_ewma_alpha")
	if n, ok := alpha.float(); ok && !(n > 0 && n < 1) {
		c.report(outOfRange, alpha.pos, "latency_ewma_alpha", "latency_ewma_alpha is %s, and not between 0 and 1", alpha.scalar)
	}
	life := c.root.get("buffer_utilization_ewma_half_life_seconds")
	if n, ok := life.float(); ok && !(n > 0) {
		c.report(outOfRange, life.pos, "buffer_utilization_ewma_half_life_seconds", "buffer_utilization_ewma_half_life_seconds is %s, and not above 0", life.scalar)
	}
}
