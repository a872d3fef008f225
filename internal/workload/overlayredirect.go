// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RedirectConfigMap returns a copy of the overlay in which another ConfigMap replaces the references to one ConfigMap,
// in volumes and environment variables.
func (o *Overlay) RedirectConfigMap(oldName, newName string) (Overlay, error) {
	body := runtime.DeepCopyJSON(o.Body)
	redirect(body, oldName, newName)
	redirected, err := o.WithBody(body)
	if err != nil {
		return Overlay{}, err
	}
	redirected.Template = corev1.PodTemplateSpec{}
	text, err := json.Marshal(body)
	if err != nil {
		return Overlay{}, fmt.Errorf("writing the overlay: %w", err)
	}
	if err := json.Unmarshal(text, &redirected.Template); err != nil {
		return Overlay{}, fmt.Errorf("reading the overlay back: %w", err)
	}
	return redirected, nil
}

// configMapFields are the fields of a pod template that refer to a ConfigMap: in a volume or a source of a
// projected volume, in a variable, and in envFrom.
var configMapFields = []string{"configMap", "configMapKeyRef", "configMapRef"}

// redirect changes the references below a node.
func redirect(node any, oldName, newName string) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			redirect(item, oldName, newName)
		}
	case map[string]any:
		for _, field := range configMapFields {
			if reference, ok := node[field].(map[string]any); ok && reference["name"] == oldName {
				reference["name"] = newName
			}
		}
		for _, child := range node {
			redirect(child, oldName, newName)
		}
	}
}
