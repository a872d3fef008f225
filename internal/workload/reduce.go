// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reduce returns a Deployment with only what Of looks at, to be cached in place
// of the whole one: Of(Reduce(d)) equals Of(d). The argument is not changed.
func Reduce(deployment *appsv1.Deployment) *appsv1.Deployment {
	ours := owned(deployment)
	spec := &deployment.Spec.Template.Spec
	reduced := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         deployment.Namespace,
			Name:              deployment.Name,
			UID:               deployment.UID,
			ResourceVersion:   deployment.ResourceVersion,
			Generation:        deployment.Generation,
			CreationTimestamp: deployment.CreationTimestamp,
			DeletionTimestamp: deployment.DeletionTimestamp,
			Labels:            deployment.Labels,
			Annotations:       cachedAnnotations(deployment.Annotations),
			ManagedFields:     reduceEntries(deployment.ManagedFields, ours),
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: deployment.Spec.Replicas,
			Paused:   deployment.Spec.Paused,
			Selector: deployment.Spec.Selector,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				HostNetwork:                   spec.HostNetwork,
				HostPID:                       spec.HostPID,
				HostIPC:                       spec.HostIPC,
				HostUsers:                     spec.HostUsers,
				OS:                            spec.OS,
				SecurityContext:               spec.SecurityContext,
				TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
				InitContainers:                reduceContainers(spec.InitContainers, ours),
				Containers:                    reduceContainers(spec.Containers, ours),
				Volumes:                       reduceVolumes(spec.Volumes, ours),
			}},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Status.ObservedGeneration,
			Replicas:           deployment.Status.Replicas,
			UpdatedReplicas:    deployment.Status.UpdatedReplicas,
			AvailableReplicas:  deployment.Status.AvailableReplicas,
			Conditions:         reduceConditions(deployment.Status.Conditions),
		},
	}
	reduced.Spec.Template.Labels = deployment.Spec.Template.Labels
	reduced.Spec.Template.Annotations = deployment.Spec.Template.Annotations
	if len(ours) == 0 {
		reduced.Spec.Template.Annotations = keysOnly(deployment.Spec.Template.Annotations)
	}
	return reduced
}

// cachedAnnotations leaves out the copy of the whole object that client-side
// apply keeps.
func cachedAnnotations(annotations map[string]string) map[string]string {
	if _, ok := annotations[corev1.LastAppliedConfigAnnotation]; !ok {
		return annotations
	}
	kept := maps.Clone(annotations)
	delete(kept, corev1.LastAppliedConfigAnnotation)
	return kept
}

// keysOnly drops the values, which may be long.
func keysOnly(annotations map[string]string) map[string]string {
	if annotations == nil {
		return nil
	}
	kept := make(map[string]string, len(annotations))
	for key := range annotations {
		kept[key] = ""
	}
	return kept
}

// reduceEntries keeps our records, what deployers' records say of our items, and
// who wrote last.
func reduceEntries(entries []metav1.ManagedFieldsEntry, ours map[string]Owned) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	isOurItem := func(list, name string) bool {
		if list == "volumes" {
			return anyOwns(ours, func(o Owned) []string { return o.Volumes }, name)
		}
		return anyOwns(ours, func(o Owned) []string { return o.Containers }, name)
	}
	for i := range entries {
		entry := &entries[i]
		switch {
		case isOurs(entry):
			kept = append(kept, *entry)
		case len(ours) > 0 && isDeployer(entry):
			if reduced := only(entry, isOurItem); reduced != nil {
				kept = append(kept, *reduced)
			}
		}
	}
	if last := lastEntry(entries); last != nil {
		kept = append(kept, metav1.ManagedFieldsEntry{Manager: last.Manager, Operation: last.Operation, Time: last.Time})
	}
	return kept
}

// reduceContainers keeps a container of ours whole: its values are compared.
func reduceContainers(containers []corev1.Container, ours map[string]Owned) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		c := &containers[i]
		if anyOwns(ours, func(o Owned) []string { return o.Containers }, c.Name) {
			kept = append(kept, *c)
			continue
		}
		kept = append(kept, corev1.Container{Name: c.Name, Ports: c.Ports, VolumeMounts: c.VolumeMounts, SecurityContext: c.SecurityContext})
	}
	return kept
}

func reduceVolumes(volumes []corev1.Volume, ours map[string]Owned) []corev1.Volume {
	var kept []corev1.Volume
	for i := range volumes {
		v := &volumes[i]
		if anyOwns(ours, func(o Owned) []string { return o.Volumes }, v.Name) {
			kept = append(kept, *v)
			continue
		}
		kept = append(kept, kindOnly(v))
	}
	return kept
}

func anyOwns(ours map[string]Owned, items func(Owned) []string, name string) bool {
	for _, o := range ours {
		if slices.Contains(items(o), name) {
			return true
		}
	}
	return false
}

func reduceConditions(conditions []appsv1.DeploymentCondition) []appsv1.DeploymentCondition {
	for _, c := range conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return []appsv1.DeploymentCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason}}
		}
	}
	return nil
}
