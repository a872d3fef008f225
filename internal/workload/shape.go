// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"hash/fnv"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RemovesFirst reports whether a rollout of the workload removes a pod before it creates the replacement.
func RemovesFirst(object Object) bool {
	return objectKind(object).strategy != nil && StrategyFor(object).Surge == 0
}

// ShapeDigest returns a digest of the application's parts of a pod that admission checks: resources, privileges, kinds
// of volumes, placement, and the keys of labels and annotations. It excludes names, images and values, so that similar
// workloads have the same digest.
func ShapeDigest(object Object, owned map[string]OwnedFields) uint64 {
	content := readContent(object)
	foreignTemplate := applicationTemplate(content.Template, owned)
	spec := &foreignTemplate.Spec
	shape := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: containerShapes(spec.InitContainers), Containers: containerShapes(spec.Containers),
		Resources: spec.Resources, Overhead: spec.Overhead, SecurityContext: spec.SecurityContext,
		HostNetwork: spec.HostNetwork, HostPID: spec.HostPID, HostIPC: spec.HostIPC, HostUsers: spec.HostUsers, OS: spec.OS,
		PriorityClassName: spec.PriorityClassName, RuntimeClassName: spec.RuntimeClassName, SchedulerName: spec.SchedulerName,
		NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds,
		AutomountServiceAccountToken: spec.AutomountServiceAccountToken,
		ServiceAccountName:           strings.ReplaceAll(spec.ServiceAccountName, object.GetName(), ""),
	}}
	for i := range spec.Volumes {
		volume := NewVolume(&spec.Volumes[i])
		volume.Name = ""
		shape.Spec.Volumes = append(shape.Spec.Volumes, volume.toVolume())
	}
	shape.Labels, shape.Annotations = keysOnly(maps.Keys(foreignTemplate.Labels)), keysOnly(maps.Keys(foreignTemplate.Annotations))
	text, err := shape.Marshal()
	if err != nil {
		text = nil // Every value of the type marshals.
	}
	text = appendStrings(text, content.Kind.Kind)
	if RemovesFirst(object) {
		text = appendStrings(text, "removes first")
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // Write never fails.
	return sum.Sum64()
}

// containerShapes returns containers with only the parts that admission checks: resources, security contexts, restart
// policies and host ports.
func containerShapes(containers []corev1.Container) []corev1.Container {
	result := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		result[i] = corev1.Container{Resources: c.Resources, SecurityContext: c.SecurityContext, RestartPolicy: c.RestartPolicy}
		for _, port := range c.Ports {
			result[i].Ports = append(result[i].Ports, corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP})
		}
	}
	return result
}
