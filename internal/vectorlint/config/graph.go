// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// checkCycles finds cycles among the components that reach a sink. It walks up from the sinks, because Vector accepts
// a cycle without a path to a sink.
func (c *checker) checkCycles() {
	state := map[*component]int{} // 0 not seen, 1 on the path, 2 done
	var path []*component
	var walk func(*component)
	walk = func(one *component) {
		state[one] = 1
		path = append(path, one)
		for _, out := range one.sources {
			switch state[out.of] {
			case 0:
				walk(out.of)
			case 1:
				if c.counts[Error] < mostFindings {
					if c.counts[Error] < mostFindings { // More findings are not reported, and each is long.
						c.reportCycle(path[slices.Index(path, out.of):])
					}
				}
			}
		}
		path = path[:len(path)-1]
		state[one] = 2
	}
	for _, one := range c.components {
		if one.isSinkLike() && state[one] == 0 {
			walk(one)
		}
	}
}

// reportCycle names the components of a cycle in the direction of the events.
func (c *checker) reportCycle(up []*component) {
	var ids []string
	for _, one := range up {
		ids = append(ids, one.id)
	}
	slices.Reverse(ids)
	first := up[len(up)-1]
	c.report(cycle, first.at, first.path+".inputs", "cycle of components: %s", strings.Join(append(ids, ids[0]), " -> "))
}

func (c *checker) checkConsumers() {
	hasOpenInput := func(one *component) bool {
		return one.options.form == open || one.options.get("inputs").form == open || slices.ContainsFunc(one.inputs, func(in input) bool { return c.isDynamic(in.text) })
	}
	if c.isRootOpen() || slices.ContainsFunc(c.components, hasOpenInput) {
		return
	}
	for _, one := range c.components {
		for _, out := range one.outputs {
			if !out.isUsed && one.kind != memory && c.outputs[out.id] == out {
				c.report(notConsumed, one.at, one.path, "the events of %q are not used", out.id)
			}
		}
	}
}

// checkAcknowledgements finds sources that cannot wait for the acknowledgements of a sink.
func (c *checker) checkAcknowledgements() {
	asked := map[*component]bool{}
	standard := isEnabled(c.root.get("acknowledgements"))
	for _, one := range c.components {
		if one.kind != sink {
			continue
		}
		if own := one.options.get("acknowledgements"); isEnabled(own) || own.form == null && standard {
			c.askUp(one, one, asked)
		}
	}
}

func isEnabled(v *value) bool { return v.isTrue() || v.get("enabled").isTrue() }

func (c *checker) askUp(from, one *component, asked map[*component]bool) {
	if asked[one] {
		return
	}
	asked[one] = true
	if one.kind == source && one.profile != nil && !one.profile.acknowledges {
		c.report(notAcknowledged, one.at, one.path, "%s requires acknowledgements, and a source of type %q does not support them", from.path, one.typeName)
	}
	for _, out := range one.sources {
		c.askUp(from, out.of, asked)
	}
}
