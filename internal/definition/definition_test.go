// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// crd has a field of each form that the API server completes.
const crd = `spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              enabled: {type: boolean, default: true}
              size: {x-kubernetes-int-or-string: true}
              limits: {type: object, additionalProperties: {type: string}}
              ports: {type: array, items: {type: object, properties: {port: {type: integer}}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// Defaults of the schema are added, nulls without a default are removed, and unknown fields are returned with the
// nearest known name.
func TestDefinition_CompletesObject(t *testing.T) {
	parsed, err := Parse([]byte(crd))
	require.NoError(t, err)
	object := map[string]any{"kind": "A", "spec": map[string]any{
		"enabled": nil, "size": nil, "limits": map[string]any{"cpu": nil, "memory": "1"}, "open": map[string]any{"a": nil},
		"ports": []any{map[string]any{"prot": int64(1)}}, "siz": int64(1),
	}}

	unknown := parsed.Complete(object)

	require.Equal(t, []string{"spec.ports[0].prot", "spec.siz"}, unknown)
	require.Equal(t, map[string]any{"kind": "A", "spec": map[string]any{
		"enabled": true, "limits": map[string]any{"memory": "1"}, "open": map[string]any{"a": nil}, "ports": []any{map[string]any{}},
	}}, object)
	require.Equal(t, "port", parsed.Nearest(unknown[0]))
	require.Equal(t, "size", parsed.Nearest(unknown[1]))
	require.Empty(t, parsed.Nearest("spec.limits.cpu.deep"))
}

func TestDefinition_RejectsInvalidValues(t *testing.T) {
	parsed, err := Parse([]byte(crd))
	require.NoError(t, err)
	for name, test := range map[string]struct{ spec, create, apply string }{
		"valid":             {"{size: 1}", "", ""},
		"null":              {"{size: null, limits: {cpu: null}}", "", "spec.limits.cpu"},
		"null with default": {"{enabled: null}", "", ""},
		"wrong type":        {"{size: true}", "spec.size", ""},
		"not YAML":          {"{", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rejections := parsed.Validate(t.Context(), []byte("kind: A\nspec: "+test.spec))
			require.Contains(t, rejections.CreateText(), test.create)
			require.Equal(t, test.create == "", rejections.CreateText() == "")
			require.Contains(t, rejections.ApplyText(), test.apply)
			require.Equal(t, test.apply == "", rejections.ApplyText() == "", rejections.ApplyText())
		})
	}
}
