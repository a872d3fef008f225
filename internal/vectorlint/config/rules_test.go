// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// try is a configuration for one rule.
type try struct {
	text string
	// second is another file beside it.
	second string
	name   string
	image  string
	// container is where it runs; nil for none.
	container *Container
	pod       Pod
	// permitted is what the platform allows.
	permitted Policy
}

func (c try) findings() []Finding {
	name := c.name
	if name == "" {
		name = "vector.yaml"
	}
	files := []File{{Name: name, Text: c.text}}
	if c.second != "" {
		files = append(files, File{Name: "second.yaml", Text: c.second})
	}
	options := Options{Image: c.image, Container: c.container, Policy: c.permitted}
	if options.Image == "" {
		options.Image = image
	}
	report := checked(files, options)
	return append(report.Findings, report.CheckPod(c.pod)...)
}

// graph is a configuration of a source app and a sink out, with more in between.
func graph(between, sink string) string {
	return "sources:\n  app: {type: stdin}\n" + between + "sinks:\n  out: {type: blackhole, " + sink + "}\n"
}

const ok = "inputs: [app]"

// remap is a transform with a program.
func remap(program string) string {
	return "transforms:\n  one:\n    type: remap\n    inputs: [app]\n    source: |-\n      " + strings.ReplaceAll(program, "\n", "\n      ") + "\n"
}

// given sets the arguments.
func given(words ...string) func(*Container) {
	return func(c *Container) { c.Args = texts(words...) }
}

func in(changes ...func(*Container)) *Container {
	c := sidecar()
	for _, change := range changes {
		change(c)
	}
	return c
}

func as(*Container) {}

// asking has the kubelet ask a port.
func asking(port int) func(*Container) {
	return func(c *Container) { c.ProbePorts = []int{port} }
}

// addressed gives the pod addresses of an IP family.
func addressed(family string) func(*Container) {
	return func(c *Container) { c.IPFamily = family }
}

