// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package state stores the controller's state of each VectorSidecar between reconciles: expected cache content,
// rejections, check results and the times of retries. Callers record the results of their reads and writes. The package
// makes no API calls. The state may be lost at any time, because the controller can rebuild it from the cluster.
package state

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// Memory stores the state of all VectorSidecars. New creates it. It is safe for concurrent use.
type Memory struct {
	// Backoff has the waits before retries.
	Backoff *Backoff

	now func() time.Time

	// mu is locked after the mutex of a Sidecar, never before it.
	mu       sync.Mutex
	sidecars map[types.NamespacedName]*Sidecar
	// writers are the VectorSidecars that have tried to write a workload. referrers are the VectorSidecars that depend
	// on a ConfigMap.
	writers   index[types.UID]
	referrers index[types.NamespacedName]
	// previous stores the results of the last decisions, by VectorSidecar. Their total size is bounded. decisions is
	// the number of stored results so far.
	previous  *bounded.Store[*previous]
	decisions int64
	// adopted has the content that rollouts in progress started with, by VectorSidecar.
	adopted *bounded.Store[decision.Adopted]
	// afterConflict are the times of the next retries after conflicts, by reconcile request, which may also name a
	// ClusterVectorSidecar.
	afterConflict map[types.NamespacedName]time.Time
}

// Sidecar is the state of one VectorSidecar. Its methods take and return values, and each of them locks the state once.
type Sidecar struct {
	memory *Memory
	name   types.NamespacedName

	// mu protects the fields below.
	mu sync.Mutex
	// configMaps are the ConfigMaps that the last decision depends on.
	configMaps map[string]bool
	// isResyncDue is true if the next reconcile ignores earlier renderings and evaluations.
	isResyncDue bool
	// writes are the last writes to workloads, by UID. forgiven is the request of the last call of ResetRejections.
	writes   map[types.UID]*pendingWrite
	forgiven string
	// verdicts are the results of Vector's checks of configurations, by key.
	verdicts map[string]dated
	// trials are the results of dry runs. forgottenTrials is the last request to repeat them, by annotation.
	trials          map[preflight.Key]preflight.DryRunResult
	forgottenTrials map[string]string
	// podLooks are the last reads of pods, by workload. watchedAfter is the time of the retry for which they were
	// scheduled: a later retry starts the schedule again.
	podLooks     map[types.UID]podLook
	watchedAfter time.Time
	// obstacles are the causes for which workloads do not get the sidecar, by workload.
	obstacles map[types.UID]string
	status    statusLimiter
}

// SetObstacles stores the causes why workloads do not get the sidecar, by workload. It returns the causes of the last
// call.
func (s *Sidecar) SetObstacles(obstacles map[types.UID]string) (previous map[types.UID]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	previous, s.obstacles = s.obstacles, obstacles
	return previous
}

// New returns an empty Memory.
func New(clock func() time.Time) *Memory {
	return &Memory{
		Backoff: NewBackoff(), now: clock, sidecars: map[types.NamespacedName]*Sidecar{}, writers: index[types.UID]{}, referrers: index[types.NamespacedName]{},
		previous: bounded.NewStore[*previous](mostPrevious), adopted: bounded.NewStore[decision.Adopted](mostAdopted), afterConflict: map[types.NamespacedName]time.Time{},
	}
}

// GetOrCreate returns the state of a VectorSidecar. Memory stores it until Forget.
func (m *Memory) GetOrCreate(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.sidecars[name]
	if sidecarState == nil {
		sidecarState = m.newSidecar(name)
		m.sidecars[name] = sidecarState
	}
	return sidecarState
}

// Peek returns the state of a VectorSidecar like GetOrCreate, but does not store a new state. A dry run uses it
// because its VectorSidecar may not exist.
func (m *Memory) Peek(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sidecarState := m.sidecars[name]; sidecarState != nil {
		return sidecarState
	}
	return m.newSidecar(name)
}

// newSidecar returns an empty state for a VectorSidecar.
func (m *Memory) newSidecar(name types.NamespacedName) *Sidecar {
	return &Sidecar{
		memory: m, name: name, configMaps: map[string]bool{}, writes: map[types.UID]*pendingWrite{}, verdicts: map[string]dated{},
		trials: map[preflight.Key]preflight.DryRunResult{}, forgottenTrials: map[string]string{}, podLooks: map[types.UID]podLook{}, status: newStatusLimiter(),
	}
}

// Forget drops the state of a VectorSidecar. It returns the ConfigMaps that no VectorSidecar depends on anymore.
func (m *Memory) Forget(name types.NamespacedName) (unused []types.NamespacedName) {
	sidecarState := m.removeSidecar(name)
	if sidecarState == nil {
		return nil
	}
	sidecarState.mu.Lock()
	defer sidecarState.mu.Unlock()
	for target := range sidecarState.writes {
		sidecarState.dropWrite(target)
	}
	sidecarState.clearDryRunResults()
	return sidecarState.dropReferences(nil)
}

// removeSidecar removes the state of a VectorSidecar from the maps and returns it, or nil if there is none.
func (m *Memory) removeSidecar(name types.NamespacedName) *Sidecar {
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.sidecars[name]
	delete(m.sidecars, name)
	m.forgetConflicts(name)
	m.forgetPrevious(name)
	m.adopted.Drop(name.String())
	return sidecarState
}

// Referrers returns the VectorSidecars that depend on a ConfigMap according to their last decision. An index over
// VectorSidecars cannot find them, because the ConfigMap names may come from an environment's values and from
// templates.
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

// IsAwaited reports whether a VectorSidecar waits for the next change of a workload, because a write has missed it.
func (m *Memory) IsAwaited(target types.UID) bool {
	for _, name := range m.Writers(target) {
		if m.Peek(name).isWriteAwaited(target) {
			return true
		}
	}
	return false
}

// addWriter records that a VectorSidecar has tried to write a workload.
func (m *Memory) addWriter(target types.UID, name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writers.add(target, name)
}

// removeWriter records that a VectorSidecar no longer writes a workload.
func (m *Memory) removeWriter(target types.UID, name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writers.remove(target, name)
}

// addReferrer records that a VectorSidecar depends on a ConfigMap.
func (m *Memory) addReferrer(configMap, name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.referrers.add(configMap, name)
}

// removeReferrer records that a VectorSidecar no longer depends on a ConfigMap. It reports whether no VectorSidecar
// depends on the ConfigMap.
func (m *Memory) removeReferrer(configMap, name types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.referrers.remove(configMap, name)
}
