// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// clusterStatuses caches the last written statuses of ClusterVectorSidecars until the informer cache has them,
// because the reconciles of all namespaces follow the written status.
type clusterStatuses struct {
	mu   sync.Mutex
	last map[string]*v1alpha1.ClusterVectorSidecar
}

func newClusterStatuses() *clusterStatuses {
	return &clusterStatuses{last: map[string]*v1alpha1.ClusterVectorSidecar{}}
}

// written records the status of a ClusterVectorSidecar after a write.
func (s *clusterStatuses) written(cluster *v1alpha1.ClusterVectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cached := &v1alpha1.ClusterVectorSidecar{Status: *cluster.Status.DeepCopy()}
	cached.UID, cached.ResourceVersion = cluster.UID, cluster.ResourceVersion
	s.last[cluster.Name] = cached
}

// catchUp replaces the status of a ClusterVectorSidecar from the cache by the last written status, if the cache does
// not have that status yet.
func (s *clusterStatuses) catchUp(cluster *v1alpha1.ClusterVectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cached := s.last[cluster.Name]
	if cached == nil {
		return
	}
	if cached.UID != cluster.UID || !workloadcache.IsOlder(cluster.ResourceVersion, cached.ResourceVersion) {
		delete(s.last, cluster.Name)
		return
	}
	cached.Status.DeepCopyInto(&cluster.Status)
	cluster.ResourceVersion = cached.ResourceVersion
}

// forget drops a deleted ClusterVectorSidecar.
func (s *clusterStatuses) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, name)
}
