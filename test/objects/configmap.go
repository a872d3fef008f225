// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewConfigMap returns a ConfigMap with one key.
func NewConfigMap(name, namespace, key, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Data:       map[string]string{key: text},
	}
}

// VectorConfig is a small Vector configuration that is valid; different messages
// give different ones.
func VectorConfig(message string) string {
	return "sources:\n  demo:\n    type: demo_logs\n    format: shuffle\n    lines: [\"" + message + "\"]\n" +
		"sinks:\n  console:\n    type: console\n    inputs: [demo]\n    encoding:\n      codec: json\n"
}
