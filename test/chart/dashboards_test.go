// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// dashboard is what the tests read of a Grafana dashboard.
type dashboard struct {
	UID         string  `json:"uid"`
	Title       string  `json:"title"`
	Panels      []panel `json:"panels"`
	Annotations struct {
		List []struct{ Expr string } `json:"list"`
	} `json:"annotations"`
	Templating struct {
		List []struct{ Name string } `json:"list"`
	} `json:"templating"`

	file string
	text string
}

type panel struct {
	ID          int                      `json:"id"`
	Type        string                   `json:"type"`
	Title       string                   `json:"title"`
	GridPos     struct{ X, Y, W, H int } `json:"gridPos"`
	Targets     []struct{ Expr string }  `json:"targets"`
	Links       []struct{ URL string }   `json:"links"`
	FieldConfig struct {
		Defaults struct {
			Thresholds struct {
				Steps []struct{ Value *float64 } `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// dashboards returns the dashboards of a release with additional values, by the last word of their ConfigMap's name.
func dashboards(t *testing.T, values map[string]any) map[string]dashboard {
	t.Helper()
	all := needed(t, "monitoring.")
	for key, value := range values {
		all[key] = value
	}
	found := map[string]dashboard{}
	rendered := render(t, load(t), all, monitoringKinds...)["vector-sidecar-operator/templates/dashboards.yaml"]
	for _, document := range strings.Split("\n"+rendered, "\n---\n")[1:] {
		var configMap corev1.ConfigMap
		require.NoError(t, yaml.Unmarshal([]byte(document), &configMap))
		require.Len(t, configMap.Data, 1)
		for file, text := range configMap.Data {
			d := dashboard{file: file, text: text}
			require.NoError(t, json.Unmarshal([]byte(text), &d))
			found[configMap.Name[strings.LastIndex(configMap.Name, "-")+1:]] = d
		}
	}
	require.Len(t, found, 2)
	return found
}

// Each panel of a dashboard is below the heading of its row, and does not overlap another panel.
func TestChart_KeepsDashboardPanelsInRows(t *testing.T) {
	for name, d := range dashboards(t, nil) {
		require.Equal(t, "row", d.Panels[0].Type, name)
		ids, cells := map[int]bool{}, map[[2]int]string{}
		rowY := -1
		for i, p := range d.Panels {
			require.False(t, ids[p.ID], "%s: two panels have the id %d", name, p.ID)
			ids[p.ID] = true
			if p.Type == "row" {
				require.True(t, i+1 < len(d.Panels) && d.Panels[i+1].Type != "row", "%s: the row %s is empty", name, p.Title)
				rowY = p.GridPos.Y
			} else {
				require.Greater(t, p.GridPos.Y, rowY, "%s: %s is above its row", name, p.Title)
				require.NotEmpty(t, p.Targets, "%s: %s", name, p.Title)
			}
			require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "%s: %s", name, p.Title)
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					require.Empty(t, cells[cell], "%s: %s overlaps", name, p.Title)
					cells[cell] = p.Title
				}
			}
		}
	}
}

// threshold is the number with which an alert compares at its end.
var threshold = regexp.MustCompile(`[<>] ([0-9.]+)$`)

// For each alert, a panel shows its limit and links to its runbook.
func TestChart_ShowsEveryAlertOnDashboard(t *testing.T) {
	all := dashboards(t, nil)
	_, groups := ruleFile(t)
	urls := map[string]bool{}
	for i, name := range []string{"operator", "sidecars"} {
		for _, rule := range groups[i].Rules {
			url := rule.Annotations["runbook_url"]
			urls[url] = true
			panels := panelsWithLink(all[name], url)
			require.NotEmpty(t, panels, "%s: no panel links the runbook of %s", name, rule.Alert)
			limit := threshold.FindStringSubmatch(rule.Expr)
			if len(limit) == 0 || limit[1] == "0" {
				continue
			}
			value, err := strconv.ParseFloat(limit[1], 64)
			require.NoError(t, err)
			for _, p := range panels {
				var values []float64
				for _, step := range p.FieldConfig.Defaults.Thresholds.Steps {
					if step.Value != nil {
						values = append(values, *step.Value)
					}
				}
				require.Contains(t, values, value, "%s: %s has another threshold than %s", name, p.Title, rule.Alert)
			}
		}
	}
	for name, d := range all {
		for _, p := range d.Panels {
			for _, link := range p.Links {
				require.True(t, urls[link.URL], "%s: %s links %s", name, p.Title, link.URL)
			}
		}
	}
}

// panelsWithLink returns the panels of a dashboard that link a URL.
func panelsWithLink(d dashboard, url string) []panel {
	var found []panel
	for _, p := range d.Panels {
		for _, link := range p.Links {
			if link.URL == url {
				found = append(found, p)
			}
		}
	}
	return found
}

// The dashboards of two releases have different file names and different identifiers, so both are in Grafana.
func TestChart_NamesDashboardsPerRelease(t *testing.T) {
	ids := map[string]bool{}
	for _, fullname := range []string{"one", "two"} {
		for name, d := range dashboards(t, map[string]any{"fullnameOverride": fullname}) {
			require.NotContains(t, d.text, "@", name)
			require.LessOrEqual(t, len(d.UID), 40, "the longest uid that Grafana accepts")
			for _, id := range []string{d.UID, d.Title, d.file} {
				require.False(t, ids[id], "%s: two dashboards have %s", name, id)
				ids[id] = true
			}
		}
	}
}

// Each query of a dashboard is valid PromQL, and selects the release and the chosen clusters, namespaces and pods.
func TestChart_FiltersDashboardQueriesByVariables(t *testing.T) {
	selections := map[string]string{
		"operator": `{job="$job", cluster=~"$cluster"`,
		"sidecars": `{job="$job", cluster=~"$cluster", namespace=~"$namespace", pod=~"$pod"`,
	}
	var rules []map[string]string
	for name, d := range dashboards(t, nil) {
		for _, variable := range d.Templating.List {
			require.True(t, variable.Name == "datasource" || strings.Contains(selections[name], "$"+variable.Name), variable.Name)
		}
		require.Len(t, d.Annotations.List, 1)
		expressions := []string{d.Annotations.List[0].Expr}
		require.Contains(t, expressions[0], "ALERTS"+selections[name])
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				require.Equal(t, strings.Count(target.Expr, "{"), strings.Count(target.Expr, selections[name]), "%s: %s: %s", name, p.Title, target.Expr)
				expressions = append(expressions, target.Expr)
			}
		}
		for i, expr := range expressions {
			expr = strings.ReplaceAll(expr, "$__rate_interval", "5m")
			rules = append(rules, map[string]string{"record": fmt.Sprintf("%s:%d", name, i), "expr": expr})
		}
	}
	file, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboards", "rules": rules}}})
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rules.yaml"), file, 0o600))
	promtool(t, folder, "check", "rules", "rules.yaml")
}
