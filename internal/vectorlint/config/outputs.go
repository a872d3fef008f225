// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strconv"
)

// itoa returns a number as a decimal text.
func itoa(n int) string { return strconv.Itoa(n) }

// componentOutputs returns the outputs of a component.
func (c *checker) componentOutputs(comp *component) []*output {
	plain := []*output{{id: comp.id, events: everything, component: comp}}
	switch {
	case comp.kind == sink:
		return nil
	case comp.kind == memory:
		return memoryTableOutputs(comp)
	case comp.profile == nil:
		return plain
	}
	plain[0].events = c.emittedEvents(comp)
	switch comp.typeName {
	case "remap":
		if comp.options.get("reroute_dropped").isTrue() {
			return append(plain, namedOutput(comp, "dropped", everything))
		}
	case "route":
		return routeOutputs(comp)
	case "exclusive_route":
		return exclusiveRouteOutputs(comp)
	case "opentelemetry":
		return opentelemetryOutputs(comp)
	case "datadog_agent":
		if comp.options.get("multiple_outputs").isTrue() {
			return datadogAgentOutputs(comp)
		}
	case "lua":
		if version := comp.options.get("version").scalar; version == "1" {
			plain[0].events = logs
		}
	}
	return plain
}

// namedOutput returns the output of a component with a name, COMPONENT.NAME.
func namedOutput(comp *component, name string, emitted events) *output {
	return &output{id: comp.id + "." + name, events: emitted, component: comp}
}

// memoryTableOutputs returns the outputs of an enrichment table of type memory. A table without
// source_config.source_key has none.
func memoryTableOutputs(comp *component) []*output {
	config := comp.options.get("source_config")
	id := config.get("source_key").scalar
	if id == "" {
		return nil
	}
	outputs := []*output{{id: id, events: logs, component: comp}}
	if config.get("export_expired_items").isTrue() {
		outputs = append(outputs, &output{id: id + ".expired", events: logs, component: comp})
	}
	return outputs
}

// routeOutputs returns the outputs of a route transform: one for each route, and one for the events that do not match
// any.
func routeOutputs(comp *component) []*output {
	var outputs []*output
	for _, e := range comp.options.get("route").entries {
		outputs = append(outputs, namedOutput(comp, e.key, everything))
	}
	if !comp.options.get("reroute_unmatched").isFalse() {
		outputs = append(outputs, namedOutput(comp, "_unmatched", everything))
	}
	return outputs
}

// exclusiveRouteOutputs returns the outputs of an exclusive_route transform: one for each route with a name, and one
// for the events that do not match any.
func exclusiveRouteOutputs(comp *component) []*output {
	var outputs []*output
	usedNames := map[string]bool{"": true, "_unmatched": true}
	for _, route := range comp.options.get("routes").items {
		if name := route.get("name").scalar; !usedNames[name] {
			usedNames[name] = true
			outputs = append(outputs, namedOutput(comp, name, everything))
		}
	}
	return append(outputs, namedOutput(comp, "_unmatched", everything))
}

// opentelemetryOutputs returns the outputs of an opentelemetry source: one output for each signal. If the source
// decodes metrics as OTLP, they arrive as logs.
func opentelemetryOutputs(comp *component) []*output {
	decoding := comp.options.get("use_otlp_decoding")
	metricEvents := metrics
	if decoding.isTrue() || decoding.get("metrics").isTrue() {
		metricEvents = logs
	}
	return []*output{namedOutput(comp, "logs", logs), namedOutput(comp, "metrics", metricEvents), namedOutput(comp, "traces", traces)}
}

// datadogAgentOutputs returns the outputs of a datadog_agent source with multiple_outputs: one for each enabled
// signal.
func datadogAgentOutputs(comp *component) []*output {
	var outputs []*output
	for _, signal := range []struct {
		name   string
		events events
	}{{"logs", logs}, {"metrics", metrics}, {"traces", traces}} {
		if !comp.options.get("disable_" + signal.name).isTrue() {
			outputs = append(outputs, namedOutput(comp, signal.name, signal.events))
		}
	}
	return outputs
}

// emittedEvents returns the kinds of events that a component with only one output produces.
func (c *checker) emittedEvents(comp *component) events {
	switch {
	case !comp.profile.outputByCodec:
		return comp.profile.outputEvents
	case c.hasOpenKey(comp.options) || comp.options.form == open:
		return everything
	case comp.hasType("splunk_hec"):
		return c.decodedEvents(comp, comp.options.get("event")) | c.decodedEvents(comp, comp.options.get("raw"))
	}
	return c.decodedEvents(comp, comp.options)
}

// decodedEvents returns the kinds of events that a component produces with the codec in the decoding of some
// options.
func (c *checker) decodedEvents(comp *component, options *value) events {
	decoding := options.get("decoding")
	codec := decoding.get("codec")
	switch {
	case options.form == open || decoding.form == open || codec.form == open:
		return everything
	case codec.form != text:
		return comp.profile.outputEvents
	}
	return codecEvents(c.tables.decodes, codec)
}

// acceptedEvents returns the kinds of events that a component accepts as input.
func (c *checker) acceptedEvents(comp *component) events {
	p := comp.profile
	if comp.hasType("lua") && comp.options.get("version").scalar == "1" {
		return logs
	}
	if comp.kind == source || !p.inputByCodec {
		return p.inputEvents
	}
	codec := comp.options.get("encoding", "codec")
	switch {
	case comp.hasType("opentelemetry"):
		codec = comp.options.get("protocol", "encoding", "codec")
	case comp.hasType("aws_s3") && comp.options.hasKey("batch_encoding"):
		return logs
	}
	if codec.form != text {
		return p.inputEvents
	}
	return p.inputEvents & codecEvents(c.tables.encodes, codec)
}

// codecEvents returns the kinds of events that a codec supports. For an unknown codec, it returns all kinds.
func codecEvents(codecs map[string]events, codec *value) events {
	if kinds, ok := codecs[codec.scalar]; ok {
		return kinds
	}
	return everything
}
