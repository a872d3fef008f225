// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// A template set has an earlier version of the contract between template sets and the operator. The error lists the
// changes since that version.
func TestCheckContract_ListsChangesSinceVersion(t *testing.T) {
	history := []contract{{version: "v1"}, {version: "v2", changes: []string{"a is b"}}, {version: "v3", changes: []string{"c is d", "e is f"}}}
	for version, want := range map[string]string{
		"v3": "", "v2": "contract v2, and this release of the operator has v3; adapt the set, and set the annotation to v3; changes: c is d; e is f",
		"v1": "changes: a is b; c is d; e is f", "": "contract v1", "v4": `contract "v4", which this release of the operator does not support; supported: v3`,
	} {
		err := checkContract(history, version)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, meta.AnnotationContract)
	}
}

// A template set in a ConfigMap is rejected if its Chart.yaml names a version of the contract that the operator does
// not support.
func TestWithConfigMap_ChecksContract(t *testing.T) {
	builtin, err := ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	card := func(version string) string {
		return "annotations: {" + meta.AnnotationContract + ": " + version + "}\n"
	}
	for name, test := range map[string]struct {
		card     string
		rejected bool
	}{
		"no Chart.yaml":                    {},
		"the operator's contract":          {card: card("v1")},
		"another contract":                 {card: card("v9"), rejected: true},
		"a whole chart, without one":       {card: "apiVersion: v2\nname: own\nversion: 1.0.0\n"},
		"a whole chart, with the same one": {card: "apiVersion: v2\nname: own\nversion: 1.0.0\n" + card("v1")},
		"a whole chart, with another one":  {card: "apiVersion: v2\nname: own\nversion: 1.0.0\n" + card("v9"), rejected: true},
	} {
		t.Run(name, func(t *testing.T) {
			text := map[string]string{"_team.tpl": `{{- define "team" }}a{{ end }}`}
			if test.card != "" {
				text[chartFile] = test.card
				text["values.yaml"], text["values.schema.json"] = "{}", `{"type": "object"}`
			}
			files, err := builtin.WithConfigMap(text, nil)
			if err == nil {
				_, err = files.Load()
			}
			if test.rejected {
				require.ErrorContains(t, err, `contract "v9"`)
				return
			}
			require.NoError(t, err)
		})
	}
}
