// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// before is the last version that replaces variables by default.
const before = "docker.io/timberio/vector:0.56.0-distroless-static"

// ofPod stands for a value that only the pod knows.
const ofPod = "\x00"

// having is a container with more variables.
func having(variables ...string) *Container {
	return in(func(c *Container) {
		for i := 0; i < len(variables); i += 2 {
			c.set(variables[i], variables[i+1])
			if variables[i+1] == ofPod {
				c.Env[variables[i]] = openText
			}
		}
	})
}

const (
	tomlOfMax  = "[sources.app]\ntype = \"internal_logs\"\n[sinks.out]\ntype = \"http\"\ninputs = [\"app\"]\nuri = \"http://a.example/\"\nencoding.codec = \"json\"\nbatch.max_events = ${MAX}\n"
	jsonOfN    = `{"sources": {"app": {"type": "file", "include": ["/var/log/app/*.log"], "max_read_bytes": ${N}}}, "sinks": {"out": {"type": "blackhole", "inputs": ["app"]}}}`
	yamlOfMany = "sources:\n  app: {type: internal_logs}\n  ${ID}: {type: internal_logs}\nsinks:\n  out:\n    type: blackhole\n    inputs: ${INPUTS}\n"
)

// Variables are replaced in the text before parsing, so a variable may be a number, a list or a key.
func TestInterpolate_ReplacesVariablesBeforeParsing(t *testing.T) {
	for name, c := range map[string]try{
		"a number in TOML":            {name: "v.toml", text: tomlOfMax, image: before, container: having("MAX", "5")},
		"one that is not known":       {name: "v.toml", text: tomlOfMax, image: before, container: having("MAX", ofPod)},
		"without a container":         {name: "v.toml", text: tomlOfMax, image: before},
		"with the flag of 0.57":       {name: "v.toml", text: tomlOfMax, container: having("MAX", "5", "VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION", "true")},
		"a number in JSON":            {name: "v.json", text: jsonOfN, image: before, container: having("N", "2048")},
		"not known in JSON":           {name: "v.json", text: jsonOfN, image: before, container: having("N", ofPod)},
		"a list and a key":            {text: yamlOfMany, image: before, container: having("ID", "other", "INPUTS", "[app, other]")},
		"a list and a key, not known": {text: yamlOfMany, image: before, container: having("ID", ofPod, "INPUTS", ofPod)},
		"a default":                   {name: "v.toml", text: strings.ReplaceAll(tomlOfMax, "${MAX}", "${MAX:-5}"), image: before, container: in(as)},
		"a message":                   {name: "v.toml", text: strings.ReplaceAll(tomlOfMax, "${MAX}", "${MAX:?say how many}"), image: before, container: having("MAX", "5")},
		"in a comment":                {text: "# as in ${HOSTNAME} and $$5\n" + graph("", ok), image: before, container: in(as)},
		"a Service's":                 {text: graph("", ok) + "# $SHOP_SERVICE_PORT $KUBERNETES_SERVICE_HOST", image: before, container: in(as)},
		"a whole component":           {text: "sources:\n  app: ${APP}\nsinks:\n  out: {type: blackhole, inputs: [app, app.logs]}\n", image: before},
		"whole parts":                 {text: "sources: ${SOURCES}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n", image: before},
		"a switch of outputs":         {text: graph("transforms:\n  t: {type: remap, inputs: [app], source: .a = 1, reroute_dropped: $DROP}\n", "inputs: [t, t.dropped]"), image: before},
		"a codec":                     {text: "sources:\n  app: {type: stdin, decoding: {codec: $CODEC}}\nsinks:\n  out: {type: prometheus_exporter, inputs: [app]}\n", image: before},
		"two of a path":               {text: "data_dir: /var/lib/${A}${B}/x\n" + graph("", ok), image: before},
		"a credential":                {text: "sources:\n  app: {type: internal_logs}\nsinks:\n  out: {type: axiom, inputs: [app], dataset: d, token: \"${TOKEN}\"}\n", image: before, container: having("TOKEN", "abc")},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, Errors(c.findings()))
			require.NotContains(t, codes(c.findings()), plainSecret)
		})
	}
}

