// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// group is a group of alerts.
type group struct {
	Name  string `json:"name"`
	Rules []struct {
		Alert       string            `json:"alert"`
		Expr        string            `json:"expr"`
		Annotations map[string]string `json:"annotations"`
	} `json:"rules"`
}

// ruleFile returns a rule file as Prometheus reads it, and the groups in it.
func ruleFile(t *testing.T) (text []byte, groups []group) {
	t.Helper()
	rendered := render(t, load(t), needed(t, "monitoring."), monitoringKinds...)
	var rule struct {
		Spec json.RawMessage `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(rendered["vector-sidecar-operator/templates/prometheusrule.yaml"]), &rule))
	var spec struct {
		Groups []group `json:"groups"`
	}
	require.NoError(t, json.Unmarshal(rule.Spec, &spec))
	require.Len(t, spec.Groups, 2)
	return rule.Spec, spec.Groups // JSON is YAML, too.
}

// Each case in testdata/alerts.yaml has metrics over time, and the alerts that fire with them, with their times and
// texts.
func TestChart_FiresExpectedAlerts(t *testing.T) {
	rules, groups := ruleFile(t)
	tests, err := os.ReadFile("testdata/alerts.yaml")
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rules.yaml"), rules, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "alerts.yaml"), tests, 0o600))
	promtool(t, folder, "check", "rules", "--lint-fatal", "rules.yaml")
	promtool(t, folder, "test", "rules", "alerts.yaml")
	for _, g := range groups {
		for _, rule := range g.Rules {
			require.Contains(t, string(tests), `alertname="`+rule.Alert+`"`, "no test has it fire")
		}
	}
}

// promtool runs in a folder and must succeed.
func promtool(t *testing.T, folder string, args ...string) {
	t.Helper()
	program, err := plane.Bin("promtool")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestChart_HasRunbookForEveryAlert(t *testing.T) {
	_, groups := ruleFile(t)
	var alerts []string
	for _, g := range groups {
		for _, rule := range g.Rules {
			alerts = append(alerts, rule.Alert)
			require.True(t, strings.HasSuffix(rule.Annotations["runbook_url"], "/docs/runbooks/"+rule.Alert+".md"))
			page, err := os.ReadFile(root + "/docs/runbooks/" + rule.Alert + ".md")
			require.NoError(t, err)
			for _, part := range []string{"# " + rule.Alert, "## Meaning", "## Impact", "## Diagnosis", "## Mitigation"} {
				require.Contains(t, string(page), part+"\n", rule.Alert)
			}
		}
	}
	pages, err := filepath.Glob(root + "/docs/runbooks/VectorSidecar*.md")
	require.NoError(t, err)
	var names []string
	for _, page := range pages {
		names = append(names, strings.TrimSuffix(filepath.Base(page), ".md"))
	}
	require.ElementsMatch(t, names, alerts, "a runbook for each alert and no other")
}

// vectorMetrics are the metrics of Vector that the chart queries, with their labels. The tests run no Vector; these
// are from its documentation of 0.57.
var vectorMetrics = map[string][]string{
	"vector_build_info":                       {"version"},
	"vector_component_sent_events_total":      {"component_id", "component_kind"},
	"vector_component_discarded_events_total": {"component_id", "intentional"},
	"vector_component_errors_total":           {"component_id"},
	"vector_utilization":                      {"component_id"},
	"vector_buffer_size_events":               {"component_id"},
}

var (
	// selector is a metric and its matchers in a query.
	selector = regexp.MustCompile(`\b([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping = regexp.MustCompile(`\b(?:by|without)\s*\(([^)]*)\)`)
	word     = regexp.MustCompile(`\bvector(?:sidecar)?_[a-z_]+`)
)

// A running operator or Vector exports each metric and label that an alert or dashboard queries.
func TestChart_QueriesOnlyExportedMetrics(t *testing.T) {
	i := installed(t, chartDir, "--set", "monitoring.enabled=true")
	injected(t)
	harness.Eventually(t, "helm test to read metrics", func() bool { return i.scrape(t) != nil })
	exported := i.scrape(t)
	for name, labels := range vectorMetrics {
		exported[name] = labels
	}
	for where, query := range queries(t) {
		found := selector.FindAllStringSubmatch(query, -1)
		require.NotEmpty(t, found, "%s: %s", where, query)
		require.Len(t, word.FindAllString(query, -1), len(ours(found)), "%s: a metric without matchers in %s", where, query)
		used := map[string]bool{}
		for _, metric := range found {
			labels, ok := exported[strings.TrimSuffix(metric[1], "_bucket")]
			require.True(t, ok, "%s: nobody exports %s", where, metric[1])
			for _, match := range matcher.FindAllStringSubmatch(metric[2], -1) {
				require.Contains(t, append(labels, target...), match[1], "%s: %s", where, metric[0])
			}
			for _, label := range append(labels, target...) {
				used[label] = true
			}
		}
		for _, labels := range grouping.FindAllStringSubmatch(query, -1) {
			for label := range strings.SplitSeq(labels[1], ",") {
				require.True(t, used[strings.TrimSpace(label)], "%s: no metric has %s in %s", where, label, query)
			}
		}
	}
}

// target lists the labels that Prometheus adds to all scraped metrics, the label that distinguishes Prometheus servers
// in a common store, and the label of histograms.
var target = []string{"job", "namespace", "pod", "cluster", "le"}

func ours(found [][]string) []string {
	var names []string
	for _, metric := range found {
		if strings.HasPrefix(metric[1], "vector") {
			names = append(names, metric[1])
		}
	}
	return names
}

// queries returns all queries of the chart by their location.
func queries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	_, groups := ruleFile(t)
	for _, g := range groups {
		for _, rule := range g.Rules {
			all["alert "+rule.Alert] = rule.Expr
		}
	}
	for name, d := range dashboards(t, nil) {
		for _, panel := range d.Panels {
			for i, target := range panel.Targets {
				all[name+", "+panel.Title+" "+string(rune('A'+i))] = target.Expr
			}
		}
	}
	return all
}

// scrape returns the metrics that the operator serves, each with its labels; nil if it does not respond. Declared
// metrics without a value yet are added, because package metrics tests that they are exported.
func (i *installation) scrape(t *testing.T) map[string][]string {
	t.Helper()
	var account corev1.ServiceAccount
	account.Namespace, account.Name = namespace, "prometheus"
	require.NoError(t, client.IgnoreAlreadyExists(cluster.Create(t.Context(), &account)))
	_, _, _ = tryKubectl(t, "create", "clusterrolebinding", "test-prometheus", "--clusterrole="+namespace+":"+fullname+":metrics-reader", "--serviceaccount="+namespace+":prometheus")
	t.Cleanup(func() { _, _, _ = tryKubectl(t, "delete", "clusterrolebinding", "test-prometheus") })
	text, err := i.pods.Scrape(t.Context(), "prometheus")
	if err != nil {
		return nil
	}
	exported := map[string][]string{}
	for _, definition := range telemetry.MetricDefinitions() {
		for _, label := range definition.Labels {
			exported[definition.Name] = append(exported[definition.Name], label.Name)
		}
		if len(definition.Labels) == 0 {
			exported[definition.Name] = nil
		}
	}
	seen := 0
	for line := range strings.SplitSeq(text, "\n") {
		sample := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? [^ ]+$`).FindStringSubmatch(line)
		if sample == nil {
			continue
		}
		seen++
		labels := map[string]bool{}
		for _, label := range matcher.FindAllStringSubmatch(sample[2], -1) {
			labels[label[1]] = true
		}
		for _, label := range exported[sample[1]] {
			labels[label] = true
		}
		exported[sample[1]] = slices.Collect(maps.Keys(labels))
	}
	require.Greater(t, seen, 100, "these are no metrics of an operator")
	return exported
}
