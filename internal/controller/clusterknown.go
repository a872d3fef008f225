// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"sync"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// clusterKnown is what is known of a ClusterVectorSidecar from one pass to the next. It may be lost:
// the passes of its namespaces report anew.
type clusterKnown struct {
	// isSpread is true once it was passed on. Only its own pass uses it.
	isSpread bool
	// writing is held by passes of namespaces that write to the status.
	writing sync.Mutex

	mu sync.Mutex
	// version is the one that was passed on to the namespaces last.
	version clusterVersion
	// unseen are the namespaces that have not reported since, and seen what the others reported.
	unseen map[string]bool
	seen   map[string]*status.InNamespace
	clusterParts
	clusterOwn

	// isChanged is true if a workload was written since the last status.
	isChanged bool
}

func newClusterKnown() *clusterKnown {
	return &clusterKnown{unseen: map[string]bool{}, seen: map[string]*status.InNamespace{}, clusterParts: newClusterParts(), clusterOwn: newClusterOwn()}
}

// isNew reports whether this version has not been passed on yet.
func (k *clusterKnown) isNew(cluster *v1alpha1.ClusterVectorSidecar) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version != versionOf(cluster)
}

// expect records that a version is passed on to namespaces.
func (k *clusterKnown) expect(cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = versionOf(cluster)
	for namespace := range namespaces {
		if k.seen[namespace] == nil {
			k.unseen[namespace] = true
		}
	}
}

// namespaces returns those that are known.
func (k *clusterKnown) namespaces() map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	namespaces := maps.Clone(k.unseen)
	for namespace := range k.seen {
		namespaces[namespace] = true
	}
	return namespaces
}

// statusIn returns the status in a namespace that was reported last, nil for none.
func (k *clusterKnown) statusIn(namespace string) *v1alpha1.VectorSidecarStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	if namespaceStatus := k.seen[namespace]; namespaceStatus != nil {
		return namespaceStatus.DeepCopy()
	}
	return nil
}

// report records what a pass over a namespace found.
func (k *clusterKnown) report(sidecar *v1alpha1.VectorSidecar, report *lastgood.Part, isChanged bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.unseen, sidecar.Namespace)
	k.seen[sidecar.Namespace] = &status.InNamespace{VectorSidecarStatus: *sidecar.Status.DeepCopy(), Trial: report.Trial, IsLeaving: sidecar.DeletionTimestamp != nil}
	k.own[sidecar.Namespace] = report
	k.isChanged = k.isChanged || isChanged
}

// leave records that there is nothing in a namespace.
func (k *clusterKnown) leave(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.unseen, namespace)
	delete(k.seen, namespace)
	delete(k.progress, namespace)
	delete(k.own, namespace)
}

// hasSeenAll reports whether all namespaces have reported that were to.
func (k *clusterKnown) hasSeenAll() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version.uid != "" && len(k.unseen) == 0
}

// isLeft reports whether there is nothing in any namespace.
func (k *clusterKnown) isLeft() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.unseen)+len(k.seen) == 0
}

// facts returns what the status follows from. What they hold must not be changed.
func (k *clusterKnown) facts(cluster *v1alpha1.ClusterVectorSidecar) status.ClusterFacts {
	k.mu.Lock()
	defer k.mu.Unlock()
	return status.ClusterFacts{
		Cluster: cluster, Namespaces: maps.Clone(k.seen), UnreportedNamespaces: len(k.unseen), Changed: k.isChanged, ReconcileRequest: askingOf(cluster), Waves: statusesOf(k.parts),
		Trial: lastgood.TrialOf(everywhere(cluster)),
	}
}

// told records that the last status says all that is known.
func (k *clusterKnown) told() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isChanged = false
}
