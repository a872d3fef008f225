// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// printObject prints an object as a YAML document without the fields that only an API server sets.
func printObject(w io.Writer, object any) error {
	text, err := objectText(object)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "---\n"+text)
	return err
}

// objectText returns an object as YAML, without the fields that only an API server sets.
func objectText(object any) (string, error) {
	tree, err := toTree(object)
	if err != nil {
		return "", fmt.Errorf("printing the output: %w", err)
	}
	delete(tree, "status")
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		for _, key := range []string{"managedFields", "uid", "resourceVersion", "generation", "selfLink"} {
			delete(metadata, key)
		}
		if metadata["creationTimestamp"] != nil {
			delete(metadata, "creationTimestamp")
		}
	}
	dropNullTimestamps(tree)
	text, err := humanize.MarshalYAML(tree)
	if err != nil {
		return "", fmt.Errorf("printing the output: %w", err)
	}
	return strings.TrimPrefix(string(text), "---\n"), nil
}

// toTree returns an object as maps and lists.
func toTree(object any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	err = json.Unmarshal(text, &tree)
	return tree, err
}

// dropNullTimestamps removes "creationTimestamp: null", which typed objects print.
func dropNullTimestamps(node any) {
	switch v := node.(type) {
	case map[string]any:
		if timestamp, ok := v["creationTimestamp"]; ok && timestamp == nil {
			delete(v, "creationTimestamp")
		}
		for _, item := range v {
			dropNullTimestamps(item)
		}
	case []any:
		for _, item := range v {
			dropNullTimestamps(item)
		}
	}
}

// withTypeMeta returns a ConfigMap with kind and API version.
func withTypeMeta(object *corev1.ConfigMap) *corev1.ConfigMap {
	object = object.DeepCopy()
	object.APIVersion, object.Kind = "v1", "ConfigMap"
	return object
}
