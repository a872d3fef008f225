// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// surrounding changes what is next to a finding. Some findings may end because of it, by their codes.
type surrounding struct {
	change func(files []File, options *Options) []File
	ends   []Code
}

// another adds a file.
func another(text string, ends ...Code) surrounding {
	return surrounding{ends: ends, change: func(files []File, _ *Options) []File {
		return append(files, File{Name: "zz.yaml", Text: text})
	}}
}

// line adds a line at the end of the first file.
func line(text string, ends ...Code) surrounding {
	return surrounding{ends: ends, change: func(files []File, _ *Options) []File {
		if path.Ext(files[0].Name) == ".json" || strings.HasPrefix(files[0].Text, "{") {
			return files
		}
		files[0].Text = strings.TrimSuffix(files[0].Text, "\n") + "\n" + text + "\n"
		return files
	}}
}

func around(change func(options *Options)) surrounding {
	return surrounding{change: func(files []File, options *Options) []File {
		change(options)
		return files
	}}
}

// within changes each component of the first file, printed as JSON.
func within(change func(component map[string]any), ends ...Code) surrounding {
	return surrounding{ends: append(ends, unreadable, repeatedKey, tooLarge, wrongForm, badVariable), change: func(files []File, _ *Options) []File {
		var root map[string]any
		if path.Ext(files[0].Name) != ".yaml" || strings.Contains(files[0].Text, "<<") || yaml.Unmarshal([]byte(files[0].Text), &root) != nil {
			return files
		}
		for _, section := range sections {
			components, _ := root[section.key].(map[string]any)
			for _, component := range components {
				if of, ok := component.(map[string]any); ok {
					change(of)
				}
			}
		}
		text, err := json.Marshal(root)
		if err != nil {
			return files
		}
		files[0].Text = string(text)
		return files
	}}
}

// surroundings have something of which nothing is known: a variable of the pod, a component, a file.
var surroundings = map[string]surrounding{
	"a variable in a comment":     line("# ${OPEN} and $OPEN"),
	"a variable in another file":  another("# ${OPEN}\n"),
	"a data directory":            another("timezone: \"${OPEN}\"\n"),
	"a component of unknown type": another("transforms:\n  zz: {type: \"${OPEN}\", inputs: [\"${OPEN}\"]}\n", notConsumed),
	"a component of a later type": another("transforms:\n  zz: {type: of_tomorrow, inputs: [zz]}\n", notConsumed, notAcknowledged),
	"a component that is unknown": another("transforms:\n  zz: ${OPEN}\n", notConsumed),
	"an option that is unknown":   another("transforms:\n  zz: {type: filter, inputs: [\"${OPEN}\"], condition: $OPEN}\n", notConsumed),
	"a program with a variable":   another("transforms:\n  zz: {type: remap, inputs: [\"${OPEN}\"], source: '.a = \"${OPEN}\"'}\n", notConsumed),
	"a program that is unknown":   another("transforms:\n  zz: {type: remap, inputs: [\"${OPEN}\"], source: \"${OPEN}\"}\n", notConsumed),
	"a template":                  another("sinks:\n  zz: {type: kafka, inputs: [\"${OPEN}\"], bootstrap_servers: b, topic: \"t-{{ a }}\", encoding: {codec: \"${OPEN}\"}}\n", notConsumed, noComponents),
	"a file that may be readable": another("a: b${OPEN}: c\n", noComponents, unknownInput, unknownSecret, notConsumed, notAcknowledged, dataNotWritable, dataNotKept, unansweredProbe, loopbackProbe, otherFamilyProbe, bufferAboveVolume, unhandledError, openAPI),
	"a key that is not read": around(func(o *Options) {
		o.OtherFiles = append(o.OtherFiles, "/etc/vector/notes.txt", "/etc/vector/other.yaml")
	}),
	"a variable of the pod": around(func(o *Options) { o.Container.Env["OTHER"] = openText }),
	"a flag that is unknown": around(func(o *Options) {
		o.Container.Args = append(o.Container.Args, vectorflags.Text{Value: "--threads=$(OPEN)", IsOpen: true})
	}),
	"a mount":                       around(func(o *Options) { o.Container.Mounts = append(o.Container.Mounts, Mount{Path: "/elsewhere"}) }),
	"an unknown option of the same": within(func(c map[string]any) { c["graph"] = map[string]any{"node_attributes": map[string]any{"a": "${OPEN}"}} }),
	"an unknown input of the same": within(func(c map[string]any) {
		if inputs, ok := c["inputs"].([]any); ok {
			c["inputs"] = append(inputs, "${OPEN}")
		}
	}, noInputs, notConsumed),
}

// A part of the pod is unknown, such as the value of a variable. A finding is dropped only if that part may make the
// finding wrong.
func TestCheck_KeepsFindingsWithUnknownPartOfPod(t *testing.T) {
	tried := map[string]int{}
	try := func(t *testing.T, files []File, options Options) {
		t.Helper()
		if options.Container == nil {
			options.Container = sidecar()
		}
		if before := parseImageVersion(options.Image); before.isKnown && before.minor >= interpolatedUntil && !strings.Contains(files[0].Text, "$") {
			options.Container.set("VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION", "true")
		}
		options.Container.Env["OPEN"] = openText
		want := checked(files, options).Findings
		for name, of := range surroundings {
			changed := options
			container := *options.Container
			container.Env, container.Args, container.Mounts = cloned(container.Env), slices.Clip(container.Args), slices.Clip(container.Mounts)
			changed.Container = &container
			given := of.change(slices.Clone(files), &changed)
			got := checked(given, changed).Findings
			for _, finding := range want {
				if slices.Contains(of.ends, finding.Code) {
					continue
				}
				tried[name]++
				require.True(t, slices.ContainsFunc(got, func(f Finding) bool {
					return f.Code == finding.Code && f.Path == finding.Path && (f.Level == finding.Level || f.Level == Error)
				}), "%s: %s\nnow %v\nin %s", name, finding, got, given[0].Text)
			}
		}
	}
	corpus(t, "broken", func(t *testing.T, file File, options Options, _ map[string]string) { try(t, []File{file}, options) })
	for code, cases := range ruleCases {
		for _, c := range cases.fires {
			t.Run(string(code), func(t *testing.T) {
				name := c.name
				if name == "" {
					name = "vector.yaml"
				}
				files := []File{{Name: name, Text: c.text}}
				if c.second != "" {
					files = append(files, File{Name: "second.yaml", Text: c.second})
				}
				options := Options{Image: c.image, Policy: c.permitted}
				if options.Image == "" {
					options.Image = image
				}
				if c.container != nil {
					container := *c.container
					container.Env = cloned(container.Env)
					options.Container = &container
				}
				try(t, files, options)
			})
		}
	}
	for name := range surroundings {
		require.Greater(t, tried[name], 100, name)
	}
}

func cloned(env map[string]vectorflags.Text) map[string]vectorflags.Text {
	fresh := map[string]vectorflags.Text{}
	for name, value := range env {
		fresh[name] = value
	}
	return fresh
}
