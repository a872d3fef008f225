// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubectl/pkg/util/qos"
)

// QoSOfPod stands for the QoS class of pods with pod-level resources, in addition to the resources of their
// containers. A sidecar does not change this class.
const QoSOfPod corev1.PodQOSClass = "PodLevel"

// qosClassOf returns the QoS class that the pods would have without the fields of the operator's managers.
func qosClassOf(spec *corev1.PodSpec, ours map[string]Owned) corev1.PodQOSClass {
	if resourcehelper.IsPodLevelResourcesSet(&corev1.Pod{Spec: corev1.PodSpec{Resources: spec.Resources}}) {
		return QoSOfPod
	}
	return qos.ComputePodQOS(&corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: resourcesOf(spec.InitContainers, ours), Containers: resourcesOf(spec.Containers, ours),
	}})
}

func resourcesOf(containers []corev1.Container, ours map[string]Owned) []corev1.Container {
	kept := make([]corev1.Container, 0, len(containers))
	for i := range containers {
		if c := &containers[i]; !anyOwns(ours, containersOf, c.Name) {
			kept = append(kept, corev1.Container{Resources: withRequests(c.Resources)})
		}
	}
	return kept
}

// withRequests adds the requests that the API server adds to a pod, but not to the template: a resource with
// only a limit gets the limit as its request.
func withRequests(given corev1.ResourceRequirements) corev1.ResourceRequirements {
	requests := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if limit, isLimited := given.Limits[name]; isLimited {
			requests[name] = limit
		}
	}
	maps.Copy(requests, given.Requests)
	return corev1.ResourceRequirements{Requests: requests, Limits: given.Limits}
}

// QoSClass returns the QoS class of the workload's pods with an overlay. It ignores other sidecars.
func (o *Overlay) QoSClass(in *View) corev1.PodQOSClass {
	if in.QoSClass == QoSOfPod || qosClassOf(&o.Template.Spec, nil) == in.QoSClass {
		return in.QoSClass
	}
	return corev1.PodQOSBurstable
}
