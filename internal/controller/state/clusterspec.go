// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// ReportIn returns the report of the last reconcile of a namespace, nil for none.
func (c *Cluster) ReportIn(namespace string) *lastgood.NamespaceReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.specReports[namespace]
}

// setReport replaces the report of a namespace.
func (c *Cluster) setReport(namespace string, report *lastgood.NamespaceReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.specReports[namespace] = report
}

// ObserveSpec adds up the progress of the namespaces with the spec. It returns the time at which the result changes
// without an event, zero for never.
func (c *Cluster) ObserveSpec(sidecar *v1alpha1.VectorSidecar, now time.Time) (lastgood.Observation, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reports := make(map[string]*lastgood.NamespaceReport, len(c.reports)+len(c.awaitingReports))
	for namespace := range c.awaitingReports {
		reports[namespace] = nil
	}
	for namespace, namespaceStatus := range c.reports {
		if !namespaceStatus.IsLeaving {
			reports[namespace] = c.specReports[namespace]
		}
	}
	return lastgood.SumReports(sidecar, reports, now)
}

// requestRevert records the request of a namespace to revert the spec.
func (c *Cluster) requestRevert(request *RevertRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revert = request
}

// RequestedRevert returns the requested revert of the current spec, nil for none. It drops a request if the spec has
// changed, has been reverted, or if the status has no last known good spec anymore.
func (c *Cluster) RequestedRevert(cluster *v1alpha1.ClusterVectorSidecar) *RevertRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revert != nil && (c.revert.Attempt != lastgood.NewAttempt(clusterwide.NewSidecarWithoutNamespace(cluster)) || cluster.Status.LastKnownGood == nil) {
		c.revert = nil
	}
	return c.revert
}

// HasDropped reports whether the API server has dropped the last known good spec of this version.
func (c *Cluster) HasDropped(cluster *v1alpha1.ClusterVectorSidecar) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped == newClusterVersion(cluster)
}

// MarkDropped records that the API server has dropped the last known good spec of this version.
func (c *Cluster) MarkDropped(cluster *v1alpha1.ClusterVectorSidecar) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = newClusterVersion(cluster)
}
