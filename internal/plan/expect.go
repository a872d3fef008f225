// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Expect returns the view that other VectorSidecars will have of a workload after this sidecar is injected. The view
// contains the sidecar's items with their owner.
func (d *Desired) Expect(manager string, view *workload.View) workload.View {
	d = d.OmitOptional(manager, view)
	expected, template := *view, &d.overlay.Template
	owned := workload.OwnedFields{InjectedHash: d.injectedHash, HasPlainAnnotations: d.bodyFor(manager, Policy{}, view, d.notes.AboutText).isPlain}
	expected.Containers = nil
	add := func(containers []corev1.Container, init bool) {
		for i := range containers {
			c := &containers[i]
			expected.Containers = append(expected.Containers, workload.Container{Name: c.Name, Init: init, Ports: c.Ports, Mounts: c.VolumeMounts})
			owned.Containers = append(owned.Containers, c.Name)
		}
	}
	add(template.Spec.InitContainers, true)
	for _, c := range view.Containers {
		c.Mounts = slices.Clip(c.Mounts)
		for _, mount := range d.overlay.Mounts {
			if !c.Init && mount.Container == c.Name {
				c.Mounts = append(c.Mounts, mount.VolumeMount)
			}
		}
		expected.Containers = append(expected.Containers, c)
	}
	add(template.Spec.Containers, false)
	expected.Volumes = slices.Clip(view.Volumes)
	for i := range template.Spec.Volumes {
		name := template.Spec.Volumes[i].Name
		owned.Volumes = append(owned.Volumes, name)
		expected.Volumes = append(expected.Volumes, workload.Volume{Name: name})
	}
	for _, secret := range template.Spec.ImagePullSecrets {
		owned.PullSecrets = append(owned.PullSecrets, secret.Name)
		if !slices.Contains(view.PullSecrets, secret.Name) {
			expected.PullSecrets = append(slices.Clip(expected.PullSecrets), secret.Name)
		}
	}
	owned.PodLabels, owned.PodAnnotations = slices.Sorted(maps.Keys(template.Labels)), slices.Sorted(maps.Keys(template.Annotations))
	expected.PodLabels = slices.Concat(view.PodLabels, owned.PodLabels)
	expected.PodAnnotations = slices.Concat(view.PodAnnotations, owned.PodAnnotations)
	if expected.Owned = maps.Clone(view.Owned); expected.Owned == nil {
		expected.Owned = map[string]workload.OwnedFields{}
	}
	expected.Owned[manager] = owned
	return expected
}
