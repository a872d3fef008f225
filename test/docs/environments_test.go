// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
)

// The table of environments has the values of the files in values/.
func TestDocs_ListValuesOfEnvironments(t *testing.T) {
	environments := read(t, "docs/how-to/sidecar/environments.md")
	header, rows := []string(nil), map[string][]string{}
	for line := range strings.SplitSeq(environments.prose, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---"):
		case header == nil:
			header = cells[1:]
		default:
			rows[cells[0]] = cells[1:]
		}
	}
	require.ElementsMatch(t, header, environmentNames(t))
	for i, name := range header {
		values := valuesOf(t, name)
		at := func(path string) any {
			value, err := values.PathValue(path)
			require.NoError(t, err, path)
			return value
		}
		require.Equal(t, fmt.Sprintf("%v, %v", at("sidecar.resources.requests.cpu"), at("sidecar.resources.requests.memory")), rows["requests of the sidecar"][i], name)
		limits := fmt.Sprint(at("sidecar.resources.limits.memory"))
		if cpu, err := values.PathValue("sidecar.resources.limits.cpu"); err == nil {
			limits = fmt.Sprintf("%v CPU, %s", cpu, limits)
		}
		require.Equal(t, limits, rows["limits"][i], name)
		require.Equal(t, at("sidecar.logLevel"), rows["`VECTOR_LOG`"][i], name)
		threads := fmt.Sprint(at("sidecar.threads"))
		if threads == "0" {
			threads = "Vector's default"
		}
		require.Equal(t, threads, rows["`VECTOR_THREADS`"][i], name)
		require.Equal(t, yesNo(at("global.aggregator.acknowledgements")), rows["acknowledgements of an aggregator"][i], name)
		replicas, _, _ := strings.Cut(rows["replicas of the operator"][i], ",")
		require.Equal(t, fmt.Sprint(at("replicas")), replicas, name)
		for _, key := range []string{"podDisruptionBudget.enabled", "networkPolicy.enabled", "monitoring.enabled"} {
			require.Equal(t, yesNo(at(key)), rows["disruption budget, network policy, monitoring"][i], "%s: %s", name, key)
		}
	}
}

func yesNo(value any) string {
	if isOn, _ := value.(bool); isOn {
		return "yes"
	}
	return "no"
}

// environmentNames returns the names of the values files.
func environmentNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(root + "/values/*.yaml")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return names
}

// valuesOf returns the values of an environment merged with the defaults of both charts.
func valuesOf(t *testing.T, environment string) chartutil.Values {
	t.Helper()
	merged := map[string]any{}
	for _, file := range []string{"values/" + environment + ".yaml", "values.yaml", "chart/values.yaml"} {
		values, err := chartutil.ReadValuesFile(filepath.Join(root, file))
		require.NoError(t, err)
		merged = chartutil.CoalesceTables(merged, values)
	}
	return merged
}

// The README names the same required versions as go.mod and the chart.
func TestDocs_NameRequiredVersionsInReadme(t *testing.T) {
	readme := read(t, "README.md")
	for product, in := range map[string]struct{ file, line string }{
		"Go":         {"go.mod", "\ngo 1.%s.0\n"},
		"Kubernetes": {"chart/Chart.yaml", "\nkubeVersion: \">=1.%s.0-0\"\n"},
	} {
		text, err := os.ReadFile(filepath.Join(root, in.file))
		require.NoError(t, err)
		_, rest, found := strings.Cut(readme.prose, product+" 1.")
		require.True(t, found, product)
		minor, _, _ := strings.Cut(rest, " ")
		require.Contains(t, string(text), fmt.Sprintf(in.line, minor), "the README says %s 1.%s", product, minor)
	}
}
