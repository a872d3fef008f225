// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import "k8s.io/apimachinery/pkg/runtime"

// Bare returns the minimal base of workloads, in the form of a Deployment.
func Bare() map[string]any {
	return merged(empty(), map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"tier": "web"}},
		"spec": map[string]any{
			"replicas": int64(0),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "corpus"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "corpus"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/app:1"}}},
			},
		},
	})
}

// Logging returns the base of workloads that write to files on a volume.
func Logging() map[string]any {
	return merged(Bare(), pod(map[string]any{
		"containers": []any{map[string]any{"name": "app", "volumeMounts": []any{map[string]any{"name": "logs", "mountPath": "/var/log/app"}}}},
		"volumes":    []any{map[string]any{"name": "logs", "emptyDir": map[string]any{}}},
	}))
}

func empty() map[string]any { return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"} }

// listKeys are the keys by which lists are merged.
var listKeys = map[string]string{
	"containers": "name", "initContainers": "name", "volumes": "name", "env": "name", "volumeMounts": "mountPath",
}

// merged returns one tree with another in it. Maps are merged, and so are the lists
// that have keys; everything else is the other's. An empty or missing value of the
// other does not take the place of one that is not.
func merged(one, other map[string]any) map[string]any {
	result := runtime.DeepCopyJSON(one)
	for key, value := range other {
		switch there := result[key].(type) {
		case map[string]any:
			if below, isMap := value.(map[string]any); isMap {
				value = merged(there, below)
			} else if value == nil {
				value = there
			}
		case []any:
			if items, isList := value.([]any); isList && listKeys[key] != "" {
				value = mergedItems(there, items, listKeys[key])
			} else if value == nil {
				value = there
			}
		}
		result[key] = runtime.DeepCopyJSONValue(value)
	}
	return result
}

func mergedItems(one, other []any, key string) []any {
	result := append([]any{}, one...)
next:
	for _, item := range other {
		wanted, _ := item.(map[string]any)
		for i := range result {
			if there, _ := result[i].(map[string]any); there[key] == wanted[key] {
				result[i] = merged(there, wanted)
				continue next
			}
		}
		result = append(result, item)
	}
	return result
}
