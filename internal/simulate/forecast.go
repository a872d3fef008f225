// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubectl/pkg/util/qos"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Replacement is a workload with pods that a plan replaces.
type Replacement struct {
	Before, After workload.Object
	// Pods is the number of replaced pods, and Batch the number of their batch, from 1.
	Pods, Batch int
}

// Change contains the effects of plans: replaced pods and created objects.
type Change struct {
	Replacements []Replacement
	// Created are the created objects, by namespace.
	Created map[string]Objects
}

// Forecast is the predicted effect of new pods on namespaces, quotas, limits and autoscalers. It is computed from pod
// templates, because the actual resource usage of pods is unknown.
type Forecast struct {
	Namespaces []NamespaceForecast `json:"namespaces,omitempty"`
	// Quotas are the resources of ResourceQuotas with a changed use, or that would reject an object.
	Quotas []QuotaForecast `json:"quotas,omitempty"`
	// Limits are the limits of LimitRanges that would reject pods.
	Limits []LimitForecast `json:"limits,omitempty"`
	// Autoscalers are the autoscalers that would read a different utilization for the same load.
	Autoscalers []AutoscalerForecast `json:"autoscalers,omitempty"`
}

// NamespaceForecast is the change of the requests of a namespace's pods, over all replicas.
type NamespaceForecast struct {
	Namespace string `json:"namespace"`
	Workloads int    `json:"workloads"`
	Pods      int    `json:"pods"`
	// Requests are the added CPU and memory requests. They are negative if sidecars are removed.
	Requests corev1.ResourceList `json:"requests"`
	// QoS are the workloads with pods that get a different QoS class.
	QoS []QoSForecast `json:"qos,omitempty"`
}

// QoSForecast is a change of the QoS class of a workload's pods.
type QoSForecast struct {
	Kind     string             `json:"kind"`
	Workload string             `json:"workload"`
	From     corev1.PodQOSClass `json:"from"`
	To       corev1.PodQOSClass `json:"to"`
}

// AutoscalerForecast is a HorizontalPodAutoscaler that divides the usage of its pods by the requests of all their
// containers.
type AutoscalerForecast struct {
	Namespace string              `json:"namespace"`
	Name      string              `json:"name"`
	Kind      string              `json:"kind"`
	Workload  string              `json:"workload"`
	Resource  corev1.ResourceName `json:"resource"`
	// Before and After are the requests of one pod.
	Before resource.Quantity `json:"before"`
	After  resource.Quantity `json:"after"`
	// Missing is the first container without a request. With such a container the autoscaler cannot scale.
	Missing string `json:"missing,omitempty"`
}

// NewForecast returns the forecast for a change, sorted by namespace and name.
func NewForecast(change *Change, surroundings *Surroundings) *Forecast {
	result := &Forecast{}
	byNamespace := map[string][]exchange{}
	for name := range change.Created {
		byNamespace[name] = nil
	}
	for i := range change.Replacements {
		replaced := newExchange(&change.Replacements[i], surroundings)
		name := replaced.replacement.Before.GetNamespace()
		byNamespace[name] = append(byNamespace[name], replaced)
	}
	for _, name := range slices.Sorted(maps.Keys(byNamespace)) {
		exchanges := byNamespace[name]
		if len(exchanges) > 0 {
			result.Namespaces = append(result.Namespaces, forecastNamespace(name, exchanges))
		}
		for i := range surroundings.Quotas {
			if quota := &surroundings.Quotas[i]; quota.Namespace == name {
				result.Quotas = append(result.Quotas, forecastQuota(quota, exchanges, change.Created[name], surroundings)...)
			}
		}
		for i := range exchanges {
			result.Limits = append(result.Limits, forecastLimits(&exchanges[i], surroundings.LimitRanges)...)
		}
		for i := range surroundings.Autoscalers {
			if scaler := &surroundings.Autoscalers[i]; scaler.Namespace == name {
				result.Autoscalers = append(result.Autoscalers, forecastAutoscaler(scaler, exchanges)...)
			}
		}
	}
	slices.SortStableFunc(result.Quotas, func(a, b QuotaForecast) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(result.Limits, func(a, b LimitForecast) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workload, b.Workload))
	})
	slices.SortStableFunc(result.Autoscalers, func(a, b AutoscalerForecast) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return result
}

// exchange is a Replacement with one pod of the workload before and one after.
type exchange struct {
	replacement    *Replacement
	oldPod, newPod *corev1.Pod
	// isReturn is true if an earlier revision of the workload has the pod template of After.
	isReturn bool
}

// newExchange returns the exchange for a workload with replaced pods.
func newExchange(replacement *Replacement, surroundings *Surroundings) exchange {
	isReturn := slices.ContainsFunc(surroundings.Revisions, func(revision workload.Object) bool { return workload.SharesTemplate(revision, replacement.After) })
	return exchange{replacement, podFor(replacement.Before, surroundings.LimitRanges), podFor(replacement.After, surroundings.LimitRanges), isReturn}
}

