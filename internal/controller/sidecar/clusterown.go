// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// reportIn returns the report of the last reconcile of a namespace, nil for none.
func (k *cachedCluster) reportIn(namespace string) *lastgood.NamespaceReport {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.specReports[namespace]
}

// setReport replaces the report of a namespace.
func (k *cachedCluster) setReport(namespace string, report *lastgood.NamespaceReport) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.specReports[namespace] = report
}

// observeSpec adds up the progress of the namespaces with the spec. It returns the time at which the result changes
// without an event, zero for never.
func (k *cachedCluster) observeSpec(sidecar *v1alpha1.VectorSidecar, now time.Time) (lastgood.Observation, time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	reports := make(map[string]*lastgood.NamespaceReport, len(k.reports)+len(k.awaitingReports))
	for namespace := range k.awaitingReports {
		reports[namespace] = nil
	}
	for namespace, namespaceStatus := range k.reports {
		if !namespaceStatus.IsLeaving {
			reports[namespace] = k.specReports[namespace]
		}
	}
	return lastgood.SumReports(sidecar, reports, now)
}

// requestRevert records the request of a namespace to revert the spec.
func (k *cachedCluster) requestRevert(request *revertRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revert = request
}

// requestedRevert returns the requested revert of the current spec, nil for none.
func (k *cachedCluster) requestedRevert(cluster *v1alpha1.ClusterVectorSidecar) *revertRequest {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revert == nil || k.revert.Attempt != lastgood.NewAttempt(asVectorSidecar(cluster)) {
		return nil // The spec has changed, or has been reverted already.
	}
	return k.revert
}

// hasDropped reports whether the API server has dropped the last known good spec of this version.
func (k *cachedCluster) hasDropped(cluster *v1alpha1.ClusterVectorSidecar) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dropped == newClusterVersion(cluster)
}

// drop records that the API server has dropped the last known good spec of this version.
func (k *cachedCluster) drop(cluster *v1alpha1.ClusterVectorSidecar) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropped = newClusterVersion(cluster)
}
