// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// storageFindings reports log volumes without a size limit. It also reports a pod with a storage limit that is lower
// than the maximum size of the pod's data and logs. It checks the workload together with its sidecar.
func (o *objects) storageFindings(document source.Document, p *plan.Plan) []Finding {
	if p.Desired == nil || p.Desired.Sidecar() == nil {
		return nil
	}
	subject, volumes, containers := document, p.Desired.Template().Spec.Volumes, runningContainers(&p.Desired.Template().Spec)
	path := []string{"spec", "sidecar", "logs"}
	if workloadDocument := o.documentFor(p.Target); workloadDocument.Object != nil {
		object, _ := workload.ToObject(workloadDocument.Object)
		pod := &workload.PodTemplate(object).Spec
		subject, path = workloadDocument, []string{"metadata", "name"}
		volumes, containers = slices.Concat(volumes, pod.Volumes), slices.Concat(containers, runningContainers(pod))
	}
	pos := newPositions(subject.Text, subject.Line).findKey(path...)
	name := p.Target.Kind + " " + p.Target.Namespace + "/" + p.Target.Name
	var findings []Finding
	used := resource.Quantity{}
	for i := range volumes {
		volume := &volumes[i]
		mount := findMount(p.Desired.Sidecar(), volume.Name)
		switch {
		case mount == nil || volume.EmptyDir == nil:
		case volume.EmptyDir.SizeLimit != nil:
			if volume.EmptyDir.Medium == corev1.StorageMediumDefault {
				used.Add(*volume.EmptyDir.SizeLimit)
			}
		case mount.ReadOnly: // If Vector removes files, the mount is writable.
			message := fmt.Sprintf("%s: volume %q, which the sidecar reads at %s, has no sizeLimit, and the sidecar does not remove files", name, volume.Name, mount.MountPath)
			findings = append(findings, newFinding(unboundedLogs, subject.Source, message).withPosition(pos, ""))
		}
	}
	if limit := storageLimit(containers); limit != nil && limit.Cmp(used) < 0 {
		message := fmt.Sprintf("%s: containers may use %s of ephemeral-storage together, but data and logs may take %s", name, limit, &used)
		findings = append(findings, newFinding(lowStorage, subject.Source, message).withPosition(pos, ""))
	}
	return findings
}

// runningContainers returns the containers of a pod that run at the same time: native sidecars and application
// containers.
func runningContainers(pod *corev1.PodSpec) []corev1.Container {
	native := slices.DeleteFunc(slices.Clone(pod.InitContainers), func(c corev1.Container) bool { return c.RestartPolicy == nil })
	return slices.Concat(native, pod.Containers)
}

// findMount returns the container's mount of a volume, or nil for none.
func findMount(container *corev1.Container, volume string) *corev1.VolumeMount {
	for i := range container.VolumeMounts {
		if mount := &container.VolumeMounts[i]; mount.Name == volume {
			return mount
		}
	}
	return nil
}

// storageLimit returns the amount of ephemeral storage that the containers may use together, or nil if no
// container has a limit. As in the kubelet, containers without a limit count as 0.
func storageLimit(containers []corev1.Container) *resource.Quantity {
	var sum *resource.Quantity
	for i := range containers {
		limit, isLimited := containers[i].Resources.Limits[corev1.ResourceEphemeralStorage]
		if !isLimited {
			continue
		}
		if sum == nil {
			sum = &resource.Quantity{}
		}
		sum.Add(limit)
	}
	return sum
}
