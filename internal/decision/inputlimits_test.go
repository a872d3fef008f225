// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// allocated returns the total bytes that a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// laughs is a "billion laughs" text that expands to a hundred thousand times its size.
func laughs(anchored, aliases int) string {
	return "values: {a: &a " + strings.Repeat("x", anchored) + ", b: [" + strings.Repeat("*a, ", aliases) + "]}"
}

func each(n int, line string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, line, i)
	}
	return text.String()
}

// withValues sets free values as they come from the API server.
func withValues(text string) func(*mistake) {
	return func(m *mistake) {
		m.raw = &apiextensionsv1.JSON{Raw: []byte(text)}
	}
}

// bombs are tenants' texts that each fit into an object.
func bombs() map[string]*mistake {
	policy := "overrides: {namespaces: [values, sidecar], workloads: [values, sidecar]}"
	longKeys := strings.Repeat(`{"`+strings.Repeat("k", 1000)+`": `, 90) + "{" + strings.TrimSuffix(each(500, `"l%d": 1, `), ", ") + "}" + strings.Repeat("}", 90)
	of := func(reason string, names []string, give func(*mistake)) *mistake {
		m := &mistake{reason: reason, names: names}
		give(m)
		return m
	}
	defaults := func(text string) func(*mistake) { return func(m *mistake) { m.defaults = text } }
	annotation := func(text string) func(*mistake) {
		return func(m *mistake) {
			m.workload = func(b *objects.Deployment) *objects.Deployment { return b.Annotated(override("values.x"), text) }
		}
	}
	allowed := func(give func(*mistake)) func(*mistake) {
		return func(m *mistake) {
			give(m)
			m.policy = policy
		}
	}
	inline := func(text string) func(*mistake) {
		return func(m *mistake) {
			m.sidecar = func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithInlineConfig(text) }
		}
	}
	referenced := func(key, text string) func(*mistake) {
		return func(m *mistake) {
			m.sidecar = func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("mine", key) }
			m.config = objects.NewConfigMap("mine", "shop", key, text)
		}
	}
	return map[string]*mistake{
		"defaults where nothing is allowed":         of(meta.ReasonInvalidValues, []string{"a namespace may not set values", "the platform allows none"}, defaults(laughs(20_000, 20_000))),
		"an annotation where nothing is allowed":    of(meta.ReasonInvalidValues, []string{"a workload may not set values.x", "the platform allows none"}, annotation(laughs(20_000, 20_000))),
		"defaults that laugh":                       of(meta.ReasonInvalidValues, []string{"vectorsidecar-defaults values.yaml:1: ", "anchors and aliases"}, allowed(defaults(laughs(20_000, 20_000)))),
		"an annotation that laughs":                 of(meta.ReasonInvalidValues, []string{override("values.x"), "anchors and aliases"}, allowed(annotation(laughs(20_000, 20_000)))),
		"defaults of many values":                   of(meta.ReasonInvalidValues, []string{"values.yaml:1: more values"}, allowed(defaults("values: ["+strings.Repeat("a,", 149_000)+"]"))),
		"defaults that go deep":                     of(meta.ReasonInvalidValues, []string{"nested deeper"}, allowed(defaults("values: "+strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000)))),
		"values with long keys":                     of(meta.ReasonInvalidValues, []string{"VectorSidecar shop/logs spec: ", "the keys of the path", "(4096)"}, withValues(longKeys)),
		"values that go deep":                       of(meta.ReasonInvalidValues, []string{"VectorSidecar shop/logs spec: nested deeper"}, withValues(strings.Repeat(`{"a": `, 8000)+"1"+strings.Repeat("}", 8000))),
		"many values":                               of(meta.ReasonTooLarge, []string{"VectorSidecar shop/logs has more than 30000 values"}, withValues("["+strings.Repeat("1,", 170_000)+"1]")),
		"a configuration that laughs":               of(meta.ReasonInvalidTemplate, []string{"with aliases replaced", "sidecar.config.inline is set by VectorSidecar shop/logs spec"}, inline("x: &a "+strings.Repeat("x", 100_000)+"\ny: ["+strings.Repeat("*a,", 10_000)+"]\n"+objects.VectorConfig("x"))),
		"a configuration of many values":            of(meta.ReasonInvalidTemplate, []string{"more values", "sidecar.config.inline is set by VectorSidecar shop/logs spec"}, inline("x: ["+strings.Repeat("a,", 250_000)+"]\n"+objects.VectorConfig("x"))),
		"a referenced header of many parts":         of(meta.ReasonInvalidConfig, []string{"VSC105", "nested deeper"}, referenced("vector.toml", "["+strings.Repeat("a.", 250_000)+"a]\n")),
		"a referenced configuration of long keys":   of(meta.ReasonInvalidConfig, []string{"VSC105", "a key of 200000 bytes"}, referenced("vector.yaml", "? "+strings.Repeat("k", 200_000)+"\n:\n"+each(25_000, "  a%d: b\n"))),
		"a referenced configuration of many tables": of(meta.ReasonInvalidConfig, []string{"VSC105", "more values"}, referenced("vector.toml", each(30_000, "[a%d]\nb=1\n"))),
		"a referenced configuration in JSON":        of(meta.ReasonInvalidConfig, []string{"VSC105", "nested deeper"}, referenced("vector.json", strings.Repeat(`{"a":`, 90_000))),
	}
}

