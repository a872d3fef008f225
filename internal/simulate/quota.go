// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QuotaForecast is the predicted use of one resource of a ResourceQuota.
type QuotaForecast struct {
	Namespace string              `json:"namespace"`
	Name      string              `json:"name"`
	Resource  corev1.ResourceName `json:"resource"`
	Hard      resource.Quantity   `json:"hard"`
	// Used is the current use. After is the use when all pods are replaced. Peak is the maximum in between, when old
	// and new pods of the workloads of a batch run at the same time.
	Used  resource.Quantity `json:"used"`
	After resource.Quantity `json:"after"`
	Peak  resource.Quantity `json:"peak"`
	// Missing is the first container without this resource: the quota would reject its pods.
	Missing string `json:"missing,omitempty"`
	// Short is true if the quota would reject an object because its hard limit is too low.
	Short bool `json:"short,omitempty"`
}

// Rejects reports whether the quota would reject an object.
func (f *QuotaForecast) Rejects() bool { return f.Missing != "" || f.Short }

// Objects returns the plural of the objects that the quota counts, such as pods.
func (f *QuotaForecast) Objects() string { return countedObjects(f.Resource) }

// countedObjects returns the plural of the objects that a resource of a quota counts.
func countedObjects(name corev1.ResourceName) string {
	switch {
	case name == countReplicaSets:
		return "ReplicaSets"
	case name == countControllerRevisions:
		return "ControllerRevisions"
	case slices.Contains(configMapNames, name):
		return "ConfigMaps"
	case name == countSidecars:
		return "VectorSidecars"
	case isClaimResource(name):
		return "PersistentVolumeClaims"
	}
	return "pods"
}

// forecastQuota returns the resources of a quota with a use that the changes of a namespace increase or decrease, or that
// reject an object.
func forecastQuota(quota *corev1.ResourceQuota, exchanges []exchange, created Objects, surroundings *Surroundings) (forecasts []QuotaForecast) {
	hard := quota.Spec.Hard // The status of a quota in a file may be missing or old.
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		forecast := QuotaForecast{Namespace: quota.Namespace, Name: quota.Name, Resource: name, Hard: hard[name], Used: quotaUsage(quota, name, surroundings)}
		forecast.After, forecast.Peak = forecast.Used.DeepCopy(), forecast.Used.DeepCopy()
		if number := created.countMatching(name); number > 0 && !isScoped(quota) { // The objects are created before the first batch.
			forecast.After.Add(newQuantity(number))
			forecast.recordUse(forecast.After)
		}
		for _, batch := range groupByBatch(exchanges) {
			forecast.addBatch(quota, batch)
		}
		if forecast.After.Cmp(forecast.Used) != 0 || forecast.Rejects() {
			forecasts = append(forecasts, forecast)
		}
	}
	return forecasts
}

// addBatch adds the pods and revisions of the workloads of a batch.
func (f *QuotaForecast) addBatch(quota *corev1.ResourceQuota, batch []exchange) {
	var peak resource.Quantity
	isUsed := false
	for _, e := range batch {
		if revisions, added := revisionGrowth(&e); revisions == f.Resource && !isScoped(quota) {
			f.After.Add(newQuantity(added))
			peak.Add(newQuantity(1 - added)) // The oldest revision is removed last.
			isUsed = true
		}
		oldUsage, newUsage := podUsage(e.oldPod, quota, f.Resource), podUsage(e.newPod, quota, f.Resource)
		f.After.Add(multiplyQuantity(newUsage, e.replacement.Pods))
		f.After.Sub(multiplyQuantity(oldUsage, e.replacement.Pods))
		peak.Add(multiplyQuantity(newUsage, surgePods(e.replacement.After)))
		isUsed = isUsed || !newUsage.IsZero() && e.replacement.Pods > 0
		if f.Missing == "" && e.replacement.Pods > 0 && isCounted(e.newPod, quota) {
			f.Missing = missingContainer(e.newPod, f.Resource)
		}
	}
	peak.Add(f.After)
	if isUsed {
		f.recordUse(peak)
	}
}

// recordUse records the use at the creation of an object.
func (f *QuotaForecast) recordUse(use resource.Quantity) {
	if use.Cmp(f.Peak) > 0 {
		f.Peak = use.DeepCopy()
	}
	f.Short = f.Short || use.Cmp(f.Hard) > 0
}

// groupByBatch returns the exchanges of each batch, in the order of the batches. A batch replaces its pods at the same time.
func groupByBatch(exchanges []exchange) [][]exchange {
	byBatch := map[int][]exchange{}
	for _, e := range exchanges {
		byBatch[e.replacement.Batch] = append(byBatch[e.replacement.Batch], e)
	}
	var batches [][]exchange
	for _, batch := range slices.Sorted(maps.Keys(byBatch)) {
		batches = append(batches, byBatch[batch])
	}
	return batches
}
