// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// clusterCache has the cached states of ClusterVectorSidecars. The reconciles of their namespaces report to it. It
// requests the reconciles that are due.
type clusterCache struct {
	notifier *notify.Notifier

	mu       sync.Mutex
	clusters map[string]*cachedCluster
}

// statusDelay is the time for which reports of namespaces are collected before the status is written.
const statusDelay = 500 * time.Millisecond

func newClusterCache(notifier *notify.Notifier) *clusterCache {
	return &clusterCache{notifier: notifier, clusters: map[string]*cachedCluster{}}
}

// getOrCreate returns the cached state of a ClusterVectorSidecar, and creates it if it does not exist.
func (m *clusterCache) getOrCreate(name string) *cachedCluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters[name] == nil {
		m.clusters[name] = newCachedCluster()
	}
	return m.clusters[name]
}

// find returns the cached state of a ClusterVectorSidecar, nil if there is none.
func (m *clusterCache) find(name string) *cachedCluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusters[name]
}

// drop removes the cached state of a deleted ClusterVectorSidecar, and returns it, nil if there was none.
func (m *clusterCache) drop(name string) *cachedCluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	clusterState := m.clusters[name]
	delete(m.clusters, name)
	return clusterState
}

// report records the status of a namespace after a reconcile. The status of the ClusterVectorSidecar is written after
// statusDelay.
func (m *clusterCache) report(sidecar *v1alpha1.VectorSidecar, report *lastgood.NamespaceReport, isChanged bool) {
	name := clusterName(sidecar)
	m.getOrCreate(name).report(sidecar, report, isChanged)
	m.notifier.NotifyAfter(statusDelay, sidecarcache.ClusterKey(name))
}

// requestRevert requests the revert of a ClusterVectorSidecar's spec, because workloads failed in a namespace.
func (m *clusterCache) requestRevert(sidecar *v1alpha1.VectorSidecar, reverted *v1alpha1.RevertedSpec, cause string) {
	name := clusterName(sidecar)
	m.getOrCreate(name).requestRevert(&revertRequest{Attempt: lastgood.NewAttempt(sidecar), reverted: reverted, cause: cause})
	m.notifier.Notify(sidecarcache.ClusterKey(name))
}

// requestStart requests that the status of a ClusterVectorSidecar records the start of the first rollouts in a wave.
func (m *clusterCache) requestStart(rollout *waveRollout) {
	m.getOrCreate(rollout.clusterName).requestStart(rollout.Status.Wave, rollout.Status.Revision)
	m.notifier.Notify(sidecarcache.ClusterKey(rollout.clusterName))
}

// removeNamespace records that a namespace has no objects or fields of a ClusterVectorSidecar left, or does not exist.
func (m *clusterCache) removeNamespace(key types.NamespacedName) {
	name, isCluster := meta.ParseClusterName(key.Name)
	if !isCluster || key.Namespace == "" {
		return
	}
	if clusterState := m.find(name); clusterState != nil {
		clusterState.removeNamespace(key.Namespace)
		m.notifier.NotifyAfter(statusDelay, sidecarcache.ClusterKey(name))
	}
}
