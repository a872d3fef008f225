// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A variable with an empty value is known. The check inserts the empty value, and reports the error that follows.
func TestCheck_TreatsEmptyVariableAsKnown(t *testing.T) {
	const sink = "sources:\n  app: {type: stdin}\nsinks:\n  out:\n    type: http\n    inputs: [app]\n    uri: \"${URI:-http://a.example}\"\n    encoding: {codec: \"%s\"}\n"
	for name, test := range map[string]struct {
		try

		want Code
	}{
		"a codec":                   {try{text: fmt.Sprintf(sink, "${C}"), container: having("URI", "", "C", "")}, unknownCodec},
		"a default for empty":       {try{text: fmt.Sprintf(sink, "${C:-jsn}"), container: having("URI", "", "C", "")}, unknownCodec},
		"no default for empty":      {try{text: fmt.Sprintf(sink, "${C-json}"), container: having("URI", "", "C", "")}, unknownCodec},
		"a valid default":           {try{text: fmt.Sprintf(sink, "${C:-json}"), container: having("URI", "", "C", "")}, ""},
		"a required value":          {try{text: fmt.Sprintf(sink, "${C:?set C}json"), container: having("URI", "", "C", "")}, badVariable},
		"a value that is there":     {try{text: fmt.Sprintf(sink, "${C?set C}json"), container: having("URI", "", "C", "")}, ""},
		"a line of TOML":            {try{name: "v.toml", text: "data_dir = \"/var/lib/vector\"\n${MORE}\n[sources.app]\ntype = \"stdin\"\n[sinks.out]\ntype = \"blackhole\"\ninputs = [\"app\"]\n", container: having("MORE", "")}, ""},
		"a line of TOML, not known": {try{name: "v.toml", text: "data_dir = \"/var/lib/vector\"\n${MORE}\n[sources.app]\ntype = \"stdin\"\n[sinks.out]\ntype = \"blackhole\"\ninputs = [\"ap\"]\n", container: having("MORE", ofPod)}, ""},
		"a line of YAML, not known": {try{text: "sources:\n  app: {type: stdin}\nsinks:\n  out:\n    type: console\n    inputs: [app]\n    ${MORE}\n    encoding: {codec: jsn}\n", container: having("MORE", ofPod)}, unknownCodec},
		"a value of the pod":        {try{text: fmt.Sprintf(sink, "${C}"), container: having("URI", "", "C", ofPod)}, ""},
		"a dollar sign":             {try{text: fmt.Sprintf(sink, "$$C"), container: having("URI", "")}, unknownCodec},
		"a value with another":      {try{text: fmt.Sprintf(sink, "${C}"), container: having("URI", "", "C", "js$on")}, unknownCodec},
	} {
		t.Run(name, func(t *testing.T) {
			test.image = before
			if test.want == "" {
				require.Empty(t, Errors(test.findings()))
				return
			}
			require.Contains(t, codes(Errors(test.findings())), test.want)
		})
	}
}

