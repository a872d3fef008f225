// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// marker stands for a secret in a values file.
const marker = "not-a-real-secret"

// openKeys has, for every key of the chart with free keys below it, values with the marker, and the
// kinds of the objects that may contain it. An umbrella chart shares global with other charts; all other
// keys belong to this chart alone.
var openKeys = map[string]struct {
	values string
	kinds  []string
}{
	"global":       {values: `{marker: MARKER, database: {auth: {password: MARKER}}, imageRegistry: a.example, ipFamily: IPv4}`},
	"environments": {values: `{qa: {global: {marker: MARKER}, values: {marker: MARKER}}}`, kinds: []string{"ConfigMap"}},
	"sidecar":      {values: `{sinks: {out: {type: http, auth: {password: MARKER}}}}`, kinds: []string{"ConfigMap"}},
	"values":       {values: `{marker: MARKER}`, kinds: []string{"ConfigMap"}},
	"templates":    {values: `{default: {NOTES.txt: MARKER}}`, kinds: []string{"ConfigMap"}},

	"admissionWebhook.certificate.issuerRef": {values: `{name: ca, group: MARKER}`, kinds: []string{"Certificate"}},
	"affinity":                               {values: `{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: MARKER, operator: Exists}]}]}}}`, kinds: []string{"Deployment"}},
	"commonAnnotations":                      {values: `{example.com/a: MARKER}`, kinds: everyKind},
	"commonLabels":                           {values: `{a: MARKER}`, kinds: everyKind},
	"crds.annotations":                       {values: `{example.com/a: MARKER}`, kinds: []string{crdKind}},
	"deploymentAnnotations":                  {values: `{example.com/a: MARKER}`, kinds: []string{"Deployment"}},
	"dnsConfig":                              {values: `{searches: [MARKER]}`, kinds: pods},
	"strategy":                               {values: `{rollingUpdate: {maxSurge: MARKER}}`, kinds: []string{"Deployment"}},
	"metrics.certificate.issuerRef":          {values: `{name: ca, group: MARKER}`, kinds: []string{"Certificate"}},
	"monitoring.dashboards.annotations":      {values: `{example.com/a: MARKER}`, kinds: []string{"ConfigMap"}},
	"monitoring.dashboards.labels":           {values: `{a: MARKER}`, kinds: []string{"ConfigMap"}},
	"monitoring.labels":                      {values: `{a: MARKER}`, kinds: []string{"PodMonitor", "PrometheusRule", "ServiceMonitor"}},
	"monitoring.operator.credentials":        {values: `{name: MARKER, key: token}`, kinds: []string{"ServiceMonitor"}},
	"monitoring.rules.alertLabels":           {values: `{a: MARKER}`, kinds: []string{"PrometheusRule"}},
	"vectorSidecars.items":                   {values: `{shop/logs: {environment: MARKER}}`, kinds: []string{"ConfigMap"}},
	"vectorSidecars.clusterItems":            {values: `{logs: {environment: MARKER}}`, kinds: []string{"ConfigMap"}},
	"nodeSelector":                           {values: `{a: MARKER}`, kinds: pods},
	"podAnnotations":                         {values: `{example.com/a: MARKER}`, kinds: pods},
	"podLabels":                              {values: `{a: MARKER}`, kinds: pods},
	"podSecurityContext":                     {values: `{seLinuxOptions: {level: MARKER}}`, kinds: pods},
	"resources":                              {values: `{claims: [{name: MARKER}]}`, kinds: pods},
	"securityContext":                        {values: `{seLinuxOptions: {level: MARKER}}`, kinds: pods},
	"serviceAccount.annotations":             {values: `{example.com/a: MARKER}`, kinds: []string{"ServiceAccount"}},
	"tracing.resourceAttributes":             {values: `{a: MARKER}`, kinds: []string{"Deployment"}},
}

// everyKind and pods are the kinds of all objects of the release, and of those with pods.
var (
	everyKind = []string{"*"}
	pods      = []string{"Deployment", "Job", "Pod"}
)

// Values without a fixed schema, such as labels, may have any keys. They are rendered unchanged.
func TestChart_RendersKeysOfFreeFormValues(t *testing.T) {
	chart := load(t)
	for path := range leaves(t, chart) {
		if isOpen(chart, path) {
			require.Contains(t, openKeys, path, "a key with free keys")
		}
	}
	for path, key := range openKeys {
		t.Run(path, func(t *testing.T) {
			text := strings.ReplaceAll(key.values, "MARKER", marker)
			files := render(t, chart, chartutil.MergeTables(set(t, path, text), needed(t, path)), monitoringKinds...)
			require.NotContains(t, files[notes], marker)
			kinds := map[string]bool{}
			for _, object := range objects(t, join(files)) {
				if isMarked(t, object) {
					kinds[object.GetKind()] = true
				}
			}
			if slices.Equal(key.kinds, everyKind) {
				require.Greater(t, len(kinds), 5)
				return
			}
			require.Equal(t, key.kinds, slices.Sorted(maps.Keys(kinds)))
		})
	}
}

// isOpen reports whether the default of a key is a map.
func isOpen(chart *helmchart.Chart, path string) bool {
	value, err := chartutil.Values(chart.Values).PathValue(path)
	if err != nil {
		_, err = chartutil.Values(chart.Values).Table(path)
		return err == nil
	}
	_, isMap := value.(map[string]any)
	return isMap
}

func isMarked(t *testing.T, object *unstructured.Unstructured) bool {
	t.Helper()
	text, err := object.MarshalJSON()
	require.NoError(t, err)
	return bytes.Contains(text, []byte(marker))
}
