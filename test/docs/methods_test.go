// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Masterminds/semver/v3"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// The guide lists exactly the Go methods that a template of a template set can call.
func TestDocs_ListEveryMethodForTemplates(t *testing.T) {
	types := map[string]reflect.Type{
		".Files":                    reflect.TypeFor[*gotemplate.Files](),
		".Capabilities":             reflect.TypeFor[*chartutil.Capabilities](),
		".Capabilities.APIVersions": reflect.TypeFor[*chartutil.VersionSet](),
		".Capabilities.KubeVersion": reflect.TypeFor[*chartutil.KubeVersion](),
		`semver "1.2.3"`:            reflect.TypeFor[*semver.Version](),
	}
	rows := table(t, "### Methods")
	require.Len(t, rows, len(types))
	for _, row := range rows {
		of := codeSpan.FindStringSubmatch(row[0])[1]
		require.Contains(t, types, of)
		var can, named []string
		for method := range types[of].Methods() {
			if canCall(t, of, method.Name) {
				can = append(can, method.Name)
			}
		}
		for _, span := range codeSpan.FindAllStringSubmatch(row[1], -1) {
			named = append(named, span[1])
		}
		require.ElementsMatch(t, can, named, of)
	}
}

// canCall reports whether a template can call a method. Missing arguments do not count.
func canCall(t *testing.T, of, method string) bool {
	t.Helper()
	set := fstest.MapFS{"templates/podtemplate.yaml": {Data: []byte("{{ $_ := (" + of + ")." + method + " }}")}}
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "values/production.yaml"} {
		text, err := fs.ReadFile(vectorsidecar.FS, name)
		require.NoError(t, err)
		set[name] = &fstest.MapFile{Data: text}
	}
	chart, err := render.LoadChart(set)
	require.NoError(t, err)
	_, err = chart.Execute(t.Context(), render.Release{}, nil, "v1.36.0")
	return err == nil || !strings.Contains(err.Error(), " has no ")
}
