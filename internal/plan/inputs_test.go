// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// of are Inputs with one layer of values.
func of(values map[string]any) Inputs {
	inputs := Inputs{}
	inputs.Name(InputEnvironment, "staging")
	inputs.Name(InputTemplateSet, "default")
	inputs.Name(InputOperator, "1.0.0")
	inputs.Add(InputSidecar, Digests(values))
	return inputs
}

func image(tag string, more ...string) map[string]any {
	sidecar := map[string]any{"image": map[string]any{"tag": tag, "repository": "vector"}}
	for _, key := range more {
		sidecar[key] = "x"
	}
	return map[string]any{"sidecar": sidecar}
}

func texts(changes []inputChange) []string {
	var found []string
	for _, change := range changes {
		found = append(found, change.Text)
	}
	return found
}

func TestInputs_NameChangedKindAndKey(t *testing.T) {
	with := func(inputs Inputs, change func(Inputs)) Inputs {
		change(inputs)
		return inputs
	}
	files := func(text string) map[string]any {
		return ConfigMapDigests(&corev1.ConfigMap{Data: map[string]string{"podtemplate.yaml": text, "_helpers.tpl": "a"}, BinaryData: map[string][]byte{"x.tgz": {1}}})
	}
	for name, test := range map[string]struct {
		before, now Inputs
		want        []string
	}{
		"nothing":          {of(image("1")), of(image("1")), nil},
		"a value":          {of(image("1")), of(image("2")), []string{"values of the VectorSidecar (sidecar.image.tag)"}},
		"a value more":     {of(image("1")), of(image("1", "threads")), []string{"values of the VectorSidecar (sidecar.threads)"}},
		"a value less":     {of(image("1", "threads")), of(image("1")), []string{"values of the VectorSidecar (sidecar.threads)"}},
		"the first values": {of(nil), of(image("1")), []string{"values of the VectorSidecar (sidecar.image.repository, sidecar.image.tag)"}},
		"a map in place":   {of(image("1")), of(map[string]any{"sidecar": "none"}), []string{"values of the VectorSidecar (sidecar)"}},
		"a key with a dot": {of(nil), of(map[string]any{"a.b": 1.5}), []string{`values of the VectorSidecar (["a.b"])`}},
		"another name":     {of(nil), with(of(nil), func(i Inputs) { i.Name(InputEnvironment, "production") }), []string{"environment staging → production"}},
		"a name that is new": {
			with(of(nil), func(i Inputs) { delete(i, InputOperator) }), of(nil), nil,
		},
		"the program comes last": {of(nil), with(of(image("1", "a")), func(i Inputs) {
			i.Name(InputOperator, "1.1.0")
			delete(i[InputSidecar].(map[string]any)["sidecar"].(map[string]any), "image")
		}), []string{
			"values of the VectorSidecar (sidecar.a)", "operator 1.0.0 → 1.1.0",
		}},
		"a file": {
			with(of(nil), func(i Inputs) { i.Add(InputTemplates, files("a")) }), with(of(nil), func(i Inputs) { i.Add(InputTemplates, files("b")) }),
			[]string{"files of the template set (podtemplate.yaml)"},
		},
		"another template set": {
			with(of(nil), func(i Inputs) { i.Add(InputTemplates, files("a")) }), with(of(nil), func(i Inputs) { i.Name(InputTemplateSet, "edge") }),
			[]string{"template set default → edge"},
		},
		"a template set that is not known by file": {of(nil), with(of(nil), func(i Inputs) { i.SetDigest(InputTemplates, "a") }), []string{"files of the template set"}},
		"the workload": {
			of(nil).WithDigests(InputTarget, Digests(map[string]any{"labels": "a", "name": "b"})), of(nil).WithDigests(InputTarget, Digests(map[string]any{"labels": "c", "containers": "d"})),
			[]string{"fields of the workload (labels)"},
		},
		"many values": {of(nil), of(map[string]any{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}), []string{"values of the VectorSidecar (a, b, c, d, e and 2 more)"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, texts(test.now.changesSince(test.before.String())))
		})
	}
}

