// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// An error lists the paths of values that the failing expression has read, so that the caller can name the layer that
// set them.
func TestError_ListsValuePathsOfExpression(t *testing.T) {
	for text, want := range map[string][][]string{
		`{{ .Values.sidecar.nam_ }}`:                                                          {{"sidecar", "nam_"}},
		`{{ $.Values.sidecar.name.x }}`:                                                       {{"sidecar", "name", "x"}},
		`{{ $s := .Values.sidecar }}{{ $s.name.x }}`:                                          {{"sidecar", "name", "x"}},
		`{{ $s := dict }}{{ $s = .Values.sidecar }}{{ $t := $s.name }}{{ $t.x }}`:             {{"sidecar", "name", "x"}},
		`{{ repeat "x" .Values.sidecar.name }}`:                                               {{"sidecar", "name"}},
		`{{ add1 (index .Values.sidecar.list 9) }}`:                                           {{"sidecar", "list"}},
		`{{ include "x" . }}{{ define "x" }}{{ fail (print .Values.sidecar.name) }}{{ end }}`: {{"sidecar", "name"}},
		`{{ with .Values.sidecar }}{{ .nam_ }}{{ end }}`:                                      nil,
		`{{ fail "no" }}`:              nil,
		`{{ $d := dict }}{{ $d.x.y }}`: nil,
	} {
		t.Run(text, func(t *testing.T) {
			set, err := compileOne(text, gotemplate.Budget{})
			require.NoError(t, err)
			_, err = set.Execute(t.Context(), "one/templates/a.yaml", map[string]any{"Values": map[string]any{
				"sidecar": map[string]any{"name": "vector", "list": []any{}}, "other": 1,
			}})
			var located *gotemplate.Error
			require.ErrorAs(t, err, &located)
			require.Equal(t, want, located.Values, err.Error())
		})
	}
}
