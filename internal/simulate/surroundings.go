// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Surroundings are the objects that limit pods and other objects, or scale workloads by their requests. For a quota
// without a status, such as a quota from a file, the use is counted from Workloads and Existing.
type Surroundings struct {
	Quotas      []corev1.ResourceQuota
	LimitRanges []corev1.LimitRange
	Autoscalers []autoscalingv2.HorizontalPodAutoscaler
	Workloads   []workload.Object
	// Revisions are the ReplicaSets and ControllerRevisions of namespaces with a quota that counts them.
	Revisions []workload.Object
	// Existing are the objects that exist, by namespace.
	Existing map[string]Objects
}

// Objects are the numbers of a namespace's objects that are neither pods nor created for workloads.
type Objects struct{ ConfigMaps, VectorSidecars int }

// countMatching returns the number of objects that a resource of a quota counts.
func (o Objects) countMatching(name corev1.ResourceName) int {
	switch {
	case slices.Contains(configMapNames, name):
		return o.ConfigMaps
	case name == countSidecars:
		return o.VectorSidecars
	}
	return 0
}

// Add adds a ResourceQuota, LimitRange or HorizontalPodAutoscaler, or replaces the object with the same name. The use
// that the replaced quota reports is kept.
func (s *Surroundings) Add(object metav1.Object) {
	switch o := object.(type) {
	case *corev1.ResourceQuota:
		quota := *o
		if i := findIndex(s.Quotas, o); i >= 0 {
			quota.Status.Used = s.Quotas[i].Status.Used
		}
		s.Quotas = putObject(s.Quotas, quota)
	case *corev1.LimitRange:
		s.LimitRanges = putObject(s.LimitRanges, withDefaults(o))
	case *autoscalingv2.HorizontalPodAutoscaler:
		scaler := *o
		if len(scaler.Spec.Metrics) == 0 { // The API server's default.
			target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](80)}
			scaler.Spec.Metrics = []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target},
			}}
		}
		s.Autoscalers = putObject(s.Autoscalers, scaler)
	}
}

// object is a pointer to a type of objects.
type object[T any] interface {
	*T
	metav1.Object
}

// putObject adds an item to a list, or replaces the item with the same namespace and name.
func putObject[T any, P object[T]](list []T, item T) []T {
	if i := findIndex[T, P](list, &item); i >= 0 {
		list[i] = item
		return list
	}
	return append(list, item)
}

// findIndex returns the index of the item with the same namespace and name, -1 if the list has no such item.
func findIndex[T any, P object[T]](list []T, target P) int {
	return slices.IndexFunc(list, func(item T) bool {
		return P(&item).GetNamespace() == target.GetNamespace() && P(&item).GetName() == target.GetName()
	})
}
