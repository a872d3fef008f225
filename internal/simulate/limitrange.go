// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// LimitForecast is a limit of a LimitRange that would reject the new pods of a workload, or the claims of their
// ephemeral volumes.
type LimitForecast struct {
	Namespace string              `json:"namespace"`
	Name      string              `json:"name"`
	Kind      string              `json:"kind"`
	Workload  string              `json:"workload"`
	Type      corev1.LimitType    `json:"type"`
	Resource  corev1.ResourceName `json:"resource"`
	// Message describes the violation, such as: container vector: the limit of memory is 2 times the request, but
	// may be at most 1 times.
	Message string `json:"message"`
}

// resources are the requests and limits of a container, a pod or a claim.
type resources struct {
	title            string
	requests, limits corev1.ResourceList
	isClaim          bool // The limits of a claim are its requests.
}

// forecastLimits returns the limits of LimitRanges that would reject the new pods of a workload.
func forecastLimits(e *exchange, ranges []corev1.LimitRange) (forecasts []LimitForecast) {
	ref := workload.NewRef(e.replacement.Before)
	for i := range ranges {
		limits := &ranges[i]
		if limits.Namespace != e.newPod.Namespace {
			continue
		}
		for n := range limits.Spec.Limits {
			item := &limits.Spec.Limits[n]
			for _, checked := range limitTargets(item.Type, e.newPod) {
				for _, name := range slices.Sorted(maps.Keys(resourceNames(item))) {
					for _, text := range checked.violations(item, name) {
						forecasts = append(forecasts, LimitForecast{
							Namespace: limits.Namespace, Name: limits.Name, Kind: ref.Kind, Workload: ref.Name, Type: item.Type, Resource: name,
							Message: checked.title + ": " + text,
						})
					}
				}
			}
		}
	}
	return forecasts
}

// limitTargets returns the parts of a pod that limits of a type apply to.
func limitTargets(limitType corev1.LimitType, pod *corev1.Pod) (targets []resources) {
	switch limitType {
	case corev1.LimitTypeContainer:
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			targets = append(targets, resources{title: "container " + container.Name, requests: container.Resources.Requests, limits: container.Resources.Limits})
		}
	case corev1.LimitTypePod:
		options := resourcehelper.PodResourcesOptions{}
		targets = append(targets, resources{title: "pod", requests: resourcehelper.PodRequests(pod, options), limits: resourcehelper.PodLimits(pod, options)})
	case corev1.LimitTypePersistentVolumeClaim:
		claims := ephemeralClaims(pod)
		for _, volume := range slices.Sorted(maps.Keys(claims)) {
			requests := claims[volume].Resources.Requests
			targets = append(targets, resources{title: "claim of volume " + volume, requests: requests, limits: requests, isClaim: true})
		}
	}
	return targets
}

// resourceNames returns the resources that have a limit.
func resourceNames(item *corev1.LimitRangeItem) map[corev1.ResourceName]bool {
	names := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{item.Min, item.Max, item.MaxLimitRequestRatio} {
		for name := range list {
			names[name] = true
		}
	}
	return names
}

// violations returns the limits that a part violates, by the rules of the API server's LimitRanger.
func (r *resources) violations(item *corev1.LimitRangeItem, name corev1.ResourceName) (texts []string) {
	request, hasRequest := r.requests[name]
	limit, hasLimit := r.limits[name]
	if minimum, isSet := item.Min[name]; isSet {
		switch {
		case !hasRequest:
			texts = append(texts, fmt.Sprintf("resource %s has no request, but a request of at least %s is required", name, minimum.String()))
		case request.Cmp(minimum) < 0:
			texts = append(texts, fmt.Sprintf("the request of resource %s is %s, but must be at least %s", name, request.String(), minimum.String()))
		case hasLimit && limit.Cmp(minimum) < 0:
			texts = append(texts, fmt.Sprintf("the limit of resource %s is %s, but must be at least %s", name, limit.String(), minimum.String()))
		}
	}
	noun := "limit"
	if r.isClaim {
		noun = "request"
	}
	if maximum, isSet := item.Max[name]; isSet {
		switch {
		case !hasLimit:
			texts = append(texts, fmt.Sprintf("resource %s has no %s, but a %s of at most %s is required", name, noun, noun, maximum.String()))
		case limit.Cmp(maximum) > 0:
			texts = append(texts, fmt.Sprintf("the %s of resource %s is %s, but may be at most %s", noun, name, limit.String(), maximum.String()))
		case hasRequest && request.Cmp(maximum) > 0:
			texts = append(texts, fmt.Sprintf("the request of resource %s is %s, but may be at most %s", name, request.String(), maximum.String()))
		}
	}
	if maxRatio, isSet := item.MaxLimitRequestRatio[name]; isSet && !r.isClaim {
		switch {
		case request.IsZero():
			texts = append(texts, fmt.Sprintf("resource %s has no request, but its limit may be at most %s times its request", name, maxRatio.String()))
		case limit.IsZero():
			texts = append(texts, fmt.Sprintf("resource %s has no limit, but a limit of at most %s times the request is required", name, maxRatio.String()))
		default:
			if ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64(); ratio > maxRatio.AsApproximateFloat64() {
				texts = append(texts, fmt.Sprintf("the limit of resource %s is %s times the request, but may be at most %s times", name, strconv.FormatFloat(ratio, 'g', 4, 64), maxRatio.String()))
			}
		}
	}
	return texts
}

// withDefaults returns a LimitRange with the defaults of the API server. A LimitRange from a file lacks them.
func withDefaults(limits *corev1.LimitRange) corev1.LimitRange {
	completed := *limits.DeepCopy()
	for i := range completed.Spec.Limits {
		item := &completed.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		item.Default = addMissing(item.Default, item.Max)
		item.DefaultRequest = addMissing(addMissing(item.DefaultRequest, item.Default), item.Min)
	}
	return completed
}

// newQuantity returns a number as a quantity.
func newQuantity(number int) resource.Quantity {
	return *resource.NewQuantity(int64(number), resource.DecimalSI)
}
