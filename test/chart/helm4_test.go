// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Helm 3 and Helm 4 render the same objects, except that Helm 4 leaves out defaults that are null. The operator reads
// null as a missing key.
func TestChart_RendersEqualObjectsWithHelm4(t *testing.T) {
	t.Parallel()
	const all = "admissionInjection.enabled=true,admissionWebhook.enabled=true,networkPolicy.enabled=false,monitoring.enabled=true,monitoring.render=alwaysRender,sidecar.sinks.console=null"
	for name, file := range environments(t) {
		t.Run(name, func(t *testing.T) {
			args := []string{"template", release, chartDir, "-n", namespace, "--kube-version", "1.36.0", "-f", file, "--set", all}
			want, got := objects(t, helm(t, args...)), objects(t, helm4(t, args...))
			require.Len(t, got, len(want))
			byName := map[string]*unstructured.Unstructured{}
			for _, object := range got {
				byName[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object
			}
			for _, object := range want {
				key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
				require.Contains(t, byName, key)
				require.Equal(t, contentOf(t, object), contentOf(t, byName[key]), key)
			}
		})
	}
}

// contentOf returns the content of an object with the policy and the rollout rules decoded, without null.
func contentOf(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil || object.GetKind() != "ConfigMap" || !strings.HasSuffix(object.GetName(), "-environments") {
		return object.Object
	}
	decoded := map[string]any{}
	for key, text := range data {
		var value map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value))
		if key == "policy" || key == "rollout" {
			dropNull(value)
		}
		decoded[key] = value
	}
	content := object.DeepCopy().Object
	content["data"] = decoded
	return content
}

func dropNull(values map[string]any) {
	for key, value := range values {
		if value == nil {
			delete(values, key)
		} else if below, ok := value.(map[string]any); ok {
			dropNull(below)
		}
	}
}
