// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
)

// delay is the time from an event that may have caused leftovers to the cleanup, so that the cache is up to date.
const delay = 2 * time.Second

// key is the only key of the Reconciler.
var key = types.NamespacedName{Name: "leftovers"}

// Signal wakes the Reconciler. The zero value is ready to use.
type Signal struct {
	notifier notify.Notifier
	// hasFound reports whether the last cleanup found leftovers.
	hasFound atomic.Bool
}

// Wake requests a cleanup after an event that may have caused leftovers.
func (s *Signal) Wake() { s.notifier.NotifyAfter(delay, key) }

// WakeIfFound requests a cleanup if the last cleanup found leftovers, because one of them may belong to a new
// VectorSidecar.
func (s *Signal) WakeIfFound() {
	if s.hasFound.Load() {
		s.Wake()
	}
}
