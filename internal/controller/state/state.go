// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is what the loop remembers of VectorSidecars from one pass to the next: what
// it expects the cache to show, what was refused, when to look again. It reads and writes
// nothing, and may be lost at any time: the cluster says the rest.
package state

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/store"
)

// FirstRetry and LastRetry are when what has failed is tried again: each wait is twice the
// one before.
const (
	FirstRetry = time.Second
	LastRetry  = 5 * time.Minute
)

// Memory has what is remembered of all VectorSidecars. Make one with New. It may be used by
// several goroutines at once.
type Memory struct {
	now func() time.Time

	mu       sync.Mutex
	sidecars map[types.NamespacedName]*Sidecar
	// writers are the VectorSidecars that have tried to write to a workload, and
	// referrers those that depend on a ConfigMap.
	writers   index[types.UID]
	referrers index[types.NamespacedName]
	// previous are the last decisions, by the names of VectorSidecars: together they have
	// a bound.
	previous *store.Store[*previous]
}

// Sidecar is what is remembered of one VectorSidecar.
type Sidecar struct {
	memory *Memory
	name   types.NamespacedName

	expectations map[types.UID]*expectation
	configMaps   map[string]bool
	revisions    map[string]backoff
	pods         map[types.UID]podLook
	verdicts     map[string]dated
	status       written
	adopted      decision.Taken
	isResyncDue  bool
	liveListed   string
}

// New returns an empty Memory.
func New(now func() time.Time) *Memory {
	return &Memory{
		now: now, sidecars: map[types.NamespacedName]*Sidecar{},
		writers: index[types.UID]{}, referrers: index[types.NamespacedName]{}, previous: store.New[*previous](mostPrevious),
	}
}

// Of returns what is remembered of a VectorSidecar. It is kept until Forget.
func (m *Memory) Of(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sidecars[name]
	if known == nil {
		known = m.empty(name)
		m.sidecars[name] = known
	}
	return known
}

// Peek returns what is remembered of a VectorSidecar, and keeps nothing of one that is not
// known: what is asked about one need not come to be.
func (m *Memory) Peek(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.sidecars[name]; known != nil {
		return known
	}
	return m.empty(name)
}

func (m *Memory) empty(name types.NamespacedName) *Sidecar {
	return &Sidecar{
		memory: m, name: name, expectations: map[types.UID]*expectation{}, configMaps: map[string]bool{},
		revisions: map[string]backoff{}, pods: map[types.UID]podLook{}, verdicts: map[string]dated{}, status: newWritten(),
	}
}

// Forget drops what is remembered of a VectorSidecar. It returns the ConfigMaps that no
// other one depends on.
func (m *Memory) Forget(name types.NamespacedName) (unused []types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sidecars[name]
	if known == nil {
		return nil
	}
	for target := range known.expectations {
		m.writers.remove(target, name)
	}
	m.forgetPrevious(name)
	unused = known.unreferenced(nil)
	delete(m.sidecars, name)
	return unused
}

// ResyncNext has the next pass remember no rendering and no judgement.
func (s *Sidecar) ResyncNext() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.isResyncDue = true
}

// IsResyncDue reports whether the next pass is to remember none of these.
func (s *Sidecar) IsResyncDue() bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.isResyncDue
}

// Resynced notes that such a pass was made.
func (s *Sidecar) Resynced() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.isResyncDue = false
}

// LiveListed is the annotation for which the workloads of its namespace were listed live
// last, "" for none.
func (s *Sidecar) LiveListed() string {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.liveListed
}

// HasLiveListed notes that they were, for an annotation.
func (s *Sidecar) HasLiveListed(by string) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.liveListed = by
}

// Adopted is the content of ConfigMaps with which the rollout was begun that is under way.
// A restart forgets it: what the ConfigMaps hold then is taken.
func (s *Sidecar) Adopted() decision.Taken {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.adopted
}

// Adopt remembers what a decision has taken, nothing if no rollout is under way.
func (s *Sidecar) Adopt(taken decision.Taken) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.adopted = decision.Taken{}
	if len(taken.ConfigMaps) > 0 {
		s.adopted = taken
	}
}

// index finds VectorSidecars by what they have to do with.
type index[K comparable] map[K]map[types.NamespacedName]bool

func (i index[K]) add(key K, name types.NamespacedName) {
	if i[key] == nil {
		i[key] = map[types.NamespacedName]bool{}
	}
	i[key][name] = true
}

// remove reports whether the VectorSidecar was the last one.
func (i index[K]) remove(key K, name types.NamespacedName) bool {
	delete(i[key], name)
	if len(i[key]) > 0 {
		return false
	}
	delete(i, key)
	return true
}

func (i index[K]) names(key K) []types.NamespacedName { return slices.Collect(maps.Keys(i[key])) }
