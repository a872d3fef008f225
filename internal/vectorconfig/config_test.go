// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckAcceptsWhatVectorStartsWith(t *testing.T) {
	for name, test := range map[string]struct{ file, text string }{
		"YAML":                    {"vector.yaml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: console, inputs: [in]}}"},
		"YAML by another name":    {"agent.yml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: console, inputs: [in]}}"},
		"JSON":                    {"vector.json", `{"sources": {"in": {"type": "demo_logs"}}, "sinks": {"out": {"type": "console", "inputs": ["in"]}}}`},
		"TOML":                    {"vector.toml", "[sources.in]\ntype = \"demo_logs\"\n[sinks.out]\ntype = \"console\"\ninputs = [\"in\"]"},
		"Vector's own templates":  {"vector.yaml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: http, inputs: [in], uri: \"{{ host }}\"}}"},
		"a wildcard for an input": {"vector.yaml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: console, inputs: [\"i*\"]}}"},
		"a transform":             {"vector.yaml", "sources: {in: {type: demo_logs}}\ntransforms: {mid: {type: remap, inputs: [in], source: .}}\nsinks: {out: {type: console, inputs: [mid]}}"},
		"a configuration that comes from elsewhere": {"vector.yaml", "provider: {type: http, url: https://config.example}"},
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, Check(test.file, test.text)) })
	}
}

func TestCheckNamesWhatKeepsVectorFromStarting(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		names      []string
	}{
		"nothing at all":             {"vector.yaml", "", []string{"vector.yaml: sources is empty", "vector.yaml: sinks is empty"}},
		"no sink":                    {"vector.yaml", "sources: {in: {type: demo_logs}}", []string{"sinks is empty"}},
		"broken YAML":                {"vector.yaml", "sources:\n\t- x", []string{"vector.yaml: line 2"}},
		"broken JSON":                {"vector.json", "{\"sources\": ", []string{"vector.json: "}},
		"broken TOML":                {"vector.toml", "[sources.in]\ntype = ", []string{"vector.toml: line 2, column"}},
		"a list at the top":          {"vector.yaml", "- sources", []string{"vector.yaml: "}},
		"a text at the top":          {"vector.yaml", "sources", []string{"vector.yaml: "}},
		"sources that are a list":    {"vector.yaml", "sources: [in]\nsinks: {out: {type: console, inputs: [in]}}", []string{"sources"}},
		"a component without a type": {"vector.yaml", "sources: {in: {format: x}}\nsinks: {out: {type: console, inputs: [in]}}", []string{"sources.in: type is missing"}},
		"a component that is a text": {"vector.yaml", "sources: {in: x}\nsinks: {out: {type: console, inputs: [in]}}", []string{"sources.in: must be a map"}},
		"a sink without inputs":      {"vector.yaml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: console}}", []string{"sinks.out: inputs"}},
		"a transform without inputs": {"vector.yaml", "sources: {in: {type: demo_logs}}\ntransforms: {mid: {type: remap, inputs: []}}\nsinks: {out: {type: console, inputs: [mid]}}", []string{"transforms.mid: inputs"}},
		"inputs that are no list":    {"vector.yaml", "sources: {in: {type: demo_logs}}\nsinks: {out: {type: console, inputs: in}}", []string{"sinks.out: inputs must be a list"}},
		"several faults":             {"vector.yaml", "sources: {in: {}}\nsinks: {a: {}, b: {type: console}}", []string{"sources.in", "sinks.a: type", "sinks.a: inputs", "sinks.b: inputs"}},
		"another extension":          {"vector.conf", "", []string{`".conf"`, ".yaml", ".toml"}},
		"no extension":               {"vector", "", []string{`extension ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(test.file, test.text)
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestFindingsHaveOneOrder(t *testing.T) {
	const text = "sources: {d: {}, c: {}, b: {}, a: {}}\nsinks: {z: {}, y: {}, x: {}}"
	first := Check("vector.yaml", text)
	for range 20 {
		require.EqualError(t, Check("vector.yaml", text), first.Error(), "a message that changes by itself is written to the status again and again")
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{"sources: {in: {type: x}}", "[sources.in]\ntype=\"x\"", "{}", "- a", "a: &a [*a]", "? {a: b} : c"} {
		f.Add("vector.yaml", text)
		f.Add("vector.toml", text)
	}
	f.Fuzz(func(_ *testing.T, file, text string) { _ = Check(file, text) })
}
