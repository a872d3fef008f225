// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// The check accepts what Vector accepts although its schema does not allow it, and rejects what only Vector's code
// rejects.
func TestCheck_FollowsExceptionsOfVector(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "options", "data", "exceptions.tsv"))
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 5, line)
		require.Regexp(t, `^(src|lib)/[a-z_0-9/-]+\.rs:\d+$`, columns[3], "the place in Vector's code")
		isRefused := slices.Contains([]string{"required", "refuses", "bounds", "syntax", "unknown"}, columns[1])
		require.Equal(t, isRefused, len(Errors(try{text: columns[4]}.findings())) > 0, "%s %s %s", columns[0], columns[1], columns[2])
	}
}

// A finding has the path, the line, the allowed values and the nearest name.
func TestCheckOption_ListsAllowedValues(t *testing.T) {
	for text, want := range map[string]string{
		"sinks:\n  out:\n    type: http\n    inputs: [app]\n    uri: \"https://a.example/\"\n    encoding: {codec: json}\n    compressoin: gzip":          `vector.yaml:10:5: sinks.out.compressoin: the sink "http" has no option "compressoin"; did you mean "compression"? (VSC308)`,
		"sinks:\n  out:\n    type: http\n    inputs: [app]\n    uri: \"https://a.example/\"\n    encoding: {codec: json}\n    compression: gzp":           `vector.yaml:10:18: sinks.out.compression is "gzp", and not one of gzip, none, snappy, zlib, zstd; did you mean "gzip"? (VSC309)`,
		"sinks:\n  out:\n    type: http\n    inputs: [app]\n    uri: \"https://a.example/\"\n    encoding: {codec: json}\n    batch: {max_events: \"5\"}": `vector.yaml:10:25: sinks.out.batch.max_events is a string, "5", and not a whole number from 0; see the component's page at vector.dev/docs/reference/configuration (VSC106)`,
		"sinks:\n  out:\n    type: http\n    inputs: [app]\n    encoding: {codec: json}":                                                                  `vector.yaml:5:3: sinks.out: the sink "http" needs uri; add the option (VSC303)`,
		"sinks:\n  out:\n    type: http\n    inputs: [app]\n    uri: \"https://a.example/\"\n    encoding: {codec: json}\n    request: {retry: 5}":        `vector.yaml:10:15: sinks.out.request.retry: sinks.out.request has no option "retry", and Vector ignores it`,
	} {
		var lines []string
		for _, finding := range (try{text: "sources:\n  app:\n    type: stdin\n" + text}).findings() {
			lines = append(lines, finding.String())
		}
		require.Len(t, lines, 1, text)
		require.Contains(t, lines[0], want)
	}
}

// If the options of a version are not known, or Vector ignores an option, the finding is a warning.
func TestCheck_ReportsErrorsOnlyIfCertain(t *testing.T) {
	toCome := fmt.Sprintf("vector:0.%d.0", vectoroptions.Newest+1)
	for text, images := range map[string]map[string]Level{
		"sources: {a: {type: file, include: [/a], color: red}}":                 {image: Error, "vector:0.45.0": Error, "vector:0.44.0": Warning, toCome: Warning, "vector:latest": Warning},
		"sources: {a: {type: socket, mode: unix, path: /a, color: red}}":        {image: Error, "vector:0.56.0": Warning},
		"sources: {a: {type: socket, mode: tcp, address: \"a:1\", color: red}}": {image: Warning},
		"sinks: {a: {type: vector, address: \"a:1\", routing: {}}}":             {"vector:0.56.0": Error, "vector:0.44.0": Error},
		"sources: {a: {type: demo_logs, format: json, color: {inputs: none}}}":  {image: Warning},
	} {
		for image, level := range images {
			found := try{text: text, image: image}.findings()
			for _, f := range found {
				if f.Code == unknownOption || f.Code == otherVersion {
					require.Equal(t, level, f.Level, "%s with %s", f, image)
				}
			}
			require.True(t, strings.Contains(strings.Join(said(found), "\n"), "color") || strings.Contains(strings.Join(said(found), "\n"), "routing"), "%s with %s: %s", text, image, said(found))
		}
	}
}

