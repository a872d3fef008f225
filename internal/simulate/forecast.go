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
	// Pods is the number of replaced pods, and Turn the number of their batch, from 1.
	Pods, Turn int
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

// ForecastOf returns the forecast for a change, sorted by namespace and name.
func ForecastOf(change *Change, in *Surroundings) *Forecast {
	result := &Forecast{}
	byNamespace := map[string][]exchange{}
	for name := range change.Created {
		byNamespace[name] = nil
	}
	for i := range change.Replacements {
		replaced := exchangeOf(&change.Replacements[i], in)
		name := replaced.Before.GetNamespace()
		byNamespace[name] = append(byNamespace[name], replaced)
	}
	for _, name := range slices.Sorted(maps.Keys(byNamespace)) {
		exchanges := byNamespace[name]
		if len(exchanges) > 0 {
			result.Namespaces = append(result.Namespaces, namespaceOf(name, exchanges))
		}
		for i := range in.Quotas {
			if quota := &in.Quotas[i]; quota.Namespace == name {
				result.Quotas = append(result.Quotas, quotaOf(quota, exchanges, change.Created[name], in)...)
			}
		}
		for i := range exchanges {
			result.Limits = append(result.Limits, limitsOf(&exchanges[i], in.LimitRanges)...)
		}
		for i := range in.Autoscalers {
			if scaler := &in.Autoscalers[i]; scaler.Namespace == name {
				result.Autoscalers = append(result.Autoscalers, autoscalerOf(scaler, exchanges)...)
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
	*Replacement
	was, is *corev1.Pod
	// isReturn is true if an earlier revision of the workload has the pod template of After.
	isReturn bool
}

func exchangeOf(of *Replacement, in *Surroundings) exchange {
	isReturn := slices.ContainsFunc(in.Revisions, func(revision workload.Object) bool { return workload.MatchesTemplate(revision, of.After) })
	return exchange{of, podOf(of.Before, in.LimitRanges), podOf(of.After, in.LimitRanges), isReturn}
}

// podOf returns a pod of a workload with the resources that the API server would give it.
func podOf(object workload.Object, ranges []corev1.LimitRange) *corev1.Pod {
	template := workload.PodTemplate(object).DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace = object.GetNamespace()
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			complete(&containers[i].Resources, pod.Namespace, ranges)
		}
	}
	return pod
}

// complete sets missing requests to the limits, and then applies the defaults of LimitRanges.
func complete(of *corev1.ResourceRequirements, namespace string, ranges []corev1.LimitRange) {
	of.Requests = with(of.Requests, of.Limits)
	for i := range ranges {
		for _, limit := range ranges[i].Spec.Limits {
			if ranges[i].Namespace == namespace && limit.Type == corev1.LimitTypeContainer {
				of.Limits, of.Requests = with(of.Limits, limit.Default), with(of.Requests, limit.DefaultRequest)
			}
		}
	}
}

// with returns resources completed by the missing ones of a default.
func with(given, missing corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range missing {
		if _, is := given[name]; is {
			continue
		}
		if given == nil {
			given = corev1.ResourceList{}
		}
		given[name] = quantity
	}
	return given
}

func namespaceOf(name string, exchanges []exchange) NamespaceForecast {
	result := NamespaceForecast{Namespace: name, Workloads: len(exchanges), Requests: corev1.ResourceList{}}
	for _, one := range exchanges {
		result.Pods += one.Pods
		was, is := requestsOf(one.was), requestsOf(one.is)
		for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			sum := result.Requests[of]
			sum.Add(times(is[of], one.Pods))
			sum.Sub(times(was[of], one.Pods))
			result.Requests[of] = sum
		}
		if from, to := qos.ComputePodQOS(one.was), qos.ComputePodQOS(one.is); from != to {
			ref := workload.NewRef(one.Before)
			result.QoS = append(result.QoS, QoSForecast{Kind: ref.Kind, Workload: ref.Name, From: from, To: to})
		}
	}
	return result
}

func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

func times(quantity resource.Quantity, count int) resource.Quantity {
	quantity = quantity.DeepCopy()
	quantity.Mul(int64(count))
	return quantity
}

// autoscalerOf returns the changes of the metrics of a HorizontalPodAutoscaler.
func autoscalerOf(of *autoscalingv2.HorizontalPodAutoscaler, exchanges []exchange) (found []AutoscalerForecast) {
	target := &of.Spec.ScaleTargetRef
	at := slices.IndexFunc(exchanges, func(one exchange) bool {
		ref := workload.NewRef(one.Before)
		return ref.Kind == target.Kind && ref.Name == target.Name
	})
	if at < 0 {
		return nil
	}
	for _, metric := range of.Spec.Metrics {
		if metric.Type != autoscalingv2.ResourceMetricSourceType || metric.Resource == nil || metric.Resource.Target.AverageUtilization == nil {
			continue
		}
		before, lackedBefore := sumOf(exchanges[at].was, metric.Resource.Name)
		after, lacks := sumOf(exchanges[at].is, metric.Resource.Name)
		if lackedBefore == lacks && (lacks != "" || before.Cmp(after) == 0) {
			continue
		}
		found = append(found, AutoscalerForecast{
			Namespace: of.Namespace, Name: of.Name, Kind: target.Kind, Workload: target.Name, Resource: metric.Resource.Name,
			Before: before, After: after, Missing: lacks,
		})
	}
	return found
}

// sumOf returns the request of a pod as the autoscaler computes it, and the first container without a request.
func sumOf(pod *corev1.Pod, of corev1.ResourceName) (sum resource.Quantity, missing string) {
	if whole := pod.Spec.Resources; whole != nil {
		if request, is := whole.Requests[of]; is {
			return request, ""
		}
	}
	for _, container := range lasting(pod) {
		request, is := container.Resources.Requests[of]
		if !is {
			return sum, container.Name
		}
		sum.Add(request)
	}
	return sum, ""
}

// lasting returns the containers of a pod that keep running: the containers and the native sidecars.
func lasting(pod *corev1.Pod) []corev1.Container {
	all := slices.Clone(pod.Spec.Containers)
	for i := range pod.Spec.InitContainers {
		if ptr.Deref(pod.Spec.InitContainers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			all = append(all, pod.Spec.InitContainers[i])
		}
	}
	return all
}
