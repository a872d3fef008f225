// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RedirectConfigMap returns a copy of the overlay in which all references to one ConfigMap name another
// ConfigMap. It changes volumes, environment variables and envFrom.
func (o *Overlay) RedirectConfigMap(oldName, newName string) (Overlay, error) {
	body := runtime.DeepCopyJSON(o.Body)
	redirectReferences(body, oldName, newName)
	redirected, err := o.WithBody(body)
	if err != nil {
		return Overlay{}, err
	}
	redirected.Template = corev1.PodTemplateSpec{}
	text, err := json.Marshal(body)
	if err != nil {
		return Overlay{}, fmt.Errorf("encoding the overlay: %w", err)
	}
	if err := json.Unmarshal(text, &redirected.Template); err != nil {
		return Overlay{}, fmt.Errorf("decoding the encoded overlay: %w", err)
	}
	return redirected, nil
}

// configMapFields are the fields of a pod template that refer to a ConfigMap: configMap in volumes and
// projected volumes, configMapKeyRef in variables, and configMapRef in envFrom.
var configMapFields = []string{"configMap", "configMapKeyRef", "configMapRef"}

// redirectReferences changes the references to a ConfigMap in a JSON value and all values below it.
func redirectReferences(node any, oldName, newName string) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			redirectReferences(item, oldName, newName)
		}
	case map[string]any:
		for _, field := range configMapFields {
			if reference, ok := node[field].(map[string]any); ok && reference["name"] == oldName {
				reference["name"] = newName
			}
		}
		for _, child := range node {
			redirectReferences(child, oldName, newName)
		}
	}
}