// A string selects a variant of an object. An option of another variant is an error if Vector rejects it, and a warning
// if Vector ignores it. Before 0.57, variants are not known.
func TestCheckVariants_MatchesVector(t *testing.T) {
	for text, want := range map[string]string{
		"type: socket, mode: udp, address: \"127.0.0.1:1\", max_length: 5":                                          "",
		"type: socket, mode: udp, address: \"127.0.0.1:1\", tls: {}":                                                `error sources.a.tls: the source "socket" with mode "udp" has no option "tls"`,
		"type: socket, mode: tcp, address: \"127.0.0.1:1\", max_length: 5":                                          `warning sources.a.max_length: the source "socket" with mode "tcp" has no option "max_length", and Vector ignores it`,
		"type: socket, mode: unix, path: /a, max_length: 5":                                                         `error sources.a.max_length: the source "socket" with mode "unix" has no option "max_length"`,
		"type: socket, mode: unix_datagram, path: /a, max_length: 5":                                                `error sources.a.max_length: the source "socket" with mode "unix_datagram" has no option "max_length"`,
		"type: dnstap, mode: unix, socket_path: /a, max_frame_length: 5":                                            "",
		"type: dnstap, mode: unix, socket_path: /a, port_key: p":                                                    `error sources.a.port_key: the source "dnstap" with mode "unix" has no option "port_key"`,
		"type: dnstap, mode: tcp, address: \"127.0.0.1:1\", socket_send_buffer_size: 5":                             `warning sources.a.socket_send_buffer_size: the source "dnstap" with mode "tcp" has no option "socket_send_buffer_size", and Vector ignores it`,
		"type: http_server, address: \"127.0.0.1:1\", auth: {strategy: custom, source: \"true\", username: u}":      "",
		"type: http_server, address: \"127.0.0.1:1\", auth: {strategy: basic, username: u}":                         `error sources.a.auth: sources.a.auth with strategy "basic" needs password`,
		"type: static_metrics, metrics: [{name: m, kind: absolute, value: {gauge: {value: 1}}, tags: {}, unit: s}]": `error sources.a.metrics[0].unit: sources.a.metrics[0] has no option "unit"`,
	} {
		text = "sources: {a: {" + text + "}}\nsinks: {o: {type: blackhole, inputs: [a]}}"
		var lines []string
		for _, finding := range (try{text: text}).findings() {
			lines = append(lines, fmt.Sprint(finding.Level, " ", finding.Path, ": ", finding.Message))
		}
		require.LessOrEqual(t, len(lines), 1, text)
		require.True(t, strings.HasPrefix(strings.Join(lines, ""), want) && (want == "") == (len(lines) == 0), "%s: %s", text, lines)
		if !strings.Contains(text, "static_metrics") && !strings.Contains(text, "http_server") {
			require.Empty(t, Errors(try{text: text, image: "vector:0.56.0"}.findings()), text)
		}
	}
}

// Options of an optional struct are combined with those of another one. Vector ignores the invalid ones, so the finding
// is a warning.
func TestCheckVariants_WarnsAboutIgnoredOptions(t *testing.T) {
	for _, text := range []string{
		"sources: {s: {type: internal_logs}}\nsinks: {o: {type: influxdb_logs, inputs: [s], measurement: m, endpoint: \"http://a.example\", database: d, bucket: true}}",
		"sources: {s: {type: internal_metrics}}\nsinks: {o: {type: influxdb_metrics, inputs: [s], endpoint: \"http://a.example\", database: d, token: 5}}",
		"sources: {s: {type: aws_s3, sqs: {queue_url: \"http://a.example\", connect_timeout_seconds: true}}}\nsinks: {o: {type: blackhole, inputs: [s]}}",
	} {
		found := try{text: text}.findings()
		require.Len(t, found, 1, text)
		require.Equal(t, wrongForm, found[0].Code, text)
		require.Equal(t, Warning, found[0].Level, text)
	}
}

func said(findings []Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}
