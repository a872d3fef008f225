// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A served CustomResourceDefinition lacks fields of the sidecar. They are reported.
func TestDefinition_ReportsUnknownFields(t *testing.T) {
	t.Parallel()
	document := []byte(`{"components": {"schemas": {
		"other": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Other"}]},
		"app": {
			"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "App"}],
			"properties": {"spec": {"properties": {"template": {"properties": {"spec": {"properties": {
				"containers": {"type": "array", "items": {"properties": {
					"name": {"type": "string"},
					"resources": {"properties": {"limits": {"additionalProperties": {"x-kubernetes-int-or-string": true}}}},
					"extra": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {}}}
				}}},
				"volumes": {"x-kubernetes-preserve-unknown-fields": true}
			}}}}}}}
		}
	}}}`)
	app := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}
	known, err := ReadDefinition(document, app, []string{"spec", "template"})
	require.NoError(t, err)
	container := func(key string, value any) map[string]any {
		return map[string]any{"containers": []any{map[string]any{"name": "app"}, map[string]any{"name": "vector", key: value}}}
	}
	for _, of := range []struct {
		pod  map[string]any
		want string
	}{
		{container("resources", map[string]any{"limits": map[string]any{"cpu": "1"}}), ""},
		{container("extra", map[string]any{"b": map[string]any{"c": 1}}), ""},
		{map[string]any{"volumes": []any{map[string]any{"image": map[string]any{}}}}, ""},
		{container("restartPolicy", "Always"), "containers.restartPolicy"},
		{container("resources", map[string]any{"claims": []any{}}), "containers.resources.claims"},
		{map[string]any{"initContainers": []any{}}, "initContainers"},
	} {
		require.Equal(t, of.want, known.UnknownField(of.pod))
	}

	_, err = ReadDefinition(document, app.GroupVersion().WithKind("Else"), []string{"spec", "template"})
	require.EqualError(t, err, "the OpenAPI document of API version example.com/v1 does not have the kind Else")
	_, err = ReadDefinition(document, app.GroupVersion().WithKind("Other"), []string{"spec", "template"})
	require.EqualError(t, err, "the definition of kind Other does not have the field spec")
	_, err = ReadDefinition(make([]byte, largestDocument+1), app, nil)
	require.EqualError(t, err, "the OpenAPI document of example.com/v1 has more than 33554432 bytes")
	_, err = ReadDefinition([]byte("{"), app, nil)
	require.ErrorContains(t, err, "reading the OpenAPI document of example.com/v1")
}
