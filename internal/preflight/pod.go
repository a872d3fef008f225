// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RemoveSidecar returns a copy of a pod without the fields that an overlay injected.
func RemoveSidecar(pod *corev1.Pod, overlay *corev1.PodTemplateSpec) *corev1.Pod {
	bare := pod.DeepCopy()
	for key := range overlay.Annotations {
		delete(bare.Annotations, key)
	}
	for key := range bare.Annotations {
		if meta.IsInjectedItems(key) || meta.IsAbout(key) {
			delete(bare.Annotations, key)
		}
	}
	for key := range overlay.Labels {
		delete(bare.Labels, key)
	}
	isOurs := func(v corev1.Volume) bool {
		return slices.ContainsFunc(overlay.Spec.Volumes, func(injected corev1.Volume) bool { return injected.Name == v.Name })
	}
	var volumes []string
	for _, v := range bare.Spec.Volumes {
		if isOurs(v) {
			volumes = append(volumes, v.Name)
		}
	}
	bare.Spec.Volumes = slices.DeleteFunc(bare.Spec.Volumes, isOurs)
	bare.Spec.ImagePullSecrets = slices.DeleteFunc(bare.Spec.ImagePullSecrets, func(secret corev1.LocalObjectReference) bool {
		return slices.Contains(overlay.Spec.ImagePullSecrets, secret)
	})
	bare.Spec.InitContainers = removeInjected(bare.Spec.InitContainers, overlay.Spec.InitContainers, volumes)
	bare.Spec.Containers = removeInjected(bare.Spec.Containers, overlay.Spec.Containers, volumes)
	return bare
}

// removeInjected returns the containers that are not injected, without their mounts of the given volumes.
func removeInjected(containers, injected []corev1.Container, volumes []string) []corev1.Container {
	containers = slices.DeleteFunc(containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(injected, func(container corev1.Container) bool { return container.Name == c.Name })
	})
	for i := range containers {
		containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, func(m corev1.VolumeMount) bool { return slices.Contains(volumes, m.Name) })
	}
	return containers
}

// RequiredSecrets returns the sorted names of the Secrets that the containers of an overlay need to start. The caller
// passes the pull secrets of their images. A pull secret that the pods have without the sidecar may be missing,
// because the kubelet continues without it.
func RequiredSecrets(overlay *corev1.PodTemplateSpec, pulls []string) []string {
	names := slices.Clone(pulls)
	workload.EachSecret(&overlay.Spec, func(use workload.SecretUse) {
		if !use.Optional && use.Secret != "" {
			names = append(names, use.Secret)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
