// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Similar workloads often differ only in their names and namespaces, which labels, annotations and containers
// repeat. A body contains these placeholders instead, so that the workloads can share it. Another text that
// starts with a placeholder gets ownName as a prefix.
const (
	ownName      = "\x00"
	ownNamespace = "\x01"
)

// objectKey is the namespace and the name of a workload.
type objectKey struct{ namespace, name string }

// mask replaces a text that is the name or the namespace of the workload with a placeholder.
func (p objectKey) mask(text string) string {
	switch {
	case text == p.name:
		return ownName
	case text == p.namespace:
		return ownNamespace
	case strings.HasPrefix(text, ownName), strings.HasPrefix(text, ownNamespace):
		return ownName + text
	}
	return text
}

// unmask replaces a placeholder with the name or the namespace of the workload.
func (p objectKey) unmask(text string) string {
	switch {
	case text == ownName:
		return p.name
	case text == ownNamespace:
		return p.namespace
	case strings.HasPrefix(text, ownName):
		return text[len(ownName):]
	}
	return text
}

// eachName changes every text of a packed outline that may be the workload's name or its namespace. It replaces
// the list of Secrets, which may be shared.
func eachName(packed *workload.Packed, change func(text string) string) {
	packed.Secrets = slices.Clone(packed.Secrets)
	for i := range packed.Secrets {
		packed.Secrets[i] = change(packed.Secrets[i])
	}
	outline := &packed.Template
	for key, value := range outline.Annotations {
		outline.Annotations[key] = change(value)
	}
	for i := range outline.OwnerReferences {
		outline.OwnerReferences[i].Name = change(outline.OwnerReferences[i].Name)
	}
	pod := &outline.Template.Spec
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			list[i].Name = change(list[i].Name)
		}
	}
}
