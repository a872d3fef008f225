// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubectl/pkg/util/qos"
)

// QoSOfPod stands for the QoS class of pods with pod-level resources, which a sidecar does not change.
const QoSOfPod corev1.PodQOSClass = "PodLevel"

// computeQoSClass returns the QoS class that the pods would have without the fields of the operator's managers.
func computeQoSClass(spec *corev1.PodSpec, owned map[string]OwnedFields) corev1.PodQOSClass {
	if resourcehelper.IsPodLevelResourcesSet(&corev1.Pod{Spec: corev1.PodSpec{Resources: spec.Resources}}) {
		return QoSOfPod
	}
	return qos.ComputePodQOS(&corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: applicationResources(spec.InitContainers, owned), Containers: applicationResources(spec.Containers, owned),
	}})
}

// applicationResources returns the application's containers with only their resources.
func applicationResources(containers []corev1.Container, owned map[string]OwnedFields) []corev1.Container {
	result := make([]corev1.Container, 0, len(containers))
	for i := range containers {
		if c := &containers[i]; !anyOwns(owned, ownedContainers, c.Name) {
			result = append(result, corev1.Container{Resources: withRequests(c.Resources)})
		}
	}
	return result
}

// withRequests returns resource requirements with the requests that the API server adds to a pod, but not to a
// template: if a resource has only a limit, the limit is also its request.
func withRequests(requirements corev1.ResourceRequirements) corev1.ResourceRequirements {
	if len(requirements.Limits) == 0 {
		return requirements
	}
	requests := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if limit, isLimited := requirements.Limits[name]; isLimited {
			requests[name] = limit
		}
	}
	maps.Copy(requests, requirements.Requests)
	return corev1.ResourceRequirements{Requests: requests, Limits: requirements.Limits}
}

// QoSClass returns the QoS class that the workload's pods have with the overlay. It ignores other sidecars.
func (o *Overlay) QoSClass(view *View) corev1.PodQOSClass {
	if view.QoSClass == QoSOfPod || computeQoSClass(&o.Template.Spec, nil) == view.QoSClass {
		return view.QoSClass
	}
	return corev1.PodQOSBurstable
}
