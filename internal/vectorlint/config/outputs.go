// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// outputsOf returns the outputs of a component.
func (c *checker) outputsOf(one *component) []*output {
	plain := []*output{{id: one.id, gives: everything, of: one}}
	switch {
	case one.kind == sink:
		return nil
	case one.kind == memory:
		return memoryOutputs(one)
	case one.profile == nil:
		return plain
	}
	plain[0].gives = c.given(one)
	switch one.typeName {
	case "remap":
		if one.options.get("reroute_dropped").isTrue() {
			return append(plain, named(one, "dropped", everything))
		}
	case "route":
		return routes(one)
	case "exclusive_route":
		return exclusiveRoutes(one)
	case "opentelemetry":
		return opentelemetry(one)
	case "datadog_agent":
		if one.options.get("multiple_outputs").isTrue() {
			return datadogAgent(one)
		}
	case "lua":
		if version := one.options.get("version").scalar; version == "1" {
			plain[0].gives = logs
		}
	}
	return plain
}

func named(one *component, name string, gives events) *output {
	return &output{id: one.id + "." + name, gives: gives, of: one}
}

func memoryOutputs(one *component) []*output {
	config := one.options.get("source_config")
	id := config.get("source_key").scalar
	if id == "" {
		return nil
	}
	all := []*output{{id: id, gives: logs, of: one}}
	if config.get("export_expired_items").isTrue() {
		all = append(all, &output{id: id + ".expired", gives: logs, of: one})
	}
	return all
}

func routes(one *component) []*output {
	var all []*output
	for _, e := range one.options.get("route").entries {
		all = append(all, named(one, e.key, everything))
	}
	if !one.options.get("reroute_unmatched").isFalse() {
		all = append(all, named(one, "_unmatched", everything))
	}
	return all
}

func exclusiveRoutes(one *component) []*output {
	var all []*output
	seen := map[string]bool{"": true, "_unmatched": true}
	for _, route := range one.options.get("routes").items {
		if name := route.get("name").scalar; !seen[name] {
			seen[name] = true
			all = append(all, named(one, name, everything))
		}
	}
	return append(all, named(one, "_unmatched", everything))
}

// opentelemetry has one output for each signal. Metrics that are decoded as OTLP arrive as logs.
func opentelemetry(one *component) []*output {
	decoding := one.options.get("use_otlp_decoding")
	given := metrics
	if decoding.isTrue() || decoding.get("metrics").isTrue() {
		given = logs
	}
	return []*output{named(one, "logs", logs), named(one, "metrics", given), named(one, "traces", traces)}
}

func datadogAgent(one *component) []*output {
	var all []*output
	for _, signal := range []struct {
		name  string
		gives events
	}{{"logs", logs}, {"metrics", metrics}, {"traces", traces}} {
		if !one.options.get("disable_" + signal.name).isTrue() {
			all = append(all, named(one, signal.name, signal.gives))
		}
	}
	return all
}

// given returns the kinds of events that a component with one output produces.
func (c *checker) given(one *component) events {
	switch {
	case !one.profile.givesByCodec:
		return one.profile.gives
	case c.hasOpenKey(one.options) || one.options.form == open:
		return everything
	case one.is("splunk_hec"):
		return c.decoded(one, one.options.get("event")) | c.decoded(one, one.options.get("raw"))
	}
	return c.decoded(one, one.options)
}

// decoded returns the kinds of events that a component reads with the decoding of some options.
func (c *checker) decoded(one *component, options *value) events {
	decoding := options.get("decoding")
	codec := decoding.get("codec")
	switch {
	case options.form == open || decoding.form == open || codec.form == open:
		return everything
	case codec.form != text:
		return one.profile.gives
	}
	return eventsOfCodec(c.tables.decodes, codec)
}

// taken returns the kinds of events that a component accepts.
func (c *checker) taken(one *component) events {
	p := one.profile
	if one.is("lua") && one.options.get("version").scalar == "1" {
		return logs
	}
	if one.kind == source || !p.takesByCodec {
		return p.takes
	}
	codec := one.options.get("encoding", "codec")
	switch {
	case one.is("opentelemetry"):
		codec = one.options.get("protocol", "encoding", "codec")
	case one.is("aws_s3") && one.options.has("batch_encoding"):
		return logs
	}
	if codec.form != text {
		return p.takes
	}
	return p.takes & eventsOfCodec(c.tables.encodes, codec)
}

// eventsOfCodec returns the kinds of events of a codec. An unknown codec is for all kinds.
func eventsOfCodec(known map[string]events, codec *value) events {
	if kinds, ok := known[codec.scalar]; ok {
		return kinds
	}
	return everything
}
