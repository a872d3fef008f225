// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Without returns a copy of a pod without the fields that an overlay injected.
func Without(pod *corev1.Pod, overlay *corev1.PodTemplateSpec) *corev1.Pod {
	bare := pod.DeepCopy()
	for key := range overlay.Annotations {
		delete(bare.Annotations, key)
	}
	for key := range bare.Annotations {
		if meta.IsInjectedItems(key) {
			delete(bare.Annotations, key)
		}
	}
	for key := range overlay.Labels {
		delete(bare.Labels, key)
	}
	isOurs := func(v corev1.Volume) bool {
		return slices.ContainsFunc(overlay.Spec.Volumes, func(ours corev1.Volume) bool { return ours.Name == v.Name })
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
	bare.Spec.InitContainers = others(bare.Spec.InitContainers, overlay.Spec.InitContainers, volumes)
	bare.Spec.Containers = others(bare.Spec.Containers, overlay.Spec.Containers, volumes)
	return bare
}

// others returns the application's containers, without mounts of the sidecar's volumes.
func others(all, ours []corev1.Container, volumes []string) []corev1.Container {
	all = slices.DeleteFunc(all, func(c corev1.Container) bool {
		return slices.ContainsFunc(ours, func(one corev1.Container) bool { return one.Name == c.Name })
	})
	for i := range all {
		all[i].VolumeMounts = slices.DeleteFunc(all[i].VolumeMounts, func(m corev1.VolumeMount) bool { return slices.Contains(volumes, m.Name) })
	}
	return all
}

// SecretsOf returns the sorted names of the Secrets that the containers of an overlay need to start. The caller
// passes the pull secrets of their images. A pull secret that the pods have without the sidecar may be missing,
// because the kubelet continues without it.
func SecretsOf(overlay *corev1.PodTemplateSpec, pulls []string) []string {
	names := slices.Clone(pulls)
	workload.EachSecret(&overlay.Spec, func(use workload.SecretUse) {
		if !use.Optional && use.Secret != "" {
			names = append(names, use.Secret)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
