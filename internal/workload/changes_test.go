// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// podTree is a tree of a pod template, written as YAML.
func podTree(t *testing.T, text string) map[string]any {
	t.Helper()
	var template map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &template))
	return map[string]any{"spec": map[string]any{"template": template}}
}

// The cause lists changed fields with their values, but not values that may be secret.
func TestChanges_NameFieldsButNoSecretValues(t *testing.T) {
	vector := func(fields string) string { return "spec: {initContainers: [{name: vector, " + fields + "}]}" }
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":                       {vector("image: a:1"), vector("image: a:1"), nil},
		"an image":                      {vector("image: a:1"), vector("image: a:2"), []string{"initContainers[vector].image a:1 → a:2"}},
		"an image that is not ours now": {vector("args: []"), vector("args: [], image: a:2"), []string{"initContainers[vector].image → a:2"}},
		"resources":                     {vector("resources: {limits: {memory: 64Mi}}"), vector("resources: {limits: {memory: 128Mi}}"), []string{"initContainers[vector].resources.limits.memory 64Mi → 128Mi"}},
		"a number":                      {vector("livenessProbe: {periodSeconds: 5}"), vector("livenessProbe: {periodSeconds: 10}"), []string{"initContainers[vector].livenessProbe.periodSeconds 5 → 10"}},
		"a variable":                    {vector("env: [{name: A, value: hunter2}]"), vector("env: [{name: A, value: hunter3}]"), []string{"initContainers[vector].env[A].value"}},
		"a variable more and one less":  {vector("env: [{name: A, value: hunter2}]"), vector("env: [{name: B, value: hunter2}]"), []string{"initContainers[vector].env[A] removed", "initContainers[vector].env[B] added"}},
		"the first variable":            {vector("image: a"), vector("image: a, env: [{name: A, value: hunter2}]"), []string{"initContainers[vector].env[A] added"}},
		"arguments":                     {vector("args: [--token=hunter2]"), vector("args: [--token=hunter3]"), []string{"initContainers[vector].args"}},
		"a header of a probe":           {vector("livenessProbe: {httpGet: {httpHeaders: [{name: a, value: hunter2}]}}"), vector("livenessProbe: {httpGet: {httpHeaders: [{name: a, value: b}]}}"), []string{"initContainers[vector].livenessProbe.httpGet.httpHeaders"}},
		"a field that goes":             {vector("image: a, lifecycle: {preStop: {sleep: {seconds: 5}}}"), vector("image: a"), []string{"initContainers[vector].lifecycle removed"}},
		"a port and a mount":            {vector("ports: [{containerPort: 1, name: a}]"), vector("ports: [{containerPort: 1, name: b}], volumeMounts: [{mountPath: /x, name: v}]"), []string{"initContainers[vector].ports[1].name", "initContainers[vector].volumeMounts[/x] added"}},
		"a protocol more":               {vector("ports: [{containerPort: 1}]"), vector("ports: [{containerPort: 1}, {containerPort: 1, protocol: UDP}]"), []string{"initContainers[vector].ports[1/UDP] added"}},
		"a container":                   {vector("image: a"), "spec: {initContainers: [{name: vector, image: a}], containers: [{name: b, image: c}]}", []string{"containers[b] added"}},
		"a volume":                      {"spec: {volumes: [{name: v, configMap: {name: a}}]}", "spec: {volumes: [{name: v, configMap: {name: b}}]}", []string{"volumes[v].configMap.name"}},
		"metadata of the pods":          {"metadata: {labels: {a: b}, annotations: {vectorsidecar.observability.kontroloop.ai/injected-items.logs: a}}", "metadata: {annotations: {c: hunter2}}", []string{"labels.a removed", "annotations.c"}},
		"what the API server fills in":  {vector("env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: x}}}]"), vector("env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]"), nil},
		"the order":                     {"spec: {volumes: [{name: a}, {name: b}]}", "spec: {volumes: [{name: b}, {name: a}]}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := Changes(podTree(t, test.before), podTree(t, test.after))
			require.Equal(t, test.want, found)
			for _, text := range found {
				require.NotContains(t, text, "hunter")
			}
		})
	}
}
