// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package state stores the controller's state of each VectorSidecar between reconciles: expected cache content,
// rejections, check results and the times of retries. Callers record the results of their reads and writes. The package
// makes no API calls. The state may be lost at any time, because the controller can rebuild it from the cluster.
package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// Memory stores the state of all VectorSidecars. Create it with New. It is safe for concurrent use.
type Memory struct {
	*shared

	sidecars map[types.NamespacedName]*Sidecar
	// conflicts are by reconcile request, which may also name a ClusterVectorSidecar.
	conflicts map[types.NamespacedName]conflicts
}

// Sidecar is the state of one VectorSidecar.
type Sidecar struct {
	resync
	references
	expectations
	verdicts
	trials
	podLooks
	statusLimiter
	lastDecision
}

// New returns an empty Memory.
func New(clock func() time.Time) *Memory {
	return &Memory{
		shared:   &shared{now: clock, writers: index[types.UID]{}, referrers: index[types.NamespacedName]{}, previous: bounded.NewStore[*previous](mostPrevious)},
		sidecars: map[types.NamespacedName]*Sidecar{}, conflicts: map[types.NamespacedName]conflicts{},
	}
}

// Of returns the state of a VectorSidecar. Memory stores it until Forget.
func (m *Memory) Of(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.sidecars[name]
	if sidecarState == nil {
		sidecarState = m.empty(name)
		m.sidecars[name] = sidecarState
	}
	return sidecarState
}

// Peek returns the state of a VectorSidecar like Of, but does not store a new state. A dry run uses it because its
// VectorSidecar may not exist.
func (m *Memory) Peek(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sidecarState := m.sidecars[name]; sidecarState != nil {
		return sidecarState
	}
	return m.empty(name)
}

func (m *Memory) empty(name types.NamespacedName) *Sidecar {
	shared := m.shared
	return &Sidecar{
		resync:        resync{shared: shared},
		references:    references{shared: shared, name: name, configMaps: map[string]bool{}},
		expectations:  expectations{shared: shared, name: name, all: map[types.UID]*expectation{}},
		verdicts:      verdicts{shared: shared, byKey: map[string]dated{}},
		trials:        trials{shared: shared, byShape: map[preflight.Key]tried{}, forgotten: map[string]string{}},
		podLooks:      podLooks{shared: shared, byWorkload: map[types.UID]podLook{}},
		statusLimiter: newStatusLimiter(shared),
		lastDecision:  lastDecision{shared: shared, name: name},
	}
}

// Forget drops the state of a VectorSidecar. It returns the ConfigMaps that no VectorSidecar depends on anymore.
func (m *Memory) Forget(name types.NamespacedName) (unused []types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conflicts, name)
	sidecarState := m.sidecars[name]
	if sidecarState == nil {
		return nil
	}
	for target := range sidecarState.all {
		m.writers.remove(target, name)
	}
	unused = sidecarState.unreferenced(nil)
	m.forgetPrevious(name)
	delete(m.sidecars, name)
	return unused
}

// Referrers returns the VectorSidecars with a last decision that depends on a ConfigMap. An index over VectorSidecars
// cannot find them, because the ConfigMap names may come from an environment's values and from templates.
func (m *Memory) Referrers(configMap types.NamespacedName) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.referrers.names(configMap)
}

// Writers returns the VectorSidecars that have tried to write a workload.
func (m *Memory) Writers(target types.UID) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writers.names(target)
}

// IsAwaited reports whether every change of a workload matters, because an attempt to write it has missed.
func (m *Memory) IsAwaited(target types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.writers[target] {
		if m.sidecars[name].isAwaited(target) {
			return true
		}
	}
	return false
}