// The value of a variable is checked like any other value, at the position of the variable.
func TestInterpolate_ChecksReplacedValues(t *testing.T) {
	for text, c := range map[string]try{
		"v.toml:8:20: sinks.out.batch.max_events is a number, \"-5\"": {name: "v.toml", text: tomlOfMax, image: before, container: having("MAX", "-5")},
		"v.toml:8:20: not TOML": {name: "v.toml", text: tomlOfMax, image: before, container: having("MAX", "many")},
		"v.toml:8:20: sinks.out.batch.max_events: the container does not set": {name: "v.toml", text: tomlOfMax, image: before, container: in(as)},
		"vector.yaml:7:13: sinks.out.inputs[0]: unknown source":               {text: yamlOfMany, image: before, container: having("ID", "b", "INPUTS", "[c, app, b]")},
		"vector.yaml:1:3: the container does not set the variable NAME":       {text: "# ${NAME}\n" + graph("", ok), image: before, container: in(as)},
		"vector.yaml:3:3: the container does not set the variable ID":         {text: "sources:\n  app: {type: stdin}\n  ${ID}: {type: stdin}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n", image: before, container: in(as)},
		"vector.yaml:5:35: sinks.out.inputs[0]: unknown source":               {text: "sources:\n  $A: {type: stdin}\n  app: {type: stdin}\nsinks:\n  out: {type: blackhole, inputs: [b]}\n", image: before, container: having("A", "appendage")},
		"v.json:1:91: sources.app.max_read_bytes is a string, \"many\"":       {name: "v.json", text: jsonOfN, image: before, container: having("N", `"many"`)},
		"vector.yaml:4:43: sinks.out.x: unknown secret backend \"none":        {text: graph("", "inputs: [$A], x: \"SECRET[none.key]\""), image: before, container: having("A", "app")},
		"vector.yaml:1:3: unknown secret backend \"none":                      {text: "# SECRET[none.key]\n" + graph("", ok)},
	} {
		t.Run(text, func(t *testing.T) {
			require.Contains(t, strings.Join(said(Errors(c.findings())), "\n"), text)
		})
	}
}

// A configuration cannot be parsed because the value of a variable is unknown. The finding is a warning, not an error.
func TestInterpolate_WarnsAboutUnknownVariables(t *testing.T) {
	for _, c := range []try{
		{name: "v.toml", text: "a = b${REST}", image: before},
		{text: graph("", ok+", <<: $MORE"), image: before},
		{text: graph("", ok+", <<: [{rate: 1}, $MORE]"), image: before},
	} {
		require.Empty(t, Errors(c.findings()), c.text)
		require.Len(t, c.findings(), 1, c.text)
		require.Contains(t, []Code{unreadable, wrongForm}, c.findings()[0].Code, c.text)
	}
	broken := try{text: "data_dir: ${DIR}\nsources: [\n", image: before}
	require.Contains(t, codes(Errors(broken.findings())), unreadable)
}

// The handwritten search for variables finds the same ones as the regular expression.
func TestVariableWidth_EqualsRegularExpression(t *testing.T) {
	for _, text := range []string{"$$", "$A", "$A.b_c-d", "${A}", "${A:-b}", "${A-b c}", "${A:?x}", "${A?x}", "${}", "${A", "${A:}", "${A:x}", "${A b}", "$", "$ a", "${:-x}", "$-", "${A:-x\ny}z}", "$ä"} {
		want := 0
		if at := variable.FindStringIndex(text); len(at) > 0 && at[0] == 0 {
			want = at[1]
		}
		require.Equal(t, want, variableWidth(text, strings.LastIndexByte(text, '}')+1), text)
	}
}

func TestInterpolate_LimitsCostOfManyVariables(t *testing.T) {
	for _, text := range []string{strings.Repeat("$a ", 300_000), strings.Repeat("${a:-", 200_000), strings.Repeat("# ${", 200_000) + "}", "a: \"" + strings.Repeat("${a}", 9_999) + "\"", "# " + strings.Repeat("$ab $c", 4_000)} {
		used := allocated(func() {
			for _, name := range []string{"v.yaml", "v.toml", "v.json"} {
				checked([]File{{Name: name, Text: text}}, Options{Image: before, Container: sidecar()})
			}
		})
		require.LessOrEqual(t, used, uint64(64<<20), "%.20s", text)
	}
}

// A file uses a very large variable many times. The cost stays limited.
func TestInterpolate_LimitsCostOfLargeVariables(t *testing.T) {
	many := graph("", ok) + "# " + strings.Repeat("$A ", 9_999)
	for name, test := range map[string]struct {
		text, value string
		want        []Code
	}{
		"a comment":           {many, strings.Repeat("a", 20_000), []Code{tooLarge}},
		"a value with a sign": {many, strings.Repeat("a", 500_000) + "$", []Code{tooLarge}},
		"what is not known":   {many, ofPod, nil},
		"texts":               {graph("", ok) + "tests:\n" + strings.Repeat("  - {name: '"+strings.Repeat("$A", 1_900)+"'}\n", 5), "$$" + strings.Repeat("a", 20_000), []Code{tooLarge}},
	} {
		t.Run(name, func(t *testing.T) {
			var report *Report
			used := allocated(func() {
				report = checked([]File{{Name: "v.yaml", Text: test.text}}, Options{Image: before, Container: having("A", test.value), OtherFiles: []string{"/etc/vector/x.csv"}})
			})
			require.Equal(t, test.want, codes(Errors(report.Findings)))
			require.LessOrEqual(t, used, uint64(64<<20))
		})
	}
}
