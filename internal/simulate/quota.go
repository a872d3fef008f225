// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubectl/pkg/util/qos"
)

// QuotaForecast is what would be used of one resource of a ResourceQuota.
type QuotaForecast struct {
	Namespace string              `json:"namespace"`
	Name      string              `json:"name"`
	Resource  corev1.ResourceName `json:"resource"`
	Hard      resource.Quantity   `json:"hard"`
	// Used is what is used now, After when all pods are replaced, and Peak at most in between: when
	// old and new pods of the workloads of a turn run side by side.
	Used  resource.Quantity `json:"used"`
	After resource.Quantity `json:"after"`
	Peak  resource.Quantity `json:"peak"`
	// Missing is the first container without this resource: the quota would refuse its pods.
	Missing string `json:"missing,omitempty"`
}

// IsShort reports whether pods would be refused.
func (f *QuotaForecast) IsShort() bool { return f.Missing != "" || f.Peak.Cmp(f.Hard) > 0 }

// quotaOf returns what changes for a ResourceQuota.
func quotaOf(quota *corev1.ResourceQuota, exchanges []exchange) (found []QuotaForecast) {
	for _, name := range slices.Sorted(maps.Keys(quota.Status.Hard)) {
		one := QuotaForecast{
			Namespace: quota.Namespace, Name: quota.Name, Resource: name, Hard: quota.Status.Hard[name], Used: quota.Status.Used[name],
		}
		one.After, one.Peak = one.Used.DeepCopy(), one.Used.DeepCopy()
		for _, turn := range turnsOf(exchanges) {
			beside := resource.Quantity{}
			for _, e := range turn {
				was, is := usageOf(e.was, quota, name), usageOf(e.is, quota, name)
				one.After.Add(times(is, e.Pods))
				one.After.Sub(times(was, e.Pods))
				beside.Add(times(is, surgeOf(e.After)))
				if one.Missing == "" && isCounted(e.is, quota) {
					one.Missing = lacksOf(e, name)
				}
			}
			beside.Add(one.After)
			if beside.Cmp(one.Peak) > 0 {
				one.Peak = beside
			}
		}
		if one.After.Cmp(one.Used) != 0 || one.Missing != "" {
			found = append(found, one)
		}
	}
	return found
}

// turnsOf groups exchanges by their turn.
func turnsOf(exchanges []exchange) [][]exchange {
	byTurn := map[int][]exchange{}
	for _, one := range exchanges {
		byTurn[one.Turn] = append(byTurn[one.Turn], one)
	}
	var all [][]exchange
	for _, turn := range slices.Sorted(maps.Keys(byTurn)) {
		all = append(all, byTurn[turn])
	}
	return all
}

// usageOf returns what a pod uses of a resource of a quota, 0 if the quota does not count it.
func usageOf(pod *corev1.Pod, quota *corev1.ResourceQuota, name corev1.ResourceName) resource.Quantity {
	if !isCounted(pod, quota) {
		return resource.Quantity{}
	}
	if name == corev1.ResourcePods {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	return countedIn(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}), resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}))[name]
}

// countedIn returns requests and limits under the names that quotas have for them.
func countedIn(requests, limits corev1.ResourceList) corev1.ResourceList {
	counted := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if request, is := requests[name]; is {
			counted[name], counted["requests."+name] = request, request
		}
		if limit, is := limits[name]; is {
			counted["limits."+name] = limit
		}
	}
	return counted
}

// lacksOf returns the first container that is new in a pod and has none of a resource that a quota
// wants each container to have, "" if there is none.
func lacksOf(of exchange, name corev1.ResourceName) string {
	wanted := []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	}
	if !slices.Contains(wanted, name) {
		return ""
	}
	before := slices.Concat(of.was.Spec.InitContainers, of.was.Spec.Containers)
	for _, container := range slices.Concat(of.is.Spec.InitContainers, of.is.Spec.Containers) {
		isOld := slices.ContainsFunc(before, func(c corev1.Container) bool { return c.Name == container.Name })
		if _, has := countedIn(container.Resources.Requests, container.Resources.Limits)[name]; !has && !isOld {
			return container.Name
		}
	}
	return ""
}

// isCounted reports whether a quota's scopes include a pod. A scope that does not depend on what a
// sidecar changes is taken to, so that the quota is not overlooked.
func isCounted(pod *corev1.Pod, quota *corev1.ResourceQuota) bool {
	scopes := slices.Clone(quota.Spec.Scopes)
	if quota.Spec.ScopeSelector != nil {
		for _, term := range quota.Spec.ScopeSelector.MatchExpressions {
			if term.ScopeName == corev1.ResourceQuotaScopePriorityClass && !isOfPriority(pod, &term) {
				return false
			}
			scopes = append(scopes, term.ScopeName)
		}
	}
	isBestEffort, ends := qos.ComputePodQOS(pod) == corev1.PodQOSBestEffort, pod.Spec.ActiveDeadlineSeconds != nil
	for _, scope := range scopes {
		is, known := map[corev1.ResourceQuotaScope]bool{
			corev1.ResourceQuotaScopeBestEffort: isBestEffort, corev1.ResourceQuotaScopeNotBestEffort: !isBestEffort,
			corev1.ResourceQuotaScopeTerminating: ends, corev1.ResourceQuotaScopeNotTerminating: !ends,
		}[scope]
		if known && !is {
			return false
		}
	}
	return true
}

func isOfPriority(pod *corev1.Pod, term *corev1.ScopedResourceSelectorRequirement) bool {
	class := pod.Spec.PriorityClassName
	switch term.Operator {
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(term.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(term.Values, class)
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	default:
		return class != ""
	}
}
