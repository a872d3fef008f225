// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import corev1 "k8s.io/api/core/v1"

// ReferencedConfigMaps returns the names of the ConfigMaps that pods of a template need. A name appears once for each
// reference.
func ReferencedConfigMaps(spec *corev1.PodSpec) []string {
	var names []string
	for i := range spec.Volumes {
		names = append(names, volumeConfigMaps(&spec.Volumes[i])...)
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			names = append(names, variableConfigMaps(&containers[i])...)
		}
	}
	return names
}

// volumeConfigMaps returns the names of the ConfigMaps that a volume refers to, also as a projected source.
func volumeConfigMaps(volume *corev1.Volume) []string {
	var names []string
	if volume.ConfigMap != nil {
		names = append(names, volume.ConfigMap.Name)
	}
	if volume.Projected == nil {
		return names
	}
	for i := range volume.Projected.Sources {
		if source := volume.Projected.Sources[i].ConfigMap; source != nil {
			names = append(names, source.Name)
		}
	}
	return names
}

// variableConfigMaps returns the names of the ConfigMaps that the environment variables of a container refer to.
func variableConfigMaps(container *corev1.Container) []string {
	var names []string
	for i := range container.EnvFrom {
		if source := container.EnvFrom[i].ConfigMapRef; source != nil {
			names = append(names, source.Name)
		}
	}
	for i := range container.Env {
		if source := container.Env[i].ValueFrom; source != nil && source.ConfigMapKeyRef != nil {
			names = append(names, source.ConfigMapKeyRef.Name)
		}
	}
	return names
}
