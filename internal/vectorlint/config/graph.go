// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// checkCycles reports cycles of components that reach a sink. It follows the inputs of sinks, because Vector
// accepts a cycle without a path to a sink.
func (c *checker) checkCycles() {
	state := map[*component]int{} // 0 not seen, 1 on the path, 2 done
	var path []*component
	var walk func(*component)
	walk = func(comp *component) {
		state[comp] = 1
		path = append(path, comp)
		for _, output := range comp.sources {
			switch state[output.component] {
			case 0:
				walk(output.component)
			case 1:
				if c.counts[Error] < mostFindings { // More findings are not reported, and each is long.
					c.reportCycle(path[slices.Index(path, output.component):])
				}
			}
		}
		path = path[:len(path)-1]
		state[comp] = 2
	}
	for _, comp := range c.components {
		if comp.isSinkLike() && state[comp] == 0 {
			walk(comp)
		}
	}
}

// reportCycle reports a cycle. The message lists the components in the direction of the events.
func (c *checker) reportCycle(components []*component) {
	var ids []string
	for _, comp := range components {
		ids = append(ids, comp.id)
	}
	slices.Reverse(ids)
	consumer := components[len(components)-1]
	c.report(cycle, consumer.pos, consumer.path+".inputs", "cycle of components: %s", strings.Join(append(ids, ids[0]), " -> "))
}

// checkConsumers reports outputs that no component uses as input. It does not report anything if an input of any
// component is unknown.
func (c *checker) checkConsumers() {
	hasOpenInput := func(comp *component) bool {
		return comp.options.form == open || comp.options.get("inputs").form == open || slices.ContainsFunc(comp.inputs, func(ref input) bool { return c.isDynamic(ref.text) })
	}
	if c.isRootOpen() || slices.ContainsFunc(c.components, hasOpenInput) {
		return
	}
	for _, comp := range c.components {
		for _, output := range comp.outputs {
			if !output.isUsed && comp.kind != memory && c.outputs[output.id] == output {
				c.report(notConsumed, comp.pos, comp.path, "the events of output %q are not used", output.id)
			}
		}
	}
}

// checkAcknowledgements reports sources that do not support acknowledgements although a sink that gets their
// events requires them.
func (c *checker) checkAcknowledgements() {
	visited := map[*component]bool{}
	standard := isEnabled(c.root.get("acknowledgements"))
	for _, comp := range c.components {
		if comp.kind != sink {
			continue
		}
		if setting := comp.options.get("acknowledgements"); isEnabled(setting) || setting.form == null && standard {
			c.checkUpstream(comp, comp, visited)
		}
	}
}

// isEnabled reports whether a value is true, or has the option enabled: true.
func isEnabled(v *value) bool { return v.isTrue() || v.get("enabled").isTrue() }

// checkUpstream reports sources from which a component receives events, directly or through other components, and
// which do not support acknowledgements. The consumer is the sink that requires them.
func (c *checker) checkUpstream(consumer, comp *component, visited map[*component]bool) {
	if visited[comp] {
		return
	}
	visited[comp] = true
	if comp.kind == source && comp.profile != nil && !comp.profile.acknowledges {
		c.report(notAcknowledged, comp.pos, comp.path, "component %s requires acknowledgements, but a source of type %q does not support them", consumer.path, comp.typeName)
	}
	for _, output := range comp.sources {
		c.checkUpstream(consumer, output.component, visited)
	}
}