// podFor returns a pod of a workload with the resources that the API server would give it.
func podFor(object workload.Object, ranges []corev1.LimitRange) *corev1.Pod {
	template := workload.PodTemplate(object).DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace = object.GetNamespace()
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addDefaults(&containers[i].Resources, pod.Namespace, ranges)
		}
	}
	return pod
}

// addDefaults sets missing requests to the limits, and then applies the defaults of LimitRanges.
func addDefaults(requirements *corev1.ResourceRequirements, namespace string, ranges []corev1.LimitRange) {
	requirements.Requests = addMissing(requirements.Requests, requirements.Limits)
	for i := range ranges {
		for _, limit := range ranges[i].Spec.Limits {
			if ranges[i].Namespace == namespace && limit.Type == corev1.LimitTypeContainer {
				requirements.Limits, requirements.Requests = addMissing(requirements.Limits, limit.Default), addMissing(requirements.Requests, limit.DefaultRequest)
			}
		}
	}
}

// addMissing returns resources completed by the missing ones of a default.
func addMissing(list, missing corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range missing {
		if _, ok := list[name]; ok {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[name] = quantity
	}
	return list
}

// forecastNamespace returns the change of the requests, and the changed QoS classes, of a namespace's workloads.
func forecastNamespace(name string, exchanges []exchange) NamespaceForecast {
	result := NamespaceForecast{Namespace: name, Workloads: len(exchanges), Requests: corev1.ResourceList{}}
	for _, e := range exchanges {
		result.Pods += e.replacement.Pods
		oldRequests, newRequests := podRequests(e.oldPod), podRequests(e.newPod)
		for _, resourceName := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			sum := result.Requests[resourceName]
			sum.Add(multiplyQuantity(newRequests[resourceName], e.replacement.Pods))
			sum.Sub(multiplyQuantity(oldRequests[resourceName], e.replacement.Pods))
			result.Requests[resourceName] = sum
		}
		if oldClass, newClass := qos.ComputePodQOS(e.oldPod), qos.ComputePodQOS(e.newPod); oldClass != newClass {
			ref := workload.NewRef(e.replacement.Before)
			result.QoS = append(result.QoS, QoSForecast{Kind: ref.Kind, Workload: ref.Name, From: oldClass, To: newClass})
		}
	}
	return result
}

// podRequests returns the resource requests of a pod, as the scheduler computes them.
func podRequests(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

// multiplyQuantity returns a quantity times a count.
func multiplyQuantity(quantity resource.Quantity, count int) resource.Quantity {
	quantity = quantity.DeepCopy()
	quantity.Mul(int64(count))
	return quantity
}

// forecastAutoscaler returns the changes of the metrics of a HorizontalPodAutoscaler.
func forecastAutoscaler(autoscaler *autoscalingv2.HorizontalPodAutoscaler, exchanges []exchange) (forecasts []AutoscalerForecast) {
	target := &autoscaler.Spec.ScaleTargetRef
	i := slices.IndexFunc(exchanges, func(e exchange) bool {
		ref := workload.NewRef(e.replacement.Before)
		return ref.Kind == target.Kind && ref.Name == target.Name
	})
	if i < 0 {
		return nil
	}
	for _, metric := range autoscaler.Spec.Metrics {
		if metric.Type != autoscalingv2.ResourceMetricSourceType || metric.Resource == nil || metric.Resource.Target.AverageUtilization == nil {
			continue
		}
		oldSum, oldMissing := sumRequests(exchanges[i].oldPod, metric.Resource.Name)
		newSum, newMissing := sumRequests(exchanges[i].newPod, metric.Resource.Name)
		if oldMissing == newMissing && (newMissing != "" || oldSum.Cmp(newSum) == 0) {
			continue
		}
		forecasts = append(forecasts, AutoscalerForecast{
			Namespace: autoscaler.Namespace, Name: autoscaler.Name, Kind: target.Kind, Workload: target.Name, Resource: metric.Resource.Name,
			Before: oldSum, After: newSum, Missing: newMissing,
		})
	}
	return forecasts
}

// sumRequests returns the request of a pod as the autoscaler computes it, and the first container without a request.
func sumRequests(pod *corev1.Pod, resourceName corev1.ResourceName) (sum resource.Quantity, missing string) {
	if podResources := pod.Spec.Resources; podResources != nil {
		if request, ok := podResources.Requests[resourceName]; ok {
			return request, ""
		}
	}
	for _, container := range longRunningContainers(pod) {
		request, ok := container.Resources.Requests[resourceName]
		if !ok {
			return sum, container.Name
		}
		sum.Add(request)
	}
	return sum, ""
}

// longRunningContainers returns the containers of a pod that keep running: the containers and the native sidecars.
func longRunningContainers(pod *corev1.Pod) []corev1.Container {
	containers := slices.Clone(pod.Spec.Containers)
	for i := range pod.Spec.InitContainers {
		if ptr.Deref(pod.Spec.InitContainers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, pod.Spec.InitContainers[i])
		}
	}
	return containers
}
