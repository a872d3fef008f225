// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/qos"
)

// isScoped reports whether a quota counts only pods or claims of some scopes, and no other objects.
func isScoped(quota *corev1.ResourceQuota) bool {
	return len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil && len(quota.Spec.ScopeSelector.MatchExpressions) > 0
}

// isCounted reports whether the scopes of a quota include a pod.
func isCounted(pod *corev1.Pod, quota *corev1.ResourceQuota) bool {
	for _, scope := range quota.Spec.Scopes {
		if !isInScope(pod, scope) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	return !slices.ContainsFunc(quota.Spec.ScopeSelector.MatchExpressions, func(term corev1.ScopedResourceSelectorRequirement) bool {
		if term.ScopeName == corev1.ResourceQuotaScopePriorityClass {
			return !hasPriority(pod, &term)
		}
		return !isInScope(pod, term.ScopeName)
	})
}

// isInScope reports whether a scope includes a pod.
func isInScope(pod *corev1.Pod, scope corev1.ResourceQuotaScope) bool {
	isBestEffort, hasDeadline := qos.ComputePodQOS(pod) == corev1.PodQOSBestEffort, pod.Spec.ActiveDeadlineSeconds != nil
	switch scope {
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort
	case corev1.ResourceQuotaScopeTerminating:
		return hasDeadline
	case corev1.ResourceQuotaScopeNotTerminating:
		return !hasDeadline
	case corev1.ResourceQuotaScopePriorityClass:
		return pod.Spec.PriorityClassName != ""
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return hasCrossNamespaceAffinity(pod)
	}
	return false // Such as the scope of volumes.
}

// hasPriority reports whether the priority class of a pod matches a term of a scope selector.
func hasPriority(pod *corev1.Pod, term *corev1.ScopedResourceSelectorRequirement) bool {
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

// hasCrossNamespaceAffinity reports whether an affinity term of a pod selects pods of other namespaces.
func hasCrossNamespaceAffinity(pod *corev1.Pod) bool {
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	var weighted []corev1.WeightedPodAffinityTerm
	if podAffinity := affinity.PodAffinity; podAffinity != nil {
		terms, weighted = append(terms, podAffinity.RequiredDuringSchedulingIgnoredDuringExecution...), append(weighted, podAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if podAntiAffinity := affinity.PodAntiAffinity; podAntiAffinity != nil {
		terms, weighted = append(terms, podAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...), append(weighted, podAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	for i := range weighted {
		terms = append(terms, weighted[i].PodAffinityTerm)
	}
	return slices.ContainsFunc(terms, func(term corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	})
}
