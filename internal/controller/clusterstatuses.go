// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// clusterStatuses are the statuses of ClusterVectorSidecars that were written last, until the cache shows
// later ones: the passes of all namespaces go by what is written.
type clusterStatuses struct {
	mu   sync.Mutex
	last map[string]*v1alpha1.ClusterVectorSidecar
}

func newClusterStatuses() *clusterStatuses {
	return &clusterStatuses{last: map[string]*v1alpha1.ClusterVectorSidecar{}}
}

// written records a ClusterVectorSidecar after a write of its status.
func (s *clusterStatuses) written(cluster *v1alpha1.ClusterVectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &v1alpha1.ClusterVectorSidecar{Status: *cluster.Status.DeepCopy()}
	last.UID, last.ResourceVersion = cluster.UID, cluster.ResourceVersion
	s.last[cluster.Name] = last
}

// catchUp gives a copy of a ClusterVectorSidecar from the cache the status written last, if the cache does
// not show that yet.
func (s *clusterStatuses) catchUp(cluster *v1alpha1.ClusterVectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last[cluster.Name]
	if last == nil {
		return
	}
	if last.UID != cluster.UID || !workloadcache.IsOlder(cluster.ResourceVersion, last.ResourceVersion) {
		delete(s.last, cluster.Name)
		return
	}
	last.Status.DeepCopyInto(&cluster.Status)
	cluster.ResourceVersion = last.ResourceVersion
}

// forget drops a ClusterVectorSidecar that is gone.
func (s *clusterStatuses) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, name)
}
