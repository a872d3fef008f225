// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

func TestTemplateSetsOfValuesAreLaidOverThoseOfTheInstallation(t *testing.T) {
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
