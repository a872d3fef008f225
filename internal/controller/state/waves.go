// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// collectDelay is the time for which progress is collected before the waves are checked.
const collectDelay = 100 * time.Millisecond

// wavesKey is the only key of the controller of waves.
var wavesKey = types.NamespacedName{Name: "waves"}

// Waves is the state that the controller of waves shares with the reconciles of VectorSidecars and
// ClusterVectorSidecars. These record progress that their statuses do not have, and read the published waves. Create it
// with NewWaves. It is safe for concurrent use.
type Waves struct {
	// notifier wakes the controller of waves.
	notifier  notify.Notifier
	published atomic.Pointer[fleet.Waves]

	mu sync.Mutex
	// reconciled has the VectorSidecars and ClusterVectorSidecars that this process has reconciled. It is nil while the
	// installation does not use waves.
	reconciled map[types.NamespacedName]WaveProgress
}

// WaveProgress is the progress of a VectorSidecar or ClusterVectorSidecar that its status does not have.
type WaveProgress struct {
	// Generation is the generation of the last reconcile. It is 0 if that reconcile failed, so that other waves do not
	// wait for the next one.
	Generation int64
	// MaxAgeTimes are the times when workloads reach spec.rollout.maxAge, by the name of their wave.
	MaxAgeTimes map[string]time.Time
}

// NewWaves returns the Waves of an installation that does not use waves yet.
func NewWaves() *Waves {
	w := &Waves{}
	w.Disable()
	return w
}

// Source returns the source of the controller of waves.
func (w *Waves) Source() source.Source { return w.notifier.Source() }

// Wake requests a check of the waves.
func (w *Waves) Wake() { w.notifier.Notify(wavesKey) }

// Current returns the last published waves. Without waves, it returns waves without members and rules.
func (w *Waves) Current() *fleet.Waves { return w.published.Load() }

// Publish replaces the published waves, and returns the previous ones. Later progress is recorded.
func (w *Waves) Publish(waves *fleet.Waves) (previous *fleet.Waves) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reconciled == nil {
		w.reconciled = map[types.NamespacedName]WaveProgress{}
	}
	return w.published.Swap(waves)
}

// Disable drops the published waves and all recorded progress.
func (w *Waves) Disable() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reconciled = nil
	w.published.Store(fleet.NewWaves(&fleet.Target{Rules: &fleet.Rules{}}, nil, false))
}

// Record records the progress of a reconcile, and requests a check of the waves. The caller has recorded the status of
// the reconcile.
func (w *Waves) Record(name types.NamespacedName, progress WaveProgress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reconciled != nil {
		w.reconciled[name] = progress
		w.notifier.NotifyAfter(collectDelay, wavesKey)
	}
}

// RecordFailure records that a reconcile failed. Its last known progress counts.
func (w *Waves) RecordFailure(name types.NamespacedName) {
	w.mu.Lock()
	progress := w.reconciled[name]
	w.mu.Unlock()
	w.Record(name, WaveProgress{MaxAgeTimes: progress.MaxAgeTimes})
}

// Forget drops the progress of a deleted VectorSidecar or ClusterVectorSidecar, and requests a check of the waves.
func (w *Waves) Forget(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reconciled, name)
	w.notifier.Notify(wavesKey)
}

// Progress returns a copy of all recorded progress.
func (w *Waves) Progress() map[types.NamespacedName]WaveProgress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.reconciled)
}
