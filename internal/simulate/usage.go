// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Resources of quotas that count objects.
const (
	countPods                corev1.ResourceName = "count/pods"
	countClaims              corev1.ResourceName = "count/persistentvolumeclaims"
	countReplicaSets         corev1.ResourceName = "count/replicasets.apps"
	countControllerRevisions corev1.ResourceName = "count/controllerrevisions.apps"
	countSidecars            corev1.ResourceName = "count/vectorsidecars.observability.kontroloop.ai"

	ofStorageClass = ".storageclass.storage.k8s.io/"
)

// configMapNames are the resources of quotas that count ConfigMaps.
var configMapNames = []corev1.ResourceName{corev1.ResourceConfigMaps, "count/configmaps"}

// quotaUsage returns the use that a quota reports, or else the use by the workloads and objects that were read.
func quotaUsage(quota *corev1.ResourceQuota, name corev1.ResourceName, surroundings *Surroundings) resource.Quantity {
	if used, isReported := quota.Status.Used[name]; isReported {
		return used
	}
	var used resource.Quantity
	for _, object := range surroundings.Workloads {
		if object.GetNamespace() != quota.Namespace {
			continue
		}
		content, _ := workload.Read(object)
		used.Add(multiplyQuantity(podUsage(podFor(object, surroundings.LimitRanges), quota, name), int(content.Pods)))
		if count, total := revisionCount(object); count == name && !isScoped(quota) {
			used.Add(newQuantity(total))
		}
	}
	if !isScoped(quota) {
		used.Add(newQuantity(surroundings.Existing[quota.Namespace].countMatching(name)))
	}
	return used
}

// podUsage returns the use of a resource of a quota by a pod, 0 if the quota does not count the pod.
func podUsage(pod *corev1.Pod, quota *corev1.ResourceQuota, name corev1.ResourceName) resource.Quantity {
	if isClaimResource(name) {
		if isScoped(quota) {
			return resource.Quantity{}
		}
		return claimUsage(pod)[name]
	}
	if !isCounted(pod, quota) {
		return resource.Quantity{}
	}
	if name == corev1.ResourcePods || name == countPods {
		return newQuantity(1)
	}
	return countedResources(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}), resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}))[name]
}

// countedResources returns requests and limits by the resource names of quotas.
func countedResources(requests, limits corev1.ResourceList) corev1.ResourceList {
	counted := corev1.ResourceList{}
	for name, request := range requests {
		counted["requests."+name] = request
		if isNative(name) || isHugePages(name) {
			counted[name] = request
		}
	}
	for name, limit := range limits {
		if isNative(name) {
			counted["limits."+name] = limit
		}
	}
	return counted
}

// isNative reports whether a resource is CPU, memory or ephemeral storage.
func isNative(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// isHugePages reports whether a resource is huge pages of some size.
func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// claimUsage returns the use by the ephemeral volumes of a pod, by the resource names of quotas.
func claimUsage(pod *corev1.Pod) corev1.ResourceList {
	counted := corev1.ResourceList{}
	add := func(name corev1.ResourceName, quantity resource.Quantity) {
		sum := counted[name]
		sum.Add(quantity)
		counted[name] = sum
	}
	for _, claim := range ephemeralClaims(pod) {
		count, storage := newQuantity(1), claim.Resources.Requests[corev1.ResourceStorage]
		add(corev1.ResourcePersistentVolumeClaims, count)
		add(countClaims, count)
		add(corev1.ResourceRequestsStorage, storage)
		if class := claim.StorageClassName; class != nil && *class != "" {
			add(corev1.ResourceName(*class+ofStorageClass)+corev1.ResourcePersistentVolumeClaims, count)
			add(corev1.ResourceName(*class+ofStorageClass)+corev1.ResourceRequestsStorage, storage)
		}
	}
	return counted
}

// ephemeralClaims returns the claims of the ephemeral volumes of a pod, by the names of the volumes.
func ephemeralClaims(pod *corev1.Pod) map[string]*corev1.PersistentVolumeClaimSpec {
	claims := map[string]*corev1.PersistentVolumeClaimSpec{}
	for i := range pod.Spec.Volumes {
		if volume := &pod.Spec.Volumes[i]; volume.Ephemeral != nil && volume.Ephemeral.VolumeClaimTemplate != nil {
			claims[volume.Name] = &volume.Ephemeral.VolumeClaimTemplate.Spec
		}
	}
	return claims
}

// isClaimResource reports whether a resource of a quota counts PersistentVolumeClaims or their storage.
func isClaimResource(name corev1.ResourceName) bool {
	return name == corev1.ResourcePersistentVolumeClaims || name == countClaims || name == corev1.ResourceRequestsStorage ||
		strings.Contains(string(name), ofStorageClass)
}

// missingContainer returns the first container without a resource that a quota requires of each container, "" if all
// containers have it.
func missingContainer(pod *corev1.Pod, name corev1.ResourceName) string {
	required := []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	}
	if !slices.Contains(required, name) {
		return ""
	}
	if resourcehelper.IsPodLevelResourcesSet(pod) {
		return ""
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if _, ok := countedResources(container.Resources.Requests, container.Resources.Limits)[name]; !ok {
			return container.Name
		}
	}
	return ""
}

// defaultHistory is the revisionHistoryLimit of a workload that does not set it.
const defaultHistory = 10

// revisionGrowth returns the resource of quotas that counts the revisions of a workload, and the number of additional
// revisions after a rollout: 0 or 1. The resource is "" for a workload that gets no new revision.
func revisionGrowth(e *exchange) (count corev1.ResourceName, added int) {
	content, _ := workload.Read(e.replacement.Before)
	count, oldTotal := revisionCount(e.replacement.Before)
	if content.Paused || e.isReturn {
		return "", 0
	}
	return count, min(oldTotal, historyLimit(e.replacement.Before)) + 1 - oldTotal
}

// revisionCount returns the resource of quotas that counts the revisions of a workload, and their number: the current
// revision and the revisions of its history.
func revisionCount(object workload.Object) (count corev1.ResourceName, total int) {
	ref := workload.NewRef(object)
	revisions := ref.Adapter().Revisions
	if revisions == nil {
		return "", 0
	}
	count = countReplicaSets
	if revisions.Plural == "ControllerRevisions" {
		count = countControllerRevisions
	}
	number := 1
	for _, annotation := range []string{"deployment.kubernetes.io/revision", "rollout.argoproj.io/revision"} {
		if n, err := strconv.Atoi(object.GetAnnotations()[annotation]); err == nil {
			number = max(n, 1)
		}
	}
	return count, min(number, historyLimit(object)+1)
}

// historyLimit returns the number of old revisions that a workload keeps.
func historyLimit(object workload.Object) int {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return defaultHistory
	}
	if limit, isSet, err := unstructured.NestedInt64(content, "spec", "revisionHistoryLimit"); err == nil && isSet {
		return int(limit)
	}
	return defaultHistory
}
