// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is what the controller remembers of VectorSidecars from one pass to the next: what
// it expects the cache to show, what was refused, when to requeue. It reads and writes nothing, and
// may be lost at any time: the rest is in the cluster.
package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// Memory holds the state of all VectorSidecars. Make one with New. It is safe for concurrent use.
type Memory struct {
	*shared

	sidecars map[types.NamespacedName]*Sidecar
	// conflicts are by request, which may also be for a ClusterVectorSidecar.
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

// Of returns the state of a VectorSidecar. It is kept until Forget.
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

// Peek is like Of, but keeps nothing for a VectorSidecar that is not known: for a dry run, it need
// not exist.
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

// Forget drops the state of a VectorSidecar. It returns the ConfigMaps that no other one depends
// on.
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

// Referrers returns the VectorSidecars whose last decision depends on a ConfigMap. The names may
// come from an environment's values and from templates, so no index over VectorSidecars could find
// them.
func (m *Memory) Referrers(configMap types.NamespacedName) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.referrers.names(configMap)
}

// Writers returns the VectorSidecars that have tried to write to a workload.
func (m *Memory) Writers(target types.UID) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writers.names(target)
}

// IsAwaited reports whether any change of a workload matters: an attempt on it has missed.
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