func TestInputs_IgnoreInvalidRecords(t *testing.T) {
	for _, text := range []string{"", "x", "[]", `"a"`, `{"vectorSidecar":` + strings.Repeat("[", 3000) + `}`, `{"environment":1,"templateSet":["default"],"operator":{}}`} {
		require.NotPanics(t, func() { of(nil).changesSince(text) })
	}
	require.Empty(t, of(nil).changesSince(`{"environment":1,"templateSet":["default"],"operator":{}}`))
	require.Empty(t, Inputs{}.String())
}

// The digests of inputs are the same in each release. Otherwise, the next change would be reported as a change of all
// inputs.
func TestInputs_KeepDigestsAcrossReleases(t *testing.T) {
	inputs := of(map[string]any{"sidecar": map[string]any{"logs": map[string]any{"path": "/var/log/app"}, "sinks": map[string]any{}, "args": []any{"-v"}, "threads": 2.0}})
	inputs.Add(InputConfig, ConfigMapDigests(&corev1.ConfigMap{Data: map[string]string{"vector.yaml": "sources: {}"}, BinaryData: map[string][]byte{"x": {1}}}))
	require.JSONEq(t, `{
		"environment": "staging", "templateSet": "default", "operator": "1.0.0", "config": {"vector.yaml": "-x", "x": "07"},
		"vectorSidecar": {"sidecar": {"args": "PV", "logs": {"path": "4p"}, "sinks": "RB", "threads": "1H"}}
	}`, inputs.String())
	require.Equal(t, "rX", combinedDigest(inputs[InputSidecar]))
}

// If the inputs have too many keys, digests are merged. A change is still detected, but without its key.
func TestInputs_LimitLengthOfRecord(t *testing.T) {
	values := func(of, changed int) map[string]any {
		groups := map[string]any{}
		for g := range of {
			group := map[string]any{}
			for n := range 10 {
				group[fmt.Sprintf("key%d", n)] = map[string]any{"value": n}
			}
			if g == changed {
				group["key3"] = map[string]any{"value": "other"}
			}
			groups[fmt.Sprintf("group%d", g)] = group
		}
		return map[string]any{"values": groups}
	}
	for size, want := range map[int]string{
		2:     "values.group1.key3.value",
		5:     "values.group1.key3",
		40:    "values.group1",
		1_000: "values",
	} {
		before, now := of(values(size, -1)), of(values(size, 1))
		require.LessOrEqual(t, len(before.String()), maxInputsBytes)
		require.Equal(t, []string{"values of the VectorSidecar (" + want + ")"}, texts(now.changesSince(before.String())), size)
		require.Equal(t, []string{"values of the VectorSidecar (" + want + ")"}, texts(now.Compact().changesSince(before.String())), size)
		require.Empty(t, before.Compact().changesSince(before.String()))
	}
	long := Inputs{}
	for _, known := range inputKinds {
		long.Name(known.kind, strings.Repeat("n", 300))
	}
	require.LessOrEqual(t, len(long.String()), maxInputsBytes)
	wide := of(map[string]any{strings.Repeat("k", 5000): 1})
	require.LessOrEqual(t, len(wide.String()), maxInputsBytes)
}

// The cause may contain text of users. It is escaped and shortened, because it appears in logs, events and terminals.
func TestCauseLine_EscapesAndShortensText(t *testing.T) {
	hostile := map[string]any{"\x1b[2J": 1, "a\nb": 1, strings.Repeat("k", 300): 1, "\xff": 1}
	for _, text := range append(texts(of(hostile).changesSince(of(nil).String())), causeText([]string{strings.Repeat("ä", 600)}, nil), CauseLine("a\x1b]0;x\x07\n"), quoteText("\u202e")) {
		require.LessOrEqual(t, len(text), maxCauseBytes)
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
		require.NotContains(t, text, "\u202e")
		require.Equal(t, strings.ToValidUTF8(text, ""), text)
	}
	require.Equal(t, "a; b; in the pods: c, d", causeText([]string{"a", "b"}, []string{"c", "d"}))
}
