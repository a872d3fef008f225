// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Clusters has the cached states of ClusterVectorSidecars. The reconciles of their namespaces report to it. It
// requests the reconciles that are due.
type Clusters struct {
	notifier *notify.Notifier

	mu       sync.Mutex
	clusters map[string]*Cluster
}

// statusDelay is the time for which reports of namespaces are collected before the status is written.
const statusDelay = 500 * time.Millisecond

// NewClusters returns empty Clusters that request reconciles through a Notifier.
func NewClusters(notifier *notify.Notifier) *Clusters {
	return &Clusters{notifier: notifier, clusters: map[string]*Cluster{}}
}

// StateFor returns the cached state of the ClusterVectorSidecar that a VectorSidecar stands for.
func (c *Clusters) StateFor(sidecar *v1alpha1.VectorSidecar) *Cluster {
	return c.GetOrCreate(clusterName(sidecar))
}

// GetOrCreate returns the cached state of a ClusterVectorSidecar, and creates it if it does not exist.
func (c *Clusters) GetOrCreate(name string) *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clusters[name] == nil {
		c.clusters[name] = newCluster()
	}
	return c.clusters[name]
}

// find returns the cached state of a ClusterVectorSidecar, nil if there is none.
func (c *Clusters) find(name string) *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clusters[name]
}

// Drop removes the cached state of a deleted ClusterVectorSidecar, and returns the namespaces in it.
func (c *Clusters) Drop(name string) (namespaces map[string]bool) {
	c.mu.Lock()
	clusterState := c.clusters[name]
	delete(c.clusters, name)
	c.mu.Unlock()
	if clusterState == nil {
		return nil
	}
	return clusterState.Namespaces()
}

// Report records the status of a namespace after a reconcile. The status of the ClusterVectorSidecar is written after
// statusDelay.
func (c *Clusters) Report(sidecar *v1alpha1.VectorSidecar, report *lastgood.NamespaceReport, isChanged bool) {
	name := clusterName(sidecar)
	c.GetOrCreate(name).report(sidecar, report, isChanged)
	c.notifier.NotifyAfter(statusDelay, clusterwide.ClusterKey(name))
}

// ReportRetry records that the reconcile of a namespace has failed and is retried. The status of the namespace stays.
func (c *Clusters) ReportRetry(sidecar *v1alpha1.VectorSidecar, report *lastgood.NamespaceReport) {
	name := clusterName(sidecar)
	c.GetOrCreate(name).setReport(sidecar.Namespace, report)
	c.notifier.NotifyAfter(statusDelay, clusterwide.ClusterKey(name))
}

// RequestRevert requests the revert of a ClusterVectorSidecar's spec, because workloads failed in a namespace.
func (c *Clusters) RequestRevert(sidecar *v1alpha1.VectorSidecar, reverted *v1alpha1.RevertedSpec, cause string) {
	name := clusterName(sidecar)
	c.GetOrCreate(name).requestRevert(&RevertRequest{Attempt: lastgood.NewAttempt(sidecar), Reverted: reverted, Cause: cause})
	c.notifier.Notify(clusterwide.ClusterKey(name))
}

// RequestStart requests that the status of a ClusterVectorSidecar records the start of the first rollouts in a wave.
func (c *Clusters) RequestStart(rollout *Rollout) {
	c.GetOrCreate(rollout.ClusterName).requestStart(rollout.Status.Wave, rollout.Status.Revision)
	c.notifier.Notify(clusterwide.ClusterKey(rollout.ClusterName))
}

// RemoveNamespace records that a namespace has no objects or fields of a ClusterVectorSidecar left, or does not exist.
func (c *Clusters) RemoveNamespace(key types.NamespacedName) {
	name, isCluster := meta.ParseClusterName(key.Name)
	if !isCluster || key.Namespace == "" {
		return
	}
	if clusterState := c.find(name); clusterState != nil {
		clusterState.removeNamespace(key.Namespace)
		c.notifier.NotifyAfter(statusDelay, clusterwide.ClusterKey(name))
	}
}

// clusterName returns the name of the ClusterVectorSidecar that a VectorSidecar stands for.
func clusterName(sidecar *v1alpha1.VectorSidecar) string {
	name, _ := meta.ParseClusterName(sidecar.Name)
	return name
}
