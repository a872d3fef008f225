// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// shared is the state that all VectorSidecars share.
type shared struct {
	now func() time.Time
	mu  sync.Mutex
	// writers are the VectorSidecars that have tried to write a workload. referrers are the VectorSidecars that depend
	// on a ConfigMap.
	writers   index[types.UID]
	referrers index[types.NamespacedName]
	// previous stores the results of the last decisions, by VectorSidecar. Their total size is bounded.
	previous *bounded.Store[*previous]
	// decisions is the number of stored results so far.
	decisions int64
}

// mostPrevious bounds the size of the stored results of all VectorSidecars, in bytes. It fits a container with the
// chart's memory limit.
const mostPrevious = 16 << 20

// previous is the result of one decision for the next decision, with the timer that drops it.
type previous struct {
	*decision.Previous

	// number identifies the entry among earlier and later entries of the VectorSidecar.
	number int64
	forget *time.Timer
}

// forgetPrevious drops the stored results of a VectorSidecar and stops their timer. The caller holds the lock.
func (s *shared) forgetPrevious(name types.NamespacedName) {
	if entry := s.previous.Get([]byte(name.String())); entry != nil {
		entry.forget.Stop()
		s.previous.Drop(name.String())
	}
}

// index finds VectorSidecars by the key of an object that they refer to.
type index[K comparable] map[K]map[types.NamespacedName]bool

func (i index[K]) add(key K, name types.NamespacedName) {
	if i[key] == nil {
		i[key] = map[types.NamespacedName]bool{}
	}
	i[key][name] = true
}

// remove removes a VectorSidecar from a key. It reports whether the key has no VectorSidecars anymore.
func (i index[K]) remove(key K, name types.NamespacedName) bool {
	delete(i[key], name)
	if len(i[key]) > 0 {
		return false
	}
	delete(i, key)
	return true
}

func (i index[K]) names(key K) []types.NamespacedName { return slices.Collect(maps.Keys(i[key])) }
