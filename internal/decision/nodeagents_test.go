// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const excluded = "vector.dev/exclude-containers"

// podAnnotations are those that a plan writes, without the operator's own.
func podAnnotations(p *plan.Plan) map[string]any {
	return tree.MapAt(p.Write.Apply, "spec", "template", "metadata", "annotations")
}

// silent is a VectorSidecar whose output agents are to leave alone.
func silent(name string, port int32) *objects.VectorSidecar {
	return named(name, port).Sidecar(func(s *v1alpha1.SidecarSpec) { s.NodeAgents = "Exclude" })
}

// The application or an older VectorSidecar already has an annotation for node agents. The operator does not replace
// it, whichever was written first.
func TestDecide_KeepsNodeAgentAnnotationsOfOthers(t *testing.T) {
	first, second := made(1, silent("z", 9001)), made(2, silent("a", 9002))
	s := snapshot(t, first, cart())
	p := decideAmong(t, second, s, first, second)
	require.Equal(t, plan.Inject, p.Change, p.Message())
	require.NotContains(t, podAnnotations(p), excluded, "the older one is about to set it")
	require.Equal(t, "true", podAnnotations(p)["fluentbit.io/exclude-vector-a"], "a key of its own")
	enters(s, p)
	require.Equal(t, plan.None, decideAmong(t, second, s, first, second).Change)

	p = decideAmong(t, first, s, first, second)
	require.Equal(t, plan.Inject, p.Change, p.Message())
	require.Equal(t, "vector-z", podAnnotations(p)[excluded])
	enters(s, p)
	require.Equal(t, plan.None, decideAmong(t, first, s, first, second).Change)
	p = decideAmong(t, second, s, first, second)
	require.Equal(t, plan.None, p.Change, p.Message())
	require.Contains(t, p.Warning, `add "vector-a" to the annotation's value in sidecar.podAnnotations of VectorSidecar z`)

	first.Spec.Sidecar.PodAnnotations = map[string]string{excluded: "vector-z,vector-a"}
	change(s, func(view *workload.View) { view.PodTexts = map[string]string{excluded: "vector-z,vector-a"} })
	require.NotContains(t, decideAmong(t, second, s, first, second).Warning, excluded)
}

// With a console sink, the logs are in the sidecar's output, so the sidecar is not excluded from node agents.
func TestDecide_IncludesConsoleOutputInNodeAgents(t *testing.T) {
	sinks := func(sinks ...string) func(*v1alpha1.SidecarSpec) {
		return func(s *v1alpha1.SidecarSpec) {
			on := true
			s.OTLP, s.Sinks = &v1alpha1.OTLPSpec{Enabled: &on}, map[string]apiextensionsv1.JSON{}
			for i, sink := range sinks {
				s.Sinks[fmt.Sprint("out", i)] = apiextensionsv1.JSON{Raw: []byte(sink)}
			}
		}
	}
	const console, store = `{"type": "console"}`, `{"type": "http", "uri": "https://a.example.com"}`
	const whole = `{"sources": {"a": {"type": "internal_logs"}}, "sinks": {"out": {"type": "blackhole", "inputs": ["a"]}}}`
	raw := func(s *v1alpha1.SidecarSpec) {
		s.Config = &v1alpha1.ConfigSpec{Raw: &apiextensionsv1.JSON{Raw: []byte(whole)}}
	}
	mode := func(mode v1alpha1.NodeAgentsMode) func(*v1alpha1.SidecarSpec) {
		return func(s *v1alpha1.SidecarSpec) { s.NodeAgents = mode }
	}
	for name, test := range map[string]struct {
		sidecar  *objects.VectorSidecar
		excludes bool
	}{
		"its metrics alone":        {logs(), false},
		"no sink":                  {logs().Sidecar(sinks()), false},
		"a console":                {logs().Sidecar(sinks(console)), false},
		"a console and a sink":     {logs().Sidecar(sinks(console, store)), false},
		"a sink":                   {logs().Sidecar(sinks(store)), true},
		"a sink, and Collect":      {logs().Sidecar(sinks(store)).Sidecar(mode("Collect")), false},
		"raw":                      {logs().Sidecar(raw), true},
		"text, which nobody reads": {logs().WithInlineConfig(whole), false},
		"a console, and Exclude":   {logs().Sidecar(sinks(console)).Sidecar(mode("Exclude")), true},
	} {
		t.Run(name, func(t *testing.T) {
			p := decide(t, snapshot(t, test.sidecar.Build(), cart())).Plans[0]
			require.Equal(t, plan.Inject, p.Change, p.Message())
			require.Equal(t, test.excludes, podAnnotations(&p)[excluded] != nil)
		})
	}
}

// The container name is too long for an annotation key of a node agent. The annotation is left out, with a warning only
// if nodeAgents is set.
func TestDecide_WarnsOfTooLongNodeAgentAnnotationKey(t *testing.T) {
	const long = "vector-for-the-shop-that-never-closes-and-logs-all-day"
	p := decide(t, snapshot(t, logs().Named(long).Sidecar(func(s *v1alpha1.SidecarSpec) { s.NodeAgents = "Exclude" }).Build(), cart())).Plans[0]
	require.Equal(t, plan.Inject, p.Change, p.Message())
	require.Equal(t, long, podAnnotations(&p)[excluded])
	require.NotContains(t, podAnnotations(&p), "ad.datadoghq.com/"+long+".logs_exclude")
	require.Contains(t, p.Warning, "ad.datadoghq.com/"+long+".logs_exclude, which is too long")
}

// If the policy reserves the domain of an annotation, the annotation is left out, and the sidecar is still injected.
func TestDecide_OmitsNodeAgentAnnotationsByPolicy(t *testing.T) {
	vs := logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.NodeAgents = "Exclude" }).Build()
	s := snapshot(t, vs, cart())
	chart, err := builtin()
	require.NoError(t, err)
	s.Platform = desired.NewPlatform(chart, "the test's values", map[string]string{desired.PolicyKey: "reservedDomains: [datadoghq.com]"})
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.Inject, p.Change, p.Message())
	require.NotContains(t, podAnnotations(&p), "ad.datadoghq.com/vector.logs_exclude")
	require.Contains(t, podAnnotations(&p), excluded)
	require.Contains(t, p.Warning, "does not set the pod annotation ad.datadoghq.com/vector.logs_exclude: the policy reserves the domain datadoghq.com")

	vs.Spec.Sidecar.PodAnnotations = map[string]string{"ad.datadoghq.com/vector.logs_exclude": "true"}
	require.Contains(t, decide(t, s).Plans[0].Message(), "reservedDomains", "what a person writes is refused")
}
