// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// clusterMemory is what is known of ClusterVectorSidecars from one pass to the next: the passes of their
// namespaces report to it. It requests the passes that are due.
type clusterMemory struct {
	// queue is set when the controller starts.
	queue queue

	mu    sync.Mutex
	known map[string]*clusterKnown
}

// statusDelay is how long what namespaces report is collected before the status is written.
const statusDelay = 500 * time.Millisecond

func newClusterMemory() *clusterMemory { return &clusterMemory{known: map[string]*clusterKnown{}} }

// setQueue is called when the controller starts.
func (m *clusterMemory) setQueue(_ context.Context, q queue) error {
	m.queue = q
	return nil
}

// of returns what is known of a ClusterVectorSidecar.
func (m *clusterMemory) of(name string) *clusterKnown {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[name] == nil {
		m.known[name] = newClusterKnown()
	}
	return m.known[name]
}

// drop drops a ClusterVectorSidecar that is gone. It returns what was known, nil for nothing.
func (m *clusterMemory) drop(name string) *clusterKnown {
	m.mu.Lock()
	defer m.mu.Unlock()
	clusterState := m.known[name]
	delete(m.known, name)
	return clusterState
}

// report records the status of a namespace after a pass. The status of the whole is written soon after.
func (m *clusterMemory) report(sidecar *v1alpha1.VectorSidecar, report *lastgood.Part, isChanged bool) {
	name := clusterOf(sidecar)
	m.of(name).report(sidecar, report, isChanged)
	m.queue.AddAfter(reconcile.Request{NamespacedName: clusterKey(name)}, statusDelay)
}

// leave records that nothing is left in a namespace, or that it is not there.
func (m *clusterMemory) leave(key types.NamespacedName) {
	name, isCluster := meta.ParseClusterName(key.Name)
	if !isCluster || key.Namespace == "" {
		return
	}
	m.mu.Lock()
	clusterState := m.known[name]
	m.mu.Unlock()
	if clusterState == nil {
		return
	}
	clusterState.leave(key.Namespace)
	m.queue.AddAfter(reconcile.Request{NamespacedName: clusterKey(name)}, statusDelay)
}
