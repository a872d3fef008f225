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
	return kindOf(object).strategy != nil && StrategyOf(object).Surge == 0
}

// ShapeDigest returns a digest of the parts that admission checks in the pods of a workload, without the fields
// of the operator's managers: resources, privileges, kinds of volumes, placement, and the keys of labels and
// annotations. It does not include names, images and values, because they differ between similar workloads.
func ShapeDigest(object Object, ours map[string]Owned) uint64 {
	content := contentOf(object)
	theirs := theirTemplate(content.Template, ours)
	from := &theirs.Spec
	shape := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: shapesOf(from.InitContainers), Containers: shapesOf(from.Containers),
		Resources: from.Resources, Overhead: from.Overhead, SecurityContext: from.SecurityContext,
		HostNetwork: from.HostNetwork, HostPID: from.HostPID, HostIPC: from.HostIPC, HostUsers: from.HostUsers, OS: from.OS,
		PriorityClassName: from.PriorityClassName, RuntimeClassName: from.RuntimeClassName, SchedulerName: from.SchedulerName,
		NodeSelector: from.NodeSelector, Tolerations: from.Tolerations, ActiveDeadlineSeconds: from.ActiveDeadlineSeconds,
		AutomountServiceAccountToken: from.AutomountServiceAccountToken,
		ServiceAccountName:           strings.ReplaceAll(from.ServiceAccountName, object.GetName(), ""),
	}}
	for i := range from.Volumes {
		kind := kindOnly(&from.Volumes[i])
		kind.Name = ""
		shape.Spec.Volumes = append(shape.Spec.Volumes, kind)
	}
	shape.Labels, shape.Annotations = keysOnly(maps.Keys(theirs.Labels)), keysOnly(maps.Keys(theirs.Annotations))
	text, err := shape.Marshal()
	if err != nil {
		text = nil // Every value of the type marshals.
	}
	text = AppendTexts(text, content.Kind.Kind)
	if RemovesFirst(object) {
		text = AppendTexts(text, "removes first")
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // Write never fails.
	return sum.Sum64()
}

func shapesOf(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		kept[i] = corev1.Container{Resources: c.Resources, SecurityContext: c.SecurityContext, RestartPolicy: c.RestartPolicy}
		for _, port := range c.Ports {
			kept[i].Ports = append(kept[i].Ports, corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP})
		}
	}
	return kept
}