// A part of a value is unknown, and the other parts are still checked.
func TestCheck_ChecksKnownPartsOfValue(t *testing.T) {
	open := func(text string) try {
		return try{text: text, image: before, container: having("X", ofPod, "Y", ofPod)}
	}
	console := func(codec string) string {
		return "sources:\n  app: {type: stdin}\nsinks:\n  out: {type: console, inputs: [app], encoding: {codec: \"" + codec + "\"}}\n"
	}
	confined := func(topic string) try {
		c := open(graph("", ok) + "  k: {type: kafka, inputs: [app], bootstrap_servers: b, topic: \"" + topic + "\", encoding: {codec: json}}\n")
		c.image, c.container = image, having("X", ofPod, "VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION", "true")
		return c
	}
	for name, test := range map[string]struct {
		try

		want Code
	}{
		"a codec that starts as none":    {open(console("x${X}")), unknownCodec},
		"a codec that starts as one":     {open(console("j${X}")), ""},
		"a codec that ends as none":      {open(console("${X}jsn")), unknownCodec},
		"a secret in a codec":            {open(console("x-SECRET[a.b]") + "secret: {a: {type: exec, command: [x]}}\n"), unknownCodec},
		"a type that starts as none":     {open(strings.Replace(console("json"), "type: console", "type: \"cx${X}\"", 1)), unknownType},
		"a type that starts as one":      {open(strings.Replace(console("json"), "type: console", "type: \"con${X}\"", 1)), ""},
		"a text for a number":            {open("sources:\n  app: {type: file, include: [/x], max_line_bytes: \"a${X}\"}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n"), wrongForm},
		"an input that starts as none":   {open(graph("", "inputs: [\"b${X}\"]")), unknownInput},
		"an input that starts as one":    {open(graph("", "inputs: [\"a${X}\"]")), ""},
		"an id that is another":          {open(graph("  \"x${X}\": {type: internal_logs}\n", "inputs: [ap]")), unknownInput},
		"an id that may be it":           {open(graph("  \"a${X}\": {type: internal_logs}\n", "inputs: [ap]")), ""},
		"a field before what is unknown": {confined("{{ a }}-${X}"), unconfined},
		"a field behind what is unknown": {confined("${X}-{{ a }}"), ""},
		"a function":                     {open(graph(remap(".a = \"${X}\"\n.b = upcas(.c)"), "inputs: [one]")), noSuchFunction},
		"a function, a value open":       {open(graph(remap(".a = ${X}\n.b = upcas(.c)"), "inputs: [one]")), noSuchFunction},
		"an error of what is open":       {open(graph(remap("a = ${X}\n.b = upcase(a)"), "inputs: [one]")), ""},
		"an error next to a text":        {open(graph(remap(".a = \"${X}\"\n.b = \"${Y}\" + nothing"), "inputs: [one]")), noSuchVariable},
		"syntax next to a comment":       {open(graph(remap("# ${X}\n.b = ("), "inputs: [one]")), wrongProgram},
		"two of a needed one":            {open(graph("transforms:\n  s: {type: sample, inputs: [app], rate: 1, ratio: 0.5, \"${X}\": 1}\n", "inputs: [s]")), ""},
		"the source of a condition":      {open(graph("transforms:\n  f: {type: filter, inputs: [app], condition: {type: vrl, source: \"upcas(.a)\", \"${X}\": 1}}\n", "inputs: [f]")), noSuchFunction},
		"a pattern below a mount":        {open("sources:\n  app: {type: file, include: [\"/var/log/app/${X}/*.log\"]}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n"), ""},
		"the outputs of a route":         {open(graph("transforms:\n  r: {type: route, inputs: [app], route: {\"${X}\": \"true\"}}\n", "inputs: [r.a, r._unmatched]")), ""},
		"an output of a table":           {open(graph("", "inputs: [t]") + "enrichment_tables:\n  m: {type: memory, source_config: {source_key: \"${X}\", export_interval: 5}}\n"), ""},
		"the matching of patterns":       {open("wildcard_matching: \"${X}\"\n" + graph("", "inputs: [\"x*\", app]")), ""},
		"the address of the API":         {open("api: {enabled: $X}\n" + graph("", ok)), ""},
		"the data directory":             {open("data_dir: $X\nsources:\n  app: {type: file, include: [/var/log/app/x]}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "the address of the API" {
				test.container.ProbePorts = []int{8686}
			}
			if name == "the data directory" {
				test.container.Mounts = test.container.Mounts[:2]
			}
			if test.want == "" {
				require.Empty(t, Errors(test.findings()))
				return
			}
			require.Contains(t, codes(Errors(test.findings())), test.want)
		})
	}
}

// A file of the configuration was not read. A component that is missing in the other files may be in it, so that is no
// error.
func TestCheck_AllowsComponentsOfUnreadFiles(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Code
	}{
		"no sink":                  {"sources:\n  app: {type: stdin}\n", nil},
		"an input of another file": {graph("", "inputs: [other]"), nil},
		"a backend of another":     {"data_dir: SECRET[a.b]\n" + graph("", ok), nil},
		"its own fault":            {graph("", "inputs: [app, app]"), []Code{repeatedInput}},
		"the data directory":       {"sources:\n  app: {type: file, include: [/x]}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := Options{Image: image, Container: in(asking(8686)), IsPartial: true}
			options.Container.Mounts = nil
			require.Equal(t, test.want, codes(Errors(checked([]File{{Name: "v.yaml", Text: test.text}}, options).Findings)))
		})
	}
}

// One file of the configuration cannot be parsed. The other files are still checked.
func TestCheck_ChecksOtherFilesAfterParseError(t *testing.T) {
	report := checked([]File{{Name: "a.yaml", Text: "sources: ["}, {Name: "b.yaml", Text: "sinks:\n  out: {type: console, inputs: [app], encoding: {codec: jsn}}\n"}}, Options{Image: image})
	require.Equal(t, []Code{unreadable, unknownCodec}, codes(Errors(report.Findings)))
}
