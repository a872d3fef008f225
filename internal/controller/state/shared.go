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
	// writers are the VectorSidecars that have tried to write to a workload, and
	// referrers those that depend on a ConfigMap.
	writers   index[types.UID]
	referrers index[types.NamespacedName]
	// previous are the last decisions, by VectorSidecar. Their total size is bounded.
	previous *bounded.Store[*previous]
	// decisions is how many were stored.
	decisions int64
}

// mostPrevious is the bound in bytes for the last decisions on all VectorSidecars. It fits a
// container with the chart's memory limit.
const mostPrevious = 16 << 20

// previous is what one decision has left for the next, and the timer that drops it.
type previous struct {
	*decision.Previous

	// number tells it from those before and after it.
	number int64
	forget *time.Timer
}

// forgetPrevious drops it. The caller holds the lock.
func (s *shared) forgetPrevious(name types.NamespacedName) {
	if entry := s.previous.Get([]byte(name.String())); entry != nil {
		entry.forget.Stop()
		s.previous.Drop(name.String())
	}
}

// index finds VectorSidecars by something that they refer to.
type index[K comparable] map[K]map[types.NamespacedName]bool

func (i index[K]) add(key K, name types.NamespacedName) {
	if i[key] == nil {
		i[key] = map[types.NamespacedName]bool{}
	}
	i[key][name] = true
}

// remove reports whether the VectorSidecar was the last one for the key.
func (i index[K]) remove(key K, name types.NamespacedName) bool {
	delete(i[key], name)
	if len(i[key]) > 0 {
		return false
	}
	delete(i, key)
	return true
}

func (i index[K]) names(key K) []types.NamespacedName { return slices.Collect(maps.Keys(i[key])) }