// ruleCases has for every rule what it fires on, and what it leaves alone.
var ruleCases = map[Code]struct{ fires, silent []try }{
	unreadable: {
		fires:  []try{{text: "a: ["}, {text: "a: b: c"}, {text: "{\"a\":}", name: "v.json"}, {text: "{} {}", name: "v.json"}, {text: "", name: "v.json"}, {text: "[a", name: "v.json"}, {text: "a = ", name: "v.toml"}, {text: "? [a]\n: b"}},
		silent: []try{{text: graph("", ok)}, {text: "---\n" + graph("", ok)}, {text: "\ufeff# comment\n" + graph("", ok)}},
	},
	badExtension: {
		fires:  []try{{text: "", name: "vector.conf"}, {text: "", name: "vector"}},
		silent: []try{{text: graph("", ok), name: "agent.yml"}},
	},
	repeatedKey: {
		fires:  []try{{text: "sources: {}\nsources: {}"}, {text: `{"sinks": {"a": 1, "a": 2}}`, name: "v.json"}, {text: `{"data_dir": "/a", "data_dir": "/b"}`, name: "v.json"}},
		silent: []try{{text: "a: &a {type: stdin}\nb: {<<: *a, type: exec}"}},
	},
	definedTwice: {
		fires: []try{{text: graph("", ok), second: "sinks: {out: {type: blackhole, inputs: [app]}}"}, {text: "data_dir: /a\n" + graph("", ok), second: "data_dir: /b"}, {text: "api: {address: a}", second: "api: {address: b}"},
			{text: "proxy: {no_proxy: [a]}\n" + graph("", ok), second: "proxy: {no_proxy: [a]}"}, {text: "acknowledgements: {enabled: true}\n" + graph("", ok), second: "acknowledgements: {enabled: false}"}, {text: "expire_metrics_secs: 5\n" + graph("", ok), second: "expire_metrics_secs: 6"},
			{text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {host_key: b}"},
			{text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {message_key: b}"}, {text: "log_schema: {host_key: a, message_key: b}\n" + graph("", ok), second: "log_schema: {host_key: a}"}, {text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {host_key: host, message_key: \"\"}"}, {text: "tests: [{name: t}]\n" + graph("", ok), second: "tests: [{name: t}]"}},
		silent: []try{{text: graph("", ok), second: "sinks: {two: {type: blackhole, inputs: [app]}}"}, {text: "data_dir: /a\napi: {enabled: true}\n" + graph("", ok), second: "data_dir: /a\napi: {enabled: true, address: \"0.0.0.0:1\"}"},
			{text: "data_dir: /var/lib/vector/\n" + graph("", ok), second: "data_dir: /b"}, {text: "data_dir: /b\n" + graph("", ok), second: "data_dir: /var/lib/vector"}, {text: "data_dir: /b\n" + graph("", ok), second: "data_dir: /b/"},
			{text: "api: {enabled: false, address: \"127.0.0.1:1\"}\n" + graph("", ok), second: "api: {enabled: true, address: \"127.0.0.1:8686\"}"}, {text: "schema: {enabled: true}\n" + graph("", ok), second: "schema: {enabled: false}"},
			{text: "healthchecks: {enabled: true}\n" + graph("", ok), second: "healthchecks: {enabled: false}"}, {text: "telemetry: {tags: {emit_service: true}}\n" + graph("", ok), second: "telemetry: {tags: {emit_service: false}}"}, {text: "proxy: {enabled: true}\n" + graph("", ok), second: "proxy: {enabled: false}"},
			{text: "latency_ewma_alpha: 0.5\n" + graph("", ok), second: "latency_ewma_alpha: 0.6"}, {text: "expire_metrics_secs: 60\n" + graph("", ok), second: "expire_metrics_secs: 60.0"}, {text: "acknowledgements: true\n" + graph("", ok), second: "acknowledgements: {enabled: true}"},
			{text: "tests: [{name: t}]\n" + graph("", ok), second: "tests: [{name: u}]"},
			{text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {host_key: a, message_key: b}"}, {text: "log_schema: {host_key: host}\n" + graph("", ok), second: "log_schema: {message_key: b}"}, {text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {timestamp_key: timestamp}"},
			{text: "log_schema: {host_key: a}\n" + graph("", ok), second: "log_schema: {}"}, {text: "log_schema: {host_key: .host}\n" + graph("", ok), second: "log_schema: {message_key: b}"}},
	},
	tooLarge: {
		fires:  []try{{text: "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)}, {text: "a: &a [*a]"}, {text: strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), name: "v.json"}, {text: bomb()}},
		silent: []try{{text: graph("", ok)}},
	},
	wrongForm: {
		fires: []try{
			{text: "text"}, {text: "sources: [a]"}, {text: "sources: {a: b}"}, {text: "[]", name: "v.json"},
			{text: "sources: {a: {type: file, include: /a}}"}, {text: "sources: {a: {type: file, include: [1]}}"}, {text: "sources: {a: {type: file, max_line_bytes: many}}"}, {text: "sources: {a: {type: file, max_line_bytes: -1}}"},
			{text: "sources: {a: {type: file, max_line_bytes: 1.5}}"}, {text: "sources: {a: {type: file, ignore_not_found: \"true\"}}"}, {text: "sinks: {a: {type: http, batch: 5}}"}, {text: "sinks: {a: {type: http, tls: {verify_certificate: 1}}}"},
			{text: "tests: [{name: a, input: []}]\n" + graph("", ok)}, {text: graph("transforms:\n", ok)}, {text: "sources: {a: {type: file, max_line_bytes: null}}"}, {text: graph("", "inputs: [app, ~]")}, {text: "{\"data_dir\": null}", name: "v.json"},
			{text: "data_dir: 5\n" + graph("", ok)}, {text: "api: {enabled: \"yes\"}\n" + graph("", ok)},
		},
		silent: []try{
			{text: "sinks: {a: {type: loki, endpoint: 0123, tenant_id: 1_000}}"}, {text: graph("transforms: {}\n", ok)}, {text: graph("", "inputs: [app], acknowledgements: true, healthcheck: false")}, {text: "acknowledgements: true\ntimezone: Europe/Paris\nexpire_metrics_secs: 60\n" + graph("", ok)},
			{text: "sources: {a: {type: file, max_line_bytes: \"${MAX}\", include: \"${FILES}\"}}", image: "vector:0.56.0"}, {text: "sources: {a: {type: file, include: []}}"}, {text: "# nothing"}, {text: graph("", "inputs: [app], x: \"null\"")},
			{text: "sinks: {a: {type: vector, compression: true}, b: {type: http, batch: {timeout_secs: 1}}, c: {type: redis, endpoint: [a, b]}}"}, {text: "transforms: {a: {type: filter, condition: {type: vrl, source: a}}, b: {type: filter, condition: a}}"},
		},
	},
	unknownKey: {
		fires:  []try{{text: "pipelines: {}\n" + graph("", ok)}},
		silent: []try{{text: "healthchecks: {enabled: false}\ntimezone: local\n" + graph("", ok)}},
	},
	besideProvider: {
		fires:  []try{{text: "provider: {type: http}\n" + graph("", ok)}},
		silent: []try{{text: "provider: {type: http}"}, {text: "provider: null\n" + graph("", ok)}},
	},
	dotInID:      {fires: []try{{text: graph("  a.b: {type: exec}\n", ok)}}, silent: []try{{text: graph("  a-b_c: {type: exec}\n", ok)}}},
	noComponents: {fires: []try{{text: ""}, {text: "sources: {a: {type: stdin}}"}, {text: "sinks: {}", name: "v.yml"}}, silent: []try{{text: graph("", ok)}, {text: "sources: [a]", name: "v.yml", second: "sinks: {a: {type: blackhole, inputs: [a]}}"}}},
	idOfSeveral:  {fires: []try{{text: graph("transforms:\n  app: {type: remap, inputs: [app]}\n", ok)}}, silent: []try{{text: graph("transforms:\n  app2: {type: remap, inputs: [app]}\n", ok)}}},
	noInputs: {
		fires:  []try{{text: graph("", "inputs: []")}, {text: graph("", "inputs: app")}, {text: graph("", "x: 1")}, {text: graph("", "inputs: [[app]]")}},
		silent: []try{{text: graph("", ok)}, {text: graph("", "inputs: [1]")}, {text: graph("enrichment_tables:\n  m: {type: memory, inputs: []}\n", ok)}},
	},
	repeatedInput: {
		fires:  []try{{text: graph("", "inputs: [app, app]")}, {text: graph("", `inputs: ["a*", app]`)}, {text: graph("", `inputs: ["a??", "*p"]`)}},
		silent: []try{{text: graph("  two: {type: exec}\n", `inputs: ["a*", "t*"]`)}},
	},
	claimedTwice: {
		fires: []try{
			{text: graph("  a: {type: vector, address: \"0.0.0.0:6000\"}\n  b: {type: logstash, address: \"10.0.0.1:6000\"}\n", ok)},
			{text: graph("  b: {type: file_descriptor, fd: 0}\n", ok)},
			{text: graph("  a: {type: splunk_hec}\n  b: {type: http_server, address: \"[::]:8088\"}\n", ok)},
			{text: graph("  a: {type: prometheus_remote_write, address: \"127.0.0.1:9598\"}\n", ok) + "  e: {type: prometheus_exporter, inputs: [a]}\n"},
			{text: graph("  a: {type: vector, address: \"[::]:6000\"}\n  b: {type: logstash, address: \"127.0.0.1:6000\"}\n", ok)},
			{text: graph("  a: {type: vector, address: \"[::1]:6000\"}\n  b: {type: logstash, address: \"[::1]:6000\"}\n", ok)},
		},
		silent: []try{
			{text: graph("  a: {type: socket, mode: udp, address: \"0.0.0.0:514\"}\n  b: {type: syslog, mode: tcp, address: \"0.0.0.0:514\"}\n", ok)},
			{text: graph("  a: {type: vector, address: \"10.0.0.1:6000\"}\n  b: {type: logstash, address: \"10.0.0.2:6000\"}\n", ok)},
			{text: graph("  a: {type: vector, address: \"0.0.0.0:6000\"}\n  b: {type: logstash, address: \"[::1]:6000\"}\n", ok)},
			{text: graph("  a: {type: vector, address: \"127.0.0.1:6000\"}\n  b: {type: logstash, address: \"[::1]:6000\"}\n", ok)},
			{text: graph("  a: {type: socket, mode: unix, path: /a}\n  b: {type: socket, mode: tcp, address: systemd}\n  c: {type: socket, mode: tcp, address: \"systemd#2\"}\n", ok)},
		},
	},
	reservedOutput: {
		fires: []try{
			{text: graph("transforms:\n  r: {type: route, inputs: [app], route: {_default: a}}\n", ok)},
			{text: graph("transforms:\n  r: {type: exclusive_route, inputs: [app], routes: [{name: _unmatched, condition: a}]}\n", ok)},
			{text: graph("transforms:\n  r: {type: exclusive_route, inputs: [app], routes: [{name: a, condition: a}, {name: a, condition: b}]}\n", ok)},
		},
		silent: []try{{text: graph("transforms:\n  r: {type: route, inputs: [app], route: {default: a}}\n", ok)}},
	},
	outOfRange: {
		fires:  []try{{text: "latency_ewma_alpha: 0\n" + graph("", ok)}, {text: "latency_ewma_alpha: 1\n" + graph("", ok)}, {text: "buffer_utilization_ewma_half_life_seconds: -1\n" + graph("", ok)}},
		silent: []try{{text: "latency_ewma_alpha: 0.9\nbuffer_utilization_ewma_half_life_seconds: 5\n" + graph("", ok)}},
	},
	unknownInput: {
		fires: []try{
			{text: graph("", "inputs: [ap]")}, {text: graph("", `inputs: ["b*"]`)}, {text: graph("", "inputs: [app.logs]")}, {text: graph("", "inputs: [out]")},
			{text: graph("transforms:\n  t: {type: remap, inputs: [app]}\n", "inputs: [t.dropped]")},
			{text: "wildcard_matching: strict\n" + graph("", `inputs: [app, "b*"]`)},
			{text: graph("", `inputs: ["a**"]`)},
		},
		silent: []try{
			{text: graph("transforms:\n  t: {type: remap, inputs: [app], reroute_dropped: true}\n", "inputs: [t.dropped, t]")},
			{text: "wildcard_matching: relaxed\n" + graph("", `inputs: [app, "b*"]`)},
			{text: graph("  d: {type: datadog_agent, address: \"0.0.0.0:1\", multiple_outputs: true}\n", "inputs: [app, d.logs, d.metrics, d.traces]")},
			{text: graph("  d: {type: datadog_agent, address: \"0.0.0.0:1\"}\n", "inputs: [app, d]")},
			{text: graph("  d: {type: not_yet_known}\n", "inputs: [app, d.port]"), image: "vector:0.70.0"},
			{text: graph("", `inputs: ["${INPUT}"]`), image: "vector:0.56.0"},
			{text: graph("", `inputs: ["**"]`)},
		},
	},
	ambiguousInput: {
		fires:  []try{{text: graph("enrichment_tables:\n  m: {type: memory, source_config: {source_key: app}}\n", ok)}},
		silent: []try{{text: graph("enrichment_tables:\n  m: {type: memory, source_config: {source_key: m_out, export_expired_items: true}}\n", "inputs: [app, m_out.expired]")}},
	},
	eventsDoNotMeet: {
		fires: []try{
			{text: graph("transforms:\n  t: {type: aggregate, inputs: [app]}\n", "inputs: [t]")},
			{text: graph("transforms:\n  t: {type: trace_to_log, inputs: [app]}\n", "inputs: [t]")},
			{text: graph("transforms:\n  m: {type: log_to_metric, inputs: [app]}\n  d: {type: dedupe, inputs: [m]}\n", "inputs: [d]")},
			{text: graph("  m: {type: internal_metrics}\ntransforms:\n  l: {type: lua, version: \"1\", inputs: [m]}\n", "inputs: [l, app]")},
		},
		silent: []try{
			{text: graph("transforms:\n  m: {type: log_to_metric, inputs: [app]}\n  l: {type: metric_to_log, inputs: [m]}\n  d: {type: dedupe, inputs: [l]}\n", "inputs: [d]")},
			{text: graph("transforms:\n  l: {type: lua, version: \"2\", hooks: {}, inputs: [app]}\n  a: {type: aggregate, inputs: [l]}\n", "inputs: [a]")},
		},
	},
	cycle: {
		fires:  []try{{text: graph("transforms:\n  a: {type: remap, inputs: [app, a]}\n", "inputs: [a]")}, {text: graph("transforms:\n  a: {type: remap, inputs: [app, b]}\n  b: {type: remap, inputs: [a]}\n", "inputs: [a]")}},
		silent: []try{{text: graph("transforms:\n  a: {type: remap, inputs: [app, b]}\n  b: {type: remap, inputs: [a]}\n", ok)}, {text: graph("transforms:\n  a: {type: remap, inputs: [app]}\n  b: {type: remap, inputs: [app, a]}\n", "inputs: [a, b]")}, {text: graph("transforms:\n  a: {type: remap, inputs: [\"a*\"]}\n", "inputs: [a]")}},
	},
	notConsumed: {
		fires:  []try{{text: graph("  idle: {type: internal_logs}\n", ok)}, {text: graph("transforms:\n  r: {type: route, inputs: [app], route: {a: b}}\n", "inputs: [r.a]")}},
		silent: []try{{text: graph("transforms:\n  r: {type: route, inputs: [app], route: {a: b}, reroute_unmatched: false}\n", "inputs: [r.a]")}, {text: graph("  idle: {type: internal_logs}\n", "inputs: [ap]")}},
	},
	notAcknowledged: {
		fires:  []try{{text: graph("", "inputs: [app], acknowledgements: true")}, {text: "acknowledgements: {enabled: true}\n" + graph("transforms:\n  t: {type: remap, inputs: [app]}\n", "inputs: [t]")}},
		silent: []try{{text: "acknowledgements: {enabled: true}\n" + graph("", "inputs: [app], acknowledgements: false")}, {text: "sources:\n  a: {type: file, include: [/x]}\nsinks:\n  out: {type: blackhole, inputs: [a], acknowledgements: true}\n"}},
	},
	noType:      {fires: []try{{text: "sources: {a: {tpye: stdin}}"}, {text: "sources: {a: {type: 3}}"}, {text: "sources: {a: {type: \"\"}}"}}, silent: []try{{text: graph("", ok)}}},
	unknownType: {fires: []try{{text: "sources: {a: {type: stdn}}"}, {text: "sources: {a: {type: console}}"}, {text: "sources: {a: {type: stdn}}", image: "vector:latest"}}, silent: []try{{text: graph("", ok)}, {text: "sources: {a: {type: \"${TYPE}\"}}", image: "vector:0.50.0"}}},
	missingOption: {
		fires: []try{
			{text: "sources: {a: {type: file}}"}, {text: "sources: {a: {type: socket, mode: udp}}"}, {text: "sources: {a: {type: socket, mode: unix_stream}}"},
			{text: "sources: {a: {type: demo_logs, format: shuffle}}"}, {text: "sources: {a: {type: file, include: [/a], multiline: {mode: halt_with}}}"},
			{text: "sinks: {a: {type: http, inputs: [b], uri: \"http://a/\", encoding: {codec: json}, auth: {strategy: bearer}}}"},
			{text: "sinks: {a: {type: vector, inputs: [b]}}", image: "vector:0.56.0"}, {text: "sinks: {a: {type: vector, inputs: [b]}}"}, {text: "secret: {a: {type: exec}}\n" + graph("", ok)},
		},
		silent: []try{
			{text: "sources: {a: {type: socket, mode: unix_stream, path: /a}, b: {type: demo_logs, format: json}}"},
			{text: "sinks: {a: {type: splunk_hec_logs, inputs: [b], token: \"SECRET[a.b]\", endpoint: \"http://h\", encoding: {codec: json}}}"},
			{text: "sources: {a: {type: fluent, address: \"0.0.0.0:1\"}}"}, {text: "sinks: {a: {type: doris, inputs: [b], database: d, table: t, encoding: {codec: json}}}"},
			{text: "sinks: {a: {type: influxdb_logs, inputs: [b], endpoint: \"http://a\"}}"},
			{text: "sinks: {a: {type: http, inputs: [b], uri: \"http://a/\", encoding: {codec: json}, auth: {strategy: \"SECRET[a.b]\"}}}"},
			{text: "sinks: {a: {type: http, inputs: [b], \"${KEY}\": x, encoding: {codec: json}}}", image: "vector:0.56.0"},
			{text: "sinks: {a: {type: vector, inputs: [b], routing: {}}, c: {type: vector, inputs: [b], address: \"a:1\"}}"},
		},
	},
	misplacedKey: {fires: []try{{text: "sources: {a: {type: stdin, inputs: [b]}}"}, {text: "transforms: {a: {type: remap, buffer: {}}}"}}, silent: []try{{text: graph("", "inputs: [app], buffer: {type: memory}")}, {text: "sources: {a: {type: file, encoding: {charset: utf-8}}}"}}},
	unknownCodec: {
		fires: []try{{text: graph("  a: {type: exec, decoding: {codec: jsn}}\n", ok)}, {text: "sinks: {a: {type: opentelemetry, inputs: [b], protocol: {encoding: {codec: jsom}}}}"}, {text: "sinks: {a: {type: console, inputs: [b], encoding: {codec: vrl}}}"},
			{text: "sinks: {a: {type: console, inputs: [b], encoding: {codec: otlp}}}", image: "vector:0.50.0"}, {text: "sinks: {a: {type: console, inputs: [b], encoding: {codec: syslog}}}", image: "vector:0.52.0"},
			{text: "sources: {a: {type: exec, decoding: {codec: otlp}}}", image: "vector:0.50.0"}, {text: "sinks: {a: {type: aws_s3, encoding: {codec: parquet}}}"}, {text: "sinks: {a: {type: clickhouse, batch_encoding: {codec: parquet}}}"},
			{text: "sources: {a: {type: splunk_hec, raw: {decoding: {codec: jsno}}}}"}, {text: "sinks: {a: {type: console, encoding: {codec: jsno}}}", image: "vector:0.30.0"},
		},
		silent: []try{{text: graph("  a: {type: exec, decoding: {codec: vrl}}\n", ok)}, {text: "sinks: {a: {type: console, inputs: [b], encoding: {codec: \"${CODEC}\"}}}", image: "vector:0.50.0"},
			{text: "sinks: {a: {type: console, encoding: {codec: otlp}}}", image: "vector:0.51.0"}, {text: "sinks: {a: {type: console, encoding: {codec: syslog}}}", image: "vector:0.53.0"}, {text: "sinks: {a: {type: clickhouse, batch_encoding: {codec: arrow_stream}}}", image: "vector:0.53.0"},
			{text: "sinks: {a: {type: aws_s3, batch_encoding: {codec: parquet}}}"}, {text: "sources: {a: {type: splunk_hec, raw: {decoding: {codec: json}}}}"},
		},
	},
	unknownOption: {
		fires: []try{
			{text: "sinks: {a: {type: http, compressoin: gzip}}"}, {text: "sources: {a: {type: file, include: [/a], multiline: {color: x}}}"}, {text: "sinks: {a: {type: console, buffer: [{type: memory, max_event: 5}]}}"},
			{text: "sources: {a: {type: socket, mode: tcp, address: \"0.0.0.0:1\", color: red}}"}, {text: "sources: {a: {type: file, includes: [/a], include: [/b]}}", image: "vector:latest"},
			{text: "provider: {type: http, url: \"http://a.example/\", intervall: 5}"}, {text: "tests: [{name: a, outptus: []}]\n" + graph("", ok)}, {text: "api: {enable: true}\n" + graph("", ok), image: "vector:0.50.0"},
			{text: "api: {enable: true}\n" + graph("", ok)}, {text: "transforms: {a: {type: dedupe, fields: {matches: [a]}}}"},
		},
		silent: []try{
			{text: "sources: {a: {type: file, include: [/a], encoding: {charset: utf-16le}, ignore_older: 5}}"}, {text: "transforms: {a: {type: aws_ec2_metadata, host: \"http://a\", proxy: {http: \"http://b\"}}}"},
			{text: "sinks: {a: {type: loki, labels: {any: x, \"{{ l }}\": y}}, b: {type: kafka, librdkafka_options: {client.id: a}}}"}, {text: "sources: {a: {type: file, \"${KEY}\": 1}}", image: "vector:0.50.0"},
			{text: "sinks: {a: {type: http, buffer: [{type: memory, max_events: 5, when_full: overflow}, {type: disk, max_size: 268435488}], graph: {node_attributes: {a: b}}}}"},
			{text: "sources: {a: {type: not_yet_known, what: 1}}", image: "vector:0.70.0"}, {text: "sources: {a: {type: http, address: \"0.0.0.0:1\", path: /}}"},
		},
	},
	noSuchValue: {
		fires: []try{
			{text: "sinks: {a: {type: http, compression: gzp}}"}, {text: "sinks: {a: {type: http, compression: {algorithm: zip}}}"}, {text: "sinks: {a: {type: http, buffer: {type: memory, when_full: drop}}}"},
			{text: "sources: {a: {type: file, include: [/a], read_from: start}}"}, {text: "wildcard_matching: loose\n" + graph("", ok)}, {text: "transforms: {a: {type: reduce, merge_strategies: {x: summ}}}"}, {text: "sinks: {a: {type: statsd, mode: udp, address: a.example}}"},
		},
		silent: []try{
			{text: "sinks: {a: {type: http, compression: gzip}, b: {type: http, compression: {algorithm: zstd, level: 6}}, c: {type: elasticsearch, mode: normal}}"}, {text: "sinks: {a: {type: http, compression: \"${C}\"}}", image: "vector:0.56.0"},
			{text: "sinks: {a: {type: http, compression: \"SECRET[a.b]\", request: {concurrency: 5}}, b: {type: http, request: {concurrency: adaptive}}}"},
		},
	},
	wrongProgram: {
		fires: []try{
			{text: graph(remap(".a = = 1"), ok)}, {text: graph(remap("if true {}"), ok)}, {text: graph(remap(".a = (1"), ok)},
			{text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: '.a == '}\n", ok)},
			{text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: {type: vrl, source: '.a == '}}\n", ok)},
			{text: graph("transforms:\n  one: {type: route, inputs: [app], route: {a: '.a =='}}\n", ok)},
		},
		silent: []try{
			{text: graph(remap(".a = 1"), ok)}, {text: graph(remap(`.a = "{{ x"`), ok)}, {text: graph(remap("# nothing"), ok)},
			{text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: {type: datadog_search, source: '.a == '}}\n", ok)},
			{text: graph(remap(strings.Repeat("(", 10_000)), ok)},
		},
	},
	noSuchFunction: {
		fires: []try{
			{text: graph(remap(`.a = parse_jsn!("1")`), ok)}, {text: graph(remap(`.a = upcase()`), ok)}, {text: graph(remap(`.a = upcase("a", "b")`), ok)},
			{text: graph(remap(`.a = upcase(valu: "a")`), ok)}, {text: graph(remap(`for_each({"a": 1}) -> |k| { k }`), ok)}, {text: graph(remap(`.a = upcase("a") -> |k| { k }`), ok)},
			{text: graph(remap(`.a = basename!("a")`), ok), image: "vector:0.50.0"},
		},
		silent: []try{
			{text: graph(remap(`.a = parse_json!("1")`), ok)}, {text: graph(remap(`.a = contains(substring: "a", value: "b")`), ok)},
			{text: graph(remap(`.a = get_secret("a")`), ok)}, {text: graph(remap(`.a = basename!("a")`), ok), image: "vector:0.51.0"},
		},
	},
	unhandledError: {
		fires: []try{
			{text: graph(remap(`.a = parse_json("{}")`), ok)}, {text: graph(remap(`.a = upcase(.b)`), ok)}, {text: graph(remap(`.a = .b ?? 1`), ok)}, {text: graph(remap(`.a = upcase(1)`), ok)},
			{text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: .a}\n", ok)}, {text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: '.a = true'}\n", ok)},
		},
		silent: []try{
			{text: graph(remap(`.a = parse_json!("{}")`), ok)}, {text: graph(remap(`.a = upcase(string!(.b))`), ok)}, {text: graph(remap(`.a = .b || 1`), ok)},
			{text: graph(remap(`.a = upcase(.b)`), ok) + "schema: {enabled: true}\n"}, {text: graph(remap(`.a = upcase(.b)`), ok), image: "vector:0.56.0"},
			{text: graph("transforms:\n  one: {type: filter, inputs: [app], condition: .a == true}\n", ok)},
			{text: graph("", ok) + "tests: [{name: t, inputs: [{insert_at: out, type: log}], outputs: [{extract_from: out, conditions: [{type: vrl, source: 'nothing(('}]}]}]\n"},
		},
	},
	noSuchVariable: {
		fires: []try{
			{text: graph(remap(`.a = b`), ok)}, {text: graph(remap(`if true { b = 1 }; .a = b`), ok)}, {text: graph(remap(`.a = "{{ b }}"`), ok)},
			{text: graph(remap(`for_each({"a": 1}) -> |k, v| { .a = v }; .b = k`), ok)},
		},
		silent: []try{
			{text: graph(remap(`b = 1; if true { .a = b }`), ok)}, {text: graph(remap(`b = "c"; .a = "{{ b }}"`), ok)}, {text: graph(remap(`.a = s'{{ b }}'`), ok)},
			{text: graph(remap(`for_each({"a": 1}) -> |k, v| { .a = v; .b = k }`), ok)},
		},
	},
	smallBuffer:    {fires: []try{{text: graph("", "inputs: [app], buffer: [{type: memory}, {type: disk, max_size: 268435487}]")}}, silent: []try{{text: graph("", "inputs: [app], buffer: {type: disk, max_size: 268435488}")}, {text: graph("", "inputs: [app], buffer: {type: memory, max_size: 1}")}}},
	deprecatedType: {fires: []try{{text: "sources: {a: {type: http, address: \"0.0.0.0:1\"}}"}}, silent: []try{{text: "sources: {a: {type: http_server, address: \"0.0.0.0:1\"}}"}}},
	versionUnknown: {fires: []try{{text: graph("", ok), image: "vector:latest"}, {text: graph("", ok), image: "registry:5000/vector"}, {text: graph("", ok), image: "vector@sha256:00"}}, silent: []try{{text: graph("", ok)}, {text: graph("", ok), image: "registry:5000/x/vector:v0.50@sha256:00"}}},
	newerThanImage: {fires: []try{{text: "transforms: {a: {type: window}}", image: "vector:0.44.1"}, {text: "sinks: {a: {type: keep}}", image: "vector:0.30.0"}}, silent: []try{{text: "transforms: {a: {type: window}}"}, {text: "transforms: {a: {type: remap}}", image: "vector:0.20.0"}}},
	removedFromImage: {
		fires:  []try{{text: "transforms: {a: {type: geoip}}"}, {text: "sinks: {a: {type: logdna}}", image: "vector:0.58.0"}},
		silent: []try{{text: "transforms: {a: {type: geoip}}", image: "vector:0.25.0"}, {text: "sinks: {a: {type: logdna}}"}},
	},
	otherVersion: {
		fires:  []try{{text: "api: {graphql: true}\n" + graph("", ok)}, {text: "sinks: {a: {type: vector, routing: {}}}", image: "vector:0.56.1"}},
		silent: []try{{text: "api: {graphql: true, playground: true}\n" + graph("", ok), image: "vector:0.54.0"}, {text: "sinks: {a: {type: vector, routing: {}}}"}},
	},
	unconfined: {
		fires: []try{
			{text: "sinks: {a: {type: kafka, topic: \"{{ t }}\"}}"}, {text: "sinks: {a: {type: aws_s3, key_prefix: \"%F/{{ t }}\"}}"}, {text: "sinks: {a: {type: http, request: {headers: {X: \"{{ t }}\"}}}}"},
			{text: "sinks: {a: {type: http, uri: \"http://{{ t }}/\"}}"}, {text: "sinks: {a: {type: http, uri: \"http://a/?q={{ t }}\"}}"}, {text: "sinks: {a: {type: http, uri: \"http://a/{{ t }}#b\"}}"}, {text: "sinks: {a: {type: file, path: \"/{{ t }}\"}}"},
			{text: "sinks: {a: {type: file, path: \"logs/{{ t }}.log\"}}"}, {text: "sinks: {a: {type: file, path: \"/app-{{ t }}.log\"}}"}, {text: "sinks: {a: {type: file, path: \"/../{{ t }}.log\"}}"}, {text: "sinks: {a: {type: http, uri: \"http://a\\\\b/{{ t }}\"}}"},
			{text: "sinks: {a: {type: elasticsearch, mode: data_stream, data_stream: {type: \"{{ t }}\"}}}"}, {text: "sinks: {a: {type: elasticsearch, mode: data_stream, data_stream: {dataset: \"{{ t }}\"}}}"}, {text: "sinks: {a: {type: elasticsearch, mode: data_stream, data_stream: {namespace: \"{{ t }}\"}}}"},
			{text: "sinks: {a: {type: elasticsearch, bulk: {index: \"{{ t }}\"}}}"}, {text: "sinks: {a: {type: elasticsearch, mode: normal, normal: {index: \"{{ t }}\"}}}"}, {text: "sinks: {a: {type: gcp_stackdriver_logs, resource: {type: t, zone: \"{{ t }}\"}}}"}, {text: "sinks: {a: {type: gcp_stackdriver_logs, labels: {l: \"{{ t }}\"}}}"},
			{text: "sinks: {a: {type: greptimedb_logs, pipeline_name: \"{{ t }}\"}}"}, {text: "sinks: {a: {type: greptimedb_logs, pipeline_version: \"{{ t }}\"}}"}, {text: "sinks: {a: {type: aws_s3, ssekms_key_id: \"{{ t }}\"}}"}, {text: "sinks: {a: {type: loki, labels: {\"{{ k }}\": a}}}"},
			{text: "sinks: {a: {type: redis, key: \"/{{ t }}\"}}"}, {text: "sinks: {a: {type: opentelemetry, dangerously_allow_unconfined_template_resolution: true, protocol: {type: http, uri: \"{{ t }}\"}}}"},
		},
		silent: []try{
			{text: "sinks: {a: {type: kafka, topic: \"{{ t }}\"}}", image: "vector:0.56.0"}, {text: "sinks: {a: {type: kafka, topic: \"t-{{ t }}\"}, b: {type: aws_s3, key_prefix: \"%F/\"}}"},
			{text: "sinks: {a: {type: kafka, topic: \"{{ t }}\", dangerously_allow_unconfined_template_resolution: true}}"},
			{text: "sinks: {a: {type: file, path: \"{{ t }}\", base_dir: /d}, b: {type: http, uri: \"https://host/{{ t }}\"}}"},
			{text: "sinks: {a: {type: http, uri: \"https://api.example.com:443{{ path }}\"}, b: {type: http, uri: \"http://a/?q=1\"}, c: {type: kafka, topic: \"{{x\"}}"},
			{text: "sinks: {a: {type: elasticsearch, mode: data_stream, bulk: {index: \"{{ index }}\"}}}"},
			{text: "sinks: {a: {type: papertrail, process: \"{{ t }}\"}}"},
			{text: "sinks: {a: {type: opentelemetry, protocol: {type: http, uri: \"{{ t }}\", dangerously_allow_unconfined_template_resolution: true}}, b: {type: elasticsearch, data_stream: {type: \"{{ t }}\"}}}"},
			{text: "sinks: {a: {type: http, uri: \"unix{{ t }}\"}, b: {type: file, path: \"/var/log/app-{{ t }}.log\"}, c: {type: loki, labels: {\"l_{{ k }}\": \"v_{{ t }}\"}}, d: {type: gcp_stackdriver_logs, resource: {type: \"{{ t }}\"}}}"},
			{text: "sinks: {a: {type: http, uri: \"HTTPS://a.example/{{ t }}\"}, b: {type: elasticsearch, mode: data_stream, bulk: {index: \"{{ t }}\"}, data_stream: {type: \"logs-{{ t }}\"}}}"},
		},
	},
	literalVariable: {
		fires: []try{{text: "data_dir: ${DIR}\n" + graph("", ok)}, {text: "data_dir: ${DIR:-/x}\n" + graph("", ok)}},
		silent: []try{{text: "data_dir: ${DIR}\n" + graph("", ok), image: "vector:0.56.0"}, {text: graph("transforms:\n  t: {type: remap, inputs: [app], source: '.a = \"${1}\"'}\n", "inputs: [t]")}, {text: "data_dir: $$DIR\n" + graph("", ok)}, {text: "data_dir: ${DIR}\n" + graph("", ok), container: in(func(c *Container) {
			c.Args = texts("--dangerously-allow-env-var-interpolation")
			c.set("DIR", "/x")
		})}},
	},
	unsetVariable: {
		fires:  []try{{text: "data_dir: $DIR\n" + graph("", ok), image: "vector:0.56.0", container: in(as)}, {text: "data_dir: ${DIR:?must be there}\n" + graph("", ok), image: "vector:0.56.0", container: in(as)}},
		silent: []try{{text: "data_dir: ${DIR:-/x}\n" + graph("", ok), image: "vector:0.56.0", container: in(as)}, {text: "data_dir: ${VECTOR_SELF_POD_NAME}$$x\n" + graph("", ok), image: "vector:0.56.0", container: in(as)}, {text: "data_dir: \"\\x24DIR\"\n" + graph("", ok), image: "vector:0.56.0", container: in(as)}, {text: `{"data_dir": "\u0024{DIR}"}`, name: "v.json", image: "vector:0.56.0", container: in(as)}, {text: "data_dir: $DIR\n" + graph("", ok), image: "vector:0.56.0", container: in(func(c *Container) { c.OpenEnv = true })}, {text: "data_dir: $DIR\n" + graph("", ok), image: "vector:0.56.0"}},
	},
	badVariable: {
		fires: []try{
			{text: "data_dir: ${DIR:?must be there}\n" + graph("", ok), image: before, container: having("DIR", "")},
			{text: "# $DIR\n" + graph("", ok), image: "vector:0.51.0", container: having("DIR", "a\nb")},
			{text: "# ${DIR:-/x}\n" + graph("", ok), container: having("DIR", "a\rb", "VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION", "true")},
		},
		silent: []try{
			{text: "data_dir: ${DIR?must be there}\n" + graph("", ok), image: before, container: having("DIR", "")},
			{text: "# $DIR\n" + graph("", ok), image: "vector:0.50.0", container: having("DIR", "a\nb")},
			{text: "# $DIR\n" + graph("", ok), container: having("DIR", "a\nb")},
			{text: "# ${DIR:?x}\n" + graph("", ok), image: before, container: having("DIR", ofPod)},
		},
	},
	unknownFlag: {
		fires:  []try{{text: graph("", ok), container: in(given("--no-such-flag"))}, {text: graph("", ok), container: in(given("--chunk-size-events=5")), image: before}},
		silent: []try{{text: graph("", ok), container: in(given("--chunk-size-events=5"))}, {text: graph("", ok), container: in(given("validate", "--no-environment"))}},
	},
	badFlagValue: {
		fires:  []try{{text: graph("", ok), container: in(given("--threads", "two"))}, {text: graph("", ok), container: having("VECTOR_WATCH_CONFIG", "yes")}},
		silent: []try{{text: graph("", ok), container: in(given("--threads", "2"))}, {text: graph("", ok), container: having("VECTOR_WATCH_CONFIG", ofPod)}},
	},
	absentFile: {
		fires: []try{{text: graph("", ok), container: in(func(c *Container) {
			c.Absent = []vectorflags.Source{{Path: vectorflags.Text{Value: "/x.yaml"}, Origin: "--config"}}
		})}},
		silent: []try{{text: graph("", ok), container: in(as)}},
	},
	unknownSecret: {fires: []try{{text: "data_dir: SECRET[a.b]\nsecret: {c: {type: exec}}\n" + graph("", ok)}}, silent: []try{{text: "data_dir: SECRET[a.b]\nsecret: {a: {type: exec}}\n" + graph("", ok)}}},
	nodeOnly:      {fires: []try{{text: "sources: {a: {type: docker_logs}, b: {type: journald}, c: {type: host_metrics}}", container: in(as)}}, silent: []try{{text: "sources: {a: {type: docker_logs}}"}, {text: graph("", ok), container: in(as)}}},
	outsideMounts: {fires: []try{{text: "sources: {a: {type: file, include: [/var/log/x.log]}}", container: in(as)}, {text: "sources: {a: {type: file, include: [\"/var/log/application/*\"]}}", container: in(as)}}, silent: []try{{text: "sources: {a: {type: file, include: [/var/log/app/x/*.log, \"/var/log/**/y.log\", /var/log/app]}}", container: in(as)}, {text: "sources: {a: {type: file, include: [/x]}}"}}},
	dataNotWritable: {
		fires:  []try{{text: "data_dir: /etc/vector/x\nsources: {a: {type: file}}", container: in(as)}, {text: "data_dir: /x\n" + graph("", "inputs: [app], buffer: {type: disk, max_size: 268435488}"), container: in(as)}, {text: "sources: {a: {type: file}}", container: in(func(c *Container) { c.Mounts = nil })}},
		silent: []try{{text: "data_dir: /x\n" + graph("", ok), container: in(as)}, {text: "sources: {a: {type: file}}", container: in(as)}, {text: "data_dir: /x\nsources: {a: {type: file, data_dir: /var/lib/vector/a}}", container: in(as)}},
	},
	dataNotKept: {fires: []try{{text: "data_dir: /x\nsources: {a: {type: file}}", container: in(func(c *Container) { c.ReadOnlyRoot = false })}}, silent: []try{{text: "data_dir: /var/lib/vector/x\nsources: {a: {type: file}}", container: in(func(c *Container) { c.ReadOnlyRoot = false })}}},
	portInUse: {
		fires:  []try{{text: graph("  a: {type: vector, address: \"127.0.0.1:6000\"}\n", ok), pod: Pod{Ports: []Port{{"app", "tcp", 6000}}}}, {text: "api: {enabled: true}\n" + graph("", ok), container: in(as), pod: Pod{Ports: []Port{{"app", "tcp", 8686}}}}},
		silent: []try{{text: graph("  a: {type: vector, address: \"127.0.0.1:6000\"}\n", ok), pod: Pod{Ports: []Port{{"app", "udp", 6000}, {"app", "tcp", 6001}}}}},
	},
	loopbackProbe: {
		fires:  []try{{text: "api: {enabled: true}\n" + graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: true, address: \"[::1]:8686\"}\n" + graph("", ok), container: in(asking(8686))}, {text: graph("  a: {type: http_server, address: \"127.0.0.1:9598\"}\n", ok), container: in(asking(9598))}},
		silent: []try{{text: "api: {enabled: true, address: \"[::]:8686\"}\n" + graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: true}\n" + graph("", ok), container: in(as)}},
	},
	otherFamilyProbe: {
		fires: []try{
			{text: graph("  a: {type: http_server, address: \"0.0.0.0:9598\"}\n", ok), container: in(asking(9598), addressed("IPv6"))},
			{text: graph("  a: {type: http_server, address: \"[fd00::1]:9598\"}\n", ok), container: in(asking(9598), addressed("IPv4"))},
		},
		silent: []try{
			{text: graph("  a: {type: http_server, address: \"[::]:9598\"}\n", ok), container: in(asking(9598), addressed("IPv6"))},
			{text: graph("  a: {type: http_server, address: \"[::]:9598\"}\n", ok), container: in(asking(9598), addressed("IPv4"))},
			{text: graph("  a: {type: http_server, address: \"0.0.0.0:9598\"}\n", ok), container: in(asking(9598), addressed("Dual"))},
			{text: graph("  a: {type: http_server, address: \"0.0.0.0:9598\"}\n", ok), container: in(asking(9598))},
			{text: graph("  a: {type: http_server, address: \"0.0.0.0:9598\"}\n  b: {type: http_server, address: \"[fd00::1]:9598\"}\n", ok), container: in(asking(9598), addressed("IPv6"))},
		},
	},
	unansweredProbe: {
		fires:  []try{{text: graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: true, address: \"0.0.0.0:8687\"}\n" + graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: false, address: \"0.0.0.0:8686\"}\n" + graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: true}\n" + graph("", ok), container: in(asking(9598))}},
		silent: []try{{text: graph("  a: {type: http_server, address: \"0.0.0.0:8686\"}\n", ok), container: in(asking(8686))}, {text: "api: {enabled: true, address: \"${API}\"}\n" + graph("", ok), container: in(asking(8686))}, {text: graph("", ok), container: in(as)}},
	},
	openAPI: {
		fires:  []try{{text: "api: {enabled: false, address: \"0.0.0.0:8686\"}\n" + graph("", ok), second: "api: {enabled: true}", container: in(as)}, {text: "api: {enabled: true, address: \"0.0.0.0:8686\"}\n" + graph("", ok), container: in(as)}, {text: "api: {enabled: true, address: \"[::]:8686\"}\n" + graph("", ok), container: in(asking(8686))}, {text: "api: {enabled: true, address: \"10.1.2.3:8686\"}\n" + graph("", ok), container: in(as)}},
		silent: []try{{text: "api: {enabled: true}\n" + graph("", ok), container: in(as)}, {text: "api: {enabled: true, address: \"[::1]:8686\"}\n" + graph("", ok), container: in(as)}, {text: "api: {address: \"0.0.0.0:8686\"}\n" + graph("", ok), container: in(as)}, {text: "api: {enabled: true, address: \"0.0.0.0:8686\"}\n" + graph("", ok)}},
	},
	bufferAboveVolume: {fires: []try{{text: graph("", "inputs: [app], buffer: {type: disk, max_size: 314572801}"), container: in(as)}}, silent: []try{{text: graph("", "inputs: [app], buffer: {type: disk, max_size: 314572800}"), container: in(as)}}},
	bufferAboveMemory: {
		fires:  []try{{text: graph("", "inputs: [app], buffer: {type: memory, max_size: 134217729}"), container: in(as)}, {text: graph("", "inputs: [app], buffer: {max_size: 134217729}"), container: in(as)}, {text: graph("", "inputs: [app], buffer: [{max_size: 134217728, when_full: overflow}, {type: memory, max_size: 1}]"), container: in(as)}},
		silent: []try{{text: graph("", "inputs: [app], buffer: {max_size: 134217728}"), container: in(as)}, {text: graph("", "inputs: [app], buffer: {max_events: 134217729}"), container: in(as)}, {text: graph("", "inputs: [app], buffer: {max_size: 134217729}"), container: in(func(c *Container) { c.MemoryLimit = 0 })}, {text: graph("", "inputs: [app], buffer: {max_size: 134217729}")}},
	},
	shutdownTooLong: {fires: []try{{text: graph("", ok), container: in(as), pod: Pod{GraceSeconds: new(int64(24))}}, {text: graph("", ok), container: in(func(c *Container) { c.Env, c.DrainSeconds = nil, 0 }), pod: Pod{GraceSeconds: new(int64(59))}}}, silent: []try{{text: graph("", ok), container: in(as), pod: Pod{GraceSeconds: new(int64(25))}}, {text: graph("", ok), container: in(as)}, {text: graph("", ok), pod: Pod{GraceSeconds: new(int64(1))}}}},
	plainSecret: {
		fires:  []try{{text: "sinks: {a: {type: axiom, token: abc}}", container: in(as)}},
		silent: []try{{text: "sinks: {a: {type: axiom, token: \"SECRET[a.b]\"}}", container: in(as)}, {text: "sinks: {a: {type: axiom, token: \"${T}\"}}", container: in(as)}, {text: "sinks: {a: {type: axiom, token: abc}}"}},
	},
	typeForbidden:   {fires: []try{{text: graph("", ok), permitted: Policy{Types: Lists{Deny: []string{"sinks.*"}}}}}, silent: []try{{text: graph("", ok)}, {text: graph("", ok), permitted: Policy{Types: Lists{Deny: []string{"sinks.http"}}}}}},
	optionForbidden: {fires: []try{{text: "data_dir: /x\n" + graph("", ok), permitted: Policy{Options: Lists{Deny: []string{"data_dir"}}}}}, silent: []try{{text: "data_dir: /x\n" + graph("", ok)}, {text: graph("", ok), permitted: Policy{Options: Lists{Deny: []string{"data_dir"}}}}}},
	hostForbidden:   {fires: []try{{text: "sinks: {a: {type: http, uri: 'https://a.test'}}", permitted: Policy{Hosts: Lists{Allow: []string{"b.test"}}}}}, silent: []try{{text: "sinks: {a: {type: http, uri: 'https://b.test'}}", permitted: Policy{Hosts: Lists{Allow: []string{"b.test"}}}}}},
	notLiteral:      {fires: []try{{text: "sinks: {a: {type: http, uri: 'https://{{ a }}'}}", permitted: Policy{Hosts: Lists{Allow: []string{"*"}}}}}, silent: []try{{text: "sinks: {a: {type: http, uri: 'https://{{ a }}'}}", permitted: Policy{Types: Lists{Deny: []string{"sinks.file"}}}}}},
	notVisible:      {fires: []try{{text: "provider: {type: http, url: 'https://a.test'}", permitted: Policy{Types: Lists{Deny: []string{"sinks.file"}}}}}, silent: []try{{text: "provider: {type: http, url: 'https://a.test'}"}}},
}

// bomb is a file of a few lines that grows beyond all bounds.
// reader has the parsers and the limits of the product.
func reader() *Reader {
	limits := bounded.Configuration()
	return &Reader{YAML: limits.ReadYAML, JSON: limits.ReadJSON, TOML: limits.ReadTOML, MaxBytes: limits.Bytes, Nearest: humanize.Nearest}
}

// checked is Check, of which nothing breaks off.
func checked(files []File, options Options) *Report {
	report, err := reader().Check(context.Background(), files, options)
	if err != nil {
		panic(err)
	}
	return report
}

func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		name, last := "a"+itoa(i+1), "*a"+itoa(i)
		text += name + ": &" + name + " [" + strings.Repeat(last+", ", 9) + last + "]\n"
	}
	return text
}

// Each rule has configurations in the table for which it reports a finding, and similar ones for which it does not.
func TestRule_AppliesOnlyToItsFault(t *testing.T) {
	for _, rule := range Rules() {
		if rule.Code == vectorRefuses || rule.Code == testFails {
			continue // Only Vector finds these.
		}
		test := ruleCases[rule.Code]
		require.NotEmpty(t, test.fires, rule.Code)
		require.NotEmpty(t, test.silent, rule.Code)
		t.Run(string(rule.Code)+" "+rule.Title, func(t *testing.T) {
			for _, c := range test.fires {
				found := c.findings()
				require.Contains(t, codes(found), rule.Code, c.text)
				at := slices.IndexFunc(found, func(f Finding) bool { return f.Code == rule.Code })
				require.NotEmpty(t, found[at].Help)
				require.NotContains(t, found[at].String(), "%!", "a message that was not written out")
			}
			for _, c := range test.silent {
				require.NotContains(t, codes(c.findings()), rule.Code, c.text)
			}
		})
	}
	require.Len(t, ruleCases, len(Rules())-2, "a case of a rule that is not in the catalog")
}

func codes(findings []Finding) []Code {
	var all []Code
	for _, f := range findings {
		all = append(all, f.Code)
	}
	return all
}

// The rules of the check are sorted by their codes, and each has a title, a level and help.
func TestRules_ListsSortedCodesWithHelp(t *testing.T) {
	all := Rules()
	require.True(t, slices.IsSortedFunc(all, func(a, b Rule) int { return strings.Compare(string(a.Code), string(b.Code)) }))
	form := regexp.MustCompile(`^VSC[1-7]\d\d$`)
	for i, rule := range all {
		require.Regexp(t, form, rule.Code)
		require.NotEmpty(t, rule.Title)
		require.NotEmpty(t, rule.Help)
		require.Contains(t, []Level{Error, Warning}, rule.Level)
		require.True(t, i == 0 || all[i-1].Code != rule.Code)
	}
}

// The version of Vector is not known. Findings that depend on it are warnings, so they do not block a change.
func TestCheck_WarnsWithoutKnownVersion(t *testing.T) {
	for code, c := range map[Code]try{
		removedFromImage: {text: "transforms: {a: {type: geoip, inputs: [b]}}"},
		otherVersion:     {text: "api: {graphql: true}\n" + graph("", ok)},
		unconfined:       {text: "sinks: {a: {type: kafka, topic: \"{{ t }}\"}}"},
		missingOption:    {text: "sources: {a: {type: file}}"},
		unknownType:      {text: "sources: {a: {type: something_of_tomorrow}}"},
	} {
		for image, level := range map[string]Level{"vector:latest": Warning, image: Error} {
			c.image = image
			found := c.findings()
			at := slices.IndexFunc(found, func(f Finding) bool { return f.Code == code })
			require.GreaterOrEqual(t, at, 0, code)
			require.Equal(t, level, found[at].Level, "%s with %s", code, image)
		}
	}
}
