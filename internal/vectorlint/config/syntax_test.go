// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each case is a value from Vector's tests or documentation, or a misspelled one. The check accepts what Vector
// accepts.
func TestSyntaxes_MatchVector(t *testing.T) {
	for syntax, texts := range map[string]struct{ right, wrong []string }{
		"target_path": {
			right: []string{".", "f", ".f", "foo", `ec2.metadata."availability-zone"`, ".a-b-", ".-a-b", ".@timestamp", `"$peci@l chars"`, ".foo[0]", `"a"b`, `"a""b"`, "a[0][-1]", "[0]", ".[0]", "a[-]", `"a\"b\\"`, "%a.b", "%", "%\"x\"", "a[0]b.c"},
			wrong: []string{"", "]", "]foo", "..", "...", ".[", "f.", "foo[", "foo$", ".foo.foo bar", `"\q"`, `"`, `foo"bar"`, "a..b", "a.[0]", "a[x]", "ü", "%a b"},
		},
		"optional_value_path": {right: []string{"", "a.b"}, wrong: []string{"a b"}},
		"value_path":          {right: []string{"a.b"}, wrong: []string{"", "%a"}},
		"template": {
			right: []string{"", "a", "{{x", "{{ a.b }}", "{{a}}-%Y-%m-%d", "100%%", "%+", "%.3f", "%3f", "%-d", "%:z", "{{ %m.x }}", "{{ \"a b\" }}", "}}", "{{}}"},
			wrong: []string{"100%", "100% of", "%E", "{{ a b }}", "{{ a. }}", "{{ }}", "%Y-{{ a }}-%"},
		},
		"socket_address": {right: []string{"0.0.0.0:80", "[::]:80", "[fe80::1]:0080"}, wrong: []string{"localhost:80", "0.0.0.0", ":80", "0.0.0.0:99999", "systemd"}},
		"listen_address": {right: []string{"0.0.0.0:80", "systemd", "systemd#2"}, wrong: []string{"localhost:80", "systemd#0", "systemd#"}},
		"uri":            {right: []string{"http://a.example:80/x?y#z", "localhost:80", "/a", "a"}, wrong: []string{"", "http://", "http:///a", "http://a b"}},
		"time_zone":      {right: []string{"", "local", "UTC", "Europe/Vienna", "US/Pacific", "Etc/GMT+5", "EST5EDT"}, wrong: []string{"Europe/Wien", "CEST"}},
		"glob":           {right: []string{"*", "[ab]*", "**/a", "a"}, wrong: []string{"a**", "[", "***"}},
	} {
		for _, text := range texts.right {
			require.Empty(t, syntaxes[syntax](text), "%s %q", syntax, text)
		}
		for _, text := range texts.wrong {
			require.NotEmpty(t, syntaxes[syntax](text), "%s %q", syntax, text)
		}
	}
	for _, text := range []string{`^\d{4}`, `a(?i)b`, `(?P<n>a)`, `(?<n>a)`, `[(?=]`, `\(?=`, `[]\1]`, `[^](?=]`, `\\`, `(?s-m:a)`} {
		require.Empty(t, unsupportedPattern(text), text)
	}
	for _, text := range []string{`(?=a)`, `a(?!b)`, `(?<=a)`, `(?<!a)b`, `(a)\1`, `(?>a)`, `[a](?=b)`} {
		require.NotEmpty(t, unsupportedPattern(text), text)
	}
	for _, one := range []struct{ scalar, bounds, wrong string }{{"0", "1..", "1 or more"}, {"1", "1..", ""}, {"256", "..255", "255 at most"}, {"255", "..255", ""}, {"0xFF", "..255", ""}, {"5", "..", ""}} {
		require.Equal(t, one.wrong == "", boundsProblem(&value{form: number, scalar: one.scalar}, one.bounds) == "", one.scalar)
	}
}

// Values have the syntax of the table. An invalid value is an error for the newest version only, and otherwise a
// warning.
func TestCheckSyntax_RejectsInvalidValues(t *testing.T) {
	sinkOf := func(options string) string {
		return "sources:\n  app: {type: internal_logs}\nsinks:\n  out: {type: " + options + "}\n"
	}
	for _, text := range []string{
		"timezone: Europe/Wien\n" + graph("", ok),
		graph("  s: {type: syslog, mode: tcp, address: \"localhost:514\"}\n", "inputs: [app, s]"),
		sinkOf("kafka, inputs: [app], bootstrap_servers: a, topic: \"t-{{ a b }}\", encoding: {codec: json}"),
		sinkOf("kafka, inputs: [app], bootstrap_servers: a, topic: \"100%\", encoding: {codec: json}"),
		sinkOf("http, inputs: [app], uri: \"http://a/\", encoding: {codec: json, only_fields: [\"a b\"]}"),
		sinkOf("loki, inputs: [app], endpoint: \"http://a b\", labels: {a: b}, encoding: {codec: json}"),
		graph("", "inputs: [app], buffer: {type: memory, max_events: 0}"),
		graph("transforms:\n  f: {type: filter, inputs: [app], condition: is_log}\n", "inputs: [f]"),
		graph("transforms:\n  f: {type: filter, inputs: [app], condition: {type: is_lgo}}\n", "inputs: [f]"),
		graph("  m: {type: file, include: [/var/log/app/x], multiline: {start_pattern: \"(?=a)\", mode: halt_with, condition_pattern: a, timeout_ms: 5}}\n", "inputs: [app, m]"),
	} {
		found := try{text: text}.findings()
		require.Contains(t, codes(Errors(found)), noSuchValue, "%s: %s", text, said(found))
		require.NotContains(t, codes(Errors(try{text: text, image: "vector:latest"}.findings())), noSuchValue, text)
	}
	for text, code := range map[string]Code{
		"condition: {source: a}":              missingOption,
		"condition: {type: vrl}":              missingOption,
		"condition: {type: vrl, source: [a]}": wrongForm,
		"condition: 5":                        wrongForm,
	} {
		require.Contains(t, codes(Errors(try{text: graph("transforms:\n  f: {type: filter, inputs: [app], "+text+"}\n", "inputs: [f]")}.findings())), code, text)
	}
	for _, text := range []string{
		"timezone: local\n" + graph("", ok), graph("  s: {type: socket, mode: tcp, address: \"systemd#1\"}\n", "inputs: [app, s]"),
		graph("transforms:\n  f: {type: filter, inputs: [app], condition: {type: is_log}}\n  g: {type: filter, inputs: [f], condition: {type: datadog_search, source: \"a\"}}\n  h: {type: filter, inputs: [g], condition: exists(.a)}\n", "inputs: [h]"),
		graph("", "inputs: [app], buffer: {type: memory, max_events: 1}"),
	} {
		require.Empty(t, try{text: text}.findings(), text)
	}
}
