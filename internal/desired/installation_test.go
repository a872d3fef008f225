// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// A values file is for the environment that it names, or else for the global one, as in the chart.
func TestReadInstallationValues_SelectsEnvironment(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                          "development",
		"environment: qa":             "qa",
		"environment: ''":             "development",
		"global: {environment: qa}":   "qa",
		"global: {environment: ''}":   "development",
		"global: {environment: [qa]}": "development",
		"{global: {environment: qa}, environment: staging}": "staging",
	} {
		values, err := ReadInstallationValues(t.Context(), vectorsidecar.FS, "mine.yaml", []byte(text), "development")
		require.NoError(t, err, text)
		require.Equal(t, want, values.Environment, text)
	}
}

// Each case has proposed values, and the resulting template sets: the files in the values replace those of the
// installation, and null removes one.
func TestTemplateSets_MergeFilesOfValuesAndInstallation(t *testing.T) {
	own, team := map[string]string{"a.tpl": "A", "b.tpl": "B"}, map[string]string{"c.tpl": "C"}
	for name, test := range map[string]struct {
		values string
		want   map[string]map[string]string
	}{
		"none":                {"sidecar: {}", map[string]map[string]string{"templates-default": own, "team": team}},
		"a file of one":       {"templates: {default: {a.tpl: X}}", map[string]map[string]string{"templates-default": {"a.tpl": "X", "b.tpl": "B"}, "team": team}},
		"a file less":         {"templates: {default: {a.tpl: null}}", map[string]map[string]string{"templates-default": {"b.tpl": "B"}, "team": team}},
		"a new one":           {"templates: {new: {a.tpl: X}}", map[string]map[string]string{"templates-default": own, "templates-new": {"a.tpl": "X"}, "team": team}},
		"one less":            {"templates: {default: null}", map[string]map[string]string{"team": team}},
		"none any more":       {"templates: null", map[string]map[string]string{"team": team}},
		"one that others own": {"templates: {team: {c.tpl: X}}", map[string]map[string]string{"templates-default": own, "templates-team": {"c.tpl": "X"}, "team": team}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.give("default", own)
			s.giveAs("team", "team", team, nil)
			values, err := ReadInstallationValues(t.Context(), vectorsidecar.FS, "mine.yaml", []byte(test.values), "development")
			require.NoError(t, err)

			found := map[string]map[string]string{}
			for _, object := range values.TemplateSets(client.ObjectKeyFromObject(s.installation), []corev1.ConfigMap{s.sets["templates-default"], s.sets["team"]}) {
				require.Equal(t, "vector-system", object.Namespace)
				found[object.Name] = object.Data
			}
			require.Equal(t, test.want, found)
		})
	}
}

// If the chart is a dependency, it shares the global values with other charts. The operator stores only the keys that
// it uses, because others may be passwords.
func TestReadInstallationValues_KeepsKnownGlobalsOnly(t *testing.T) {
	for name, test := range map[string]struct{ values, want string }{
		"no schema names it":     {"global: {storageClass: fast, database: {password: secret}}", "{}"},
		"the built-in set":       {"global: {ipFamily: IPv4, aggregator: {address: 'a:1', token: secret}}", "global: {aggregator: {address: 'a:1'}, ipFamily: IPv4}"},
		"null removes a default": {"global: {aggregator: null}", "global: {aggregator: null}"},
		"values.yaml of a set":   {"global: {team: shop, token: secret}\ntemplates: {default: {values.yaml: 'global: {team: \"\"}'}}", "global: {team: shop}"},
		"values of an environment of a set": {
			"global: {team: shop, token: secret}\ntemplates: {gateway: {values__production.yaml: 'global: {team: \"\"}'}}", "global: {team: shop}",
		},
		"the schema of a set": {
			`global: {team: shop, token: secret}
templates: {default: {values.schema.json: '{"properties": {"global": {"properties": {"team": {}}, "additionalProperties": {"type": "string"}}}}'}}`, "global: {team: shop}",
		},
		"a pattern of a schema": {
			`global: {x-team: shop, token: secret}
templates: {default: {values.schema.json: '{"properties": {"global": {"patternProperties": {"^x-": true}}}}'}}`, "global: {x-team: shop}",
		},
		"keys below a key": {
			`global: {team: {name: shop, token: secret}, database: {auth: {password: secret}}}
templates: {default: {values.yaml: 'global: {team: {name: ""}, database: {host: ""}}'}}`, "global: {team: {name: shop}}",
		},
		"an open map": {
			`global: {labels: {a: b}, extra: {c: d}}
templates: {default: {values.yaml: 'global: {labels: {}}', values.schema.json: '{"properties": {"global": {"properties": {"extra": {"additionalProperties": true, "properties": {"e": {}}}}}}}'}}`,
			"global: {labels: {a: b}, extra: {c: d}}",
		},
		"a file that is not an object":   {"global: {team: shop}\ntemplates: {default: {values.yaml: '- global', values.schema.json: '[]'}, gateway: null}", "{}"},
		"extraGlobals":                   {"global: {team: {name: shop, token: secret}, region: eu}\nextraGlobals: [team.name, region]", "global: {team: {name: shop}, region: eu}"},
		"keys of the installation chart": {"global: {imageRegistry: a.example, imagePullSecrets: [b]}", "global: {imageRegistry: a.example}"},
	} {
		t.Run(name, func(t *testing.T) {
			other := "environments: {qa: {" + strings.Split(test.values, "\n")[0] + "}}"
			_, rest, _ := strings.Cut(test.values, "\n")
			for file, text := range map[string]string{"development.yaml": test.values, "qa.yaml": other + "\n" + rest} {
				values, err := ReadInstallationValues(t.Context(), vectorsidecar.FS, "mine.yaml", []byte(text), "development")
				require.NoError(t, err)
				require.YAMLEq(t, test.want, values.Files()[file], file)
			}
		})
	}
}

// The proposed values may stop writes. If writes were already stopped by rollout pause, they stay stopped in the
// preview.
func TestInstallationValues_KeepStopByPause(t *testing.T) {
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		values    string
		installed WriteStop
		want      WriteStop
	}{
		"no stop":              {"{}", NotStopped, NotStopped},
		"stopped by values":    {"writes: Stopped", NotStopped, StoppedByValues},
		"enabled by values":    {"writes: Enabled", StoppedByValues, NotStopped},
		"default of the chart": {"{}", StoppedByValues, NotStopped},
		"paused":               {"writes: Enabled", StoppedByAnnotation, StoppedByAnnotation},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := ReadInstallationValues(t.Context(), vectorsidecar.FS, "values.yaml", []byte(test.values), "development")
			require.NoError(t, err)
			platform := NewPlatform(chart, "", nil)
			platform.Stop = test.installed
			require.Equal(t, test.want, values.MergeInto(platform).Stop)
		})
	}
}
