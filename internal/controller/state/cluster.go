// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// Cluster is the cached state of a ClusterVectorSidecar. A restart loses it, and the reconciles of its
// namespaces report again.
type Cluster struct {
	mu sync.Mutex
	// version is the version of the ClusterVectorSidecar for which the namespaces were last requeued.
	version clusterVersion
	// awaitingReports has the namespaces that have not reported yet. reports has the reports of the other namespaces.
	awaitingReports map[string]bool
	reports         map[string]*lastgood.NamespaceStatus
	clusterWaves
	clusterSpecState

	// isChanged is true if a workload has been written after the last write of the status.
	isChanged bool
}

func newCluster() *Cluster {
	return &Cluster{awaitingReports: map[string]bool{}, reports: map[string]*lastgood.NamespaceStatus{}, clusterWaves: newClusterWaves(), clusterSpecState: newClusterSpecState()}
}

// IsNew reports whether the namespaces have not been requeued for this version yet.
func (c *Cluster) IsNew(cluster *v1alpha1.ClusterVectorSidecar) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version != newClusterVersion(cluster)
}

// Expect records the namespaces that are requeued for a version of the ClusterVectorSidecar. It reports whether it is the
// first version since the start of the process.
func (c *Cluster) Expect(cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool) (isFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isFirst = c.version.uid == ""
	c.version = newClusterVersion(cluster)
	for namespace := range namespaces {
		if c.reports[namespace] == nil {
			c.awaitingReports[namespace] = true
		}
	}
	return isFirst
}

// Namespaces returns all namespaces in the cached state.
func (c *Cluster) Namespaces() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespaces := maps.Clone(c.awaitingReports)
	for namespace := range c.reports {
		namespaces[namespace] = true
	}
	return namespaces
}

// StatusIn returns the last reported status of a namespace, nil for none.
func (c *Cluster) StatusIn(namespace string) *v1alpha1.VectorSidecarStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	if namespaceStatus := c.reports[namespace]; namespaceStatus != nil {
		return namespaceStatus.DeepCopy()
	}
	return nil
}

// report records the result of the reconcile of a namespace.
func (c *Cluster) report(sidecar *v1alpha1.VectorSidecar, report *lastgood.NamespaceReport, isChanged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.awaitingReports, sidecar.Namespace)
	c.reports[sidecar.Namespace] = &lastgood.NamespaceStatus{VectorSidecarStatus: *sidecar.Status.DeepCopy(), Trial: report.Attempt, IsLeaving: sidecar.DeletionTimestamp != nil}
	c.specReports[sidecar.Namespace] = report
	c.isChanged = c.isChanged || isChanged
}

// removeNamespace records that a namespace has no objects or fields of the ClusterVectorSidecar left.
func (c *Cluster) removeNamespace(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.awaitingReports, namespace)
	delete(c.reports, namespace)
	delete(c.progress, namespace)
	delete(c.specReports, namespace)
}

// IsReleased reports whether a namespace has no objects or fields left of a ClusterVectorSidecar that is being deleted.
func (c *Cluster) IsReleased(sidecar *v1alpha1.VectorSidecar) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version.isDeleting && c.version.uid == sidecar.UID && !c.awaitingReports[sidecar.Namespace] && c.reports[sidecar.Namespace] == nil
}

// HasAllReports reports whether all expected namespaces have reported.
func (c *Cluster) HasAllReports() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version.uid != "" && len(c.awaitingReports) == 0
}

// IsEmpty reports whether the cached state has no namespaces.
func (c *Cluster) IsEmpty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.awaitingReports)+len(c.reports) == 0
}

// ClusterReports are the reports of the namespaces of a ClusterVectorSidecar.
type ClusterReports struct {
	// Namespaces has the last status of each namespace. The statuses must not be changed.
	Namespaces map[string]*lastgood.NamespaceStatus
	// Unreported is the number of namespaces that have not reported yet.
	Unreported int
	// HasWritten is true if a workload has been written after the last write of the status.
	HasWritten bool
	// Waves are the rollout statuses of the waves.
	Waves []v1alpha1.RolloutStatus
}

// Reports returns the reports of the namespaces.
func (c *Cluster) Reports() ClusterReports {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ClusterReports{Namespaces: maps.Clone(c.reports), Unreported: len(c.awaitingReports), HasWritten: c.isChanged, Waves: RolloutStatuses(c.rollouts)}
}

// MarkStatusWritten records that the status is up to date.
func (c *Cluster) MarkStatusWritten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isChanged = false
}
