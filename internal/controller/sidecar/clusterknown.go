// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"maps"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// cachedCluster is the cached state of a ClusterVectorSidecar. A restart loses it, and the reconciles of its
// namespaces report again.
type cachedCluster struct {
	// isSpread is true after the namespaces have been requeued for the first time. Only the reconcile of the
	// ClusterVectorSidecar itself uses it.
	isSpread bool

	mu sync.Mutex
	// version is the version of the ClusterVectorSidecar for which the namespaces were last requeued.
	version clusterVersion
	// awaitingReports has the namespaces that have not reported yet. reports has the reports of the other namespaces.
	awaitingReports map[string]bool
	reports         map[string]*status.InNamespace
	clusterWaves
	clusterSpecState

	// isChanged is true if a workload has been written after the last write of the status.
	isChanged bool
}

func newCachedCluster() *cachedCluster {
	return &cachedCluster{awaitingReports: map[string]bool{}, reports: map[string]*status.InNamespace{}, clusterWaves: newClusterWaves(), clusterSpecState: newClusterSpecState()}
}

// isNew reports whether the namespaces have not been requeued for this version yet.
func (k *cachedCluster) isNew(cluster *v1alpha1.ClusterVectorSidecar) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version != newClusterVersion(cluster)
}

// expect records the namespaces that are requeued for a version of the ClusterVectorSidecar.
func (k *cachedCluster) expect(cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = newClusterVersion(cluster)
	for namespace := range namespaces {
		if k.reports[namespace] == nil {
			k.awaitingReports[namespace] = true
		}
	}
}

// namespaces returns all namespaces in the cached state.
func (k *cachedCluster) namespaces() map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	namespaces := maps.Clone(k.awaitingReports)
	for namespace := range k.reports {
		namespaces[namespace] = true
	}
	return namespaces
}

// statusIn returns the last reported status of a namespace, nil for none.
func (k *cachedCluster) statusIn(namespace string) *v1alpha1.VectorSidecarStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	if namespaceStatus := k.reports[namespace]; namespaceStatus != nil {
		return namespaceStatus.DeepCopy()
	}
	return nil
}

// report records the result of the reconcile of a namespace.
func (k *cachedCluster) report(sidecar *v1alpha1.VectorSidecar, report *lastgood.NamespaceReport, isChanged bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.awaitingReports, sidecar.Namespace)
	k.reports[sidecar.Namespace] = &status.InNamespace{VectorSidecarStatus: *sidecar.Status.DeepCopy(), Trial: report.Attempt, IsLeaving: sidecar.DeletionTimestamp != nil}
	k.specReports[sidecar.Namespace] = report
	k.isChanged = k.isChanged || isChanged
}

// removeNamespace records that a namespace has no objects or fields of the ClusterVectorSidecar left.
func (k *cachedCluster) removeNamespace(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.awaitingReports, namespace)
	delete(k.reports, namespace)
	delete(k.progress, namespace)
	delete(k.specReports, namespace)
}

// isReleased reports whether a namespace has no objects or fields left of a ClusterVectorSidecar that is being deleted.
func (k *cachedCluster) isReleased(sidecar *v1alpha1.VectorSidecar) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version.isDeleting && k.version.uid == sidecar.UID && !k.awaitingReports[sidecar.Namespace] && k.reports[sidecar.Namespace] == nil
}

// hasAllReports reports whether all expected namespaces have reported.
func (k *cachedCluster) hasAllReports() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version.uid != "" && len(k.awaitingReports) == 0
}

// isEmpty reports whether the cached state has no namespaces.
func (k *cachedCluster) isEmpty() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.awaitingReports)+len(k.reports) == 0
}

// facts returns the input of the status. The caller must not change the objects in it.
func (k *cachedCluster) facts(cluster *v1alpha1.ClusterVectorSidecar) status.ClusterFacts {
	k.mu.Lock()
	defer k.mu.Unlock()
	return status.ClusterFacts{
		Cluster: cluster, Namespaces: maps.Clone(k.reports), UnreportedNamespaces: len(k.awaitingReports), Changed: k.isChanged, ReconcileRequest: reconcileRequestKey(cluster), Waves: rolloutStatuses(k.rollouts),
		Trial: lastgood.NewAttempt(asVectorSidecar(cluster)),
	}
}

// markStatusWritten records that the status is up to date.
func (k *cachedCluster) markStatusWritten() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isChanged = false
}
