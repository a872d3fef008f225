// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// taken remembers for each VectorSidecar with which content of ConfigMaps the rollout was
// begun that is under way. A restart forgets it: what the ConfigMaps hold then is taken.
type taken struct {
	mu  sync.Mutex
	all map[types.NamespacedName]decision.Taken
}

func newTaken() *taken { return &taken{all: map[types.NamespacedName]decision.Taken{}} }

func (t *taken) of(owner types.NamespacedName) decision.Taken {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[owner]
}

// keep remembers what a decision has taken, nothing if no rollout is under way.
func (t *taken) keep(owner types.NamespacedName, of decision.Taken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(of.ConfigMaps) == 0 {
		delete(t.all, owner)
		return
	}
	t.all[owner] = of
}
