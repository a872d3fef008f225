// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"sync"
	"weak"

	appsv1 "k8s.io/api/apps/v1"
)

// ownership is what the operator has merged into a workload. What one VectorSidecar
// has merged into a thousand of them is the same, and a few kilobytes.
type ownership struct {
	digest    [sha256.Size]byte
	managers  []string
	byManager map[string]Owned
}

// shared holds each ownership once, for as long as a record refers to it.
type shared struct {
	nothing *ownership

	mu    sync.Mutex
	known map[[sha256.Size]byte]weak.Pointer[ownership]
}

func newShared() *shared {
	return &shared{nothing: &ownership{}, known: map[[sha256.Size]byte]weak.Pointer[ownership]{}}
}

// of returns the ownership in a Deployment.
func (s *shared) of(deployment *appsv1.Deployment) *ownership {
	managers := Managers(deployment)
	if len(managers) == 0 {
		return s.nothing
	}
	fresh := &ownership{managers: managers, byManager: owned(deployment)}
	// Strings and JSON values, which always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager})
	fresh.digest = sha256.Sum256(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.known[fresh.digest].Value(); before != nil {
		return before
	}
	s.known[fresh.digest] = weak.Make(fresh)
	runtime.AddCleanup(fresh, s.forget, fresh.digest)
	return fresh
}

// forget drops what no record refers to any more.
func (s *shared) forget(digest [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[digest].Value() == nil {
		delete(s.known, digest)
	}
}
