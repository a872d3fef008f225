// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Similar workloads often differ only in their names, which labels, annotations and
// containers repeat. A body has this in place of the name, so that they can share it.
// Another text that begins with it gets one more.
const ownName = "\x00"

// withoutName replaces a workload's name.
func withoutName(text, name string) string {
	switch {
	case text == name:
		return ownName
	case strings.HasPrefix(text, ownName):
		return ownName + text
	}
	return text
}

// withName puts the name back.
func withName(text, name string) string {
	switch {
	case text == ownName:
		return name
	case strings.HasPrefix(text, ownName):
		return text[len(ownName):]
	}
	return text
}

// eachName changes every text of a packed outline that may be the workload's name.
func eachName(outline *corev1.PodTemplate, change func(text string) string) {
	for key, value := range outline.Annotations {
		outline.Annotations[key] = change(value)
	}
	for i := range outline.OwnerReferences {
		outline.OwnerReferences[i].Name = change(outline.OwnerReferences[i].Name)
	}
	pod := &outline.Template.Spec
	for i := range pod.ImagePullSecrets {
		pod.ImagePullSecrets[i].Name = change(pod.ImagePullSecrets[i].Name)
	}
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			list[i].Name = change(list[i].Name)
		}
	}
}