// world is the snapshot, with other texts of tenants.
func (m *mistake) world(t *testing.T) *Snapshot {
	t.Helper()
	s := m.snapshot(t)
	if m.raw != nil {
		s.Sidecar.Spec.Values = m.raw
	}
	there := objects.ConfigMapSet{}
	if m.defaults != "" {
		there[inShop(meta.NamespaceDefaults)] = objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, m.defaults)
	}
	if m.config != nil {
		there[inShop(m.config.Name)] = m.config
	}
	s.ConfigMaps = there
	s.Budget = bounded.NewBudget()
	return s
}

// For any input of a tenant, a reconcile needs far less memory than the operator's limit, and the status reports the
// error.
func TestDecide_BoundsMemoryForTenantInput(t *testing.T) {
	for name, bomb := range bombs() {
		t.Run(name, func(t *testing.T) {
			s := bomb.world(t)
			var decided *decision.Decision
			used := allocated(func() { decided = decide(t, s) })
			reason, message := "", ""
			switch {
			case decided.Invalid != nil:
				reason, message = decided.Invalid.Reason, decided.Invalid.Message
			case len(decided.Plans) > 0:
				reason, message = decided.Plans[0].Reason(), decided.Plans[0].Message()
			}
			require.Equal(t, bomb.reason, reason, "%.300s", message)
			for _, part := range bomb.names {
				require.Contains(t, message, part)
			}
			require.Less(t, len(message), 1000, "one clear error")
			t.Logf("%.1f MiB: %s", float64(used)/(1<<20), message)
			require.LessOrEqual(t, used, uint64(64<<20))
		})
	}
}

// For text of the largest accepted size, a reconcile stays within the documented memory.
func TestDecide_BoundsMemoryForLargestValidInput(t *testing.T) {
	text := objects.VectorConfig("x") + "tests:\n" + each(2_000, "- {name: t%d, inputs: [], outputs: []}\n")
	policy := "overrides: {namespaces: [values, sidecar], workloads: [values, sidecar]}"
	for name, m := range map[string]*mistake{
		"an inline configuration": {sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithInlineConfig(text) }},
		"a referenced one":        {sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("mine", "vector.yaml") }, config: objects.NewConfigMap("mine", "shop", "vector.yaml", text)},
		"free values":             {raw: &apiextensionsv1.JSON{Raw: []byte("{" + strings.TrimSuffix(each(12_000, `"k%d": "v", `), ", ") + "}")}},
		"defaults":                {policy: policy, defaults: "values:\n" + each(12_000, "  k%d: v\n")},
		"an annotation": {policy: policy, workload: func(b *objects.Deployment) *objects.Deployment {
			return b.Annotated(override("values.x"), each(12_000, "k%d: v\n"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := m.world(t)
			var decided *decision.Decision
			used := allocated(func() { decided = decide(t, s) })
			require.Nil(t, decided.Invalid)
			t.Logf("%.1f MiB", float64(used)/(1<<20))
			require.LessOrEqual(t, used, uint64(128<<20), "in all, of which a part is there at a time")
		})
	}
}
