// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"iter"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// sweepInterval is the approximate interval of leftover cleanups without an event that may have left something
	// behind.
	sweepInterval = 30 * time.Minute
	// sweepDelay is the delay of a cleanup after such an event, so that the cache is up to date.
	sweepDelay = 2 * time.Second
	// sweepRetry is the delay of the next cleanup if something is left to do.
	sweepRetry = 10 * time.Second
)

// sweeper finds sidecars and companions of VectorSidecars that do not exist, because reconciles miss them. It reports
// them, and removes the ones that are safe to remove. It runs on the leader only.
type sweeper struct {
	*applier
	*leftoverSignal

	sidecars *sidecarcache.Lister
	client   client.Reader
	live     *livelist.Client
	// writtenBy is Options.WrittenBy.
	writtenBy string

	// backoff has the delay of the next cleanup after one that failed.
	backoff *state.Backoff
	// told has the leftovers that have been reported. cleaned has the generations of workloads after a leftover was
	// removed, until the workloads have rolled out.
	told    map[leftover]companion.LeftoverAction
	cleaned map[types.UID]swept
	// strayed has the namespaces in which the last cleanup found unreferenced companions.
	strayed map[string]bool
}

// leftoverSignal wakes the sweeper.
type leftoverSignal struct {
	notifier notify.Notifier
	// hasFound reports whether the last cleanup found something.
	hasFound atomic.Bool
}

// leftoverKey is the only key of the controller of leftovers.
var leftoverKey = types.NamespacedName{Name: "leftovers"}

// wake makes the sweeper run after sweepDelay.
func (s *leftoverSignal) wake() { s.notifier.NotifyAfter(sweepDelay, leftoverKey) }

// claim makes the sweeper run soon if it has found leftovers, because one of them may belong to a new VectorSidecar.
func (s *leftoverSignal) claim() {
	if s.hasFound.Load() {
		s.wake()
	}
}

// leftover identifies a leftover sidecar.
type leftover struct {
	workload types.UID
	manager  string
}

// swept is a workload from which the sweeper has removed something.
type swept struct {
	workload.Ref
	generation int64
}

// progress is the result of a leftover cleanup.
type progress int

const (
	allSwept progress = iota
	// notYet means that something is left to do after workloads have rolled out.
	notYet
	// notAble means that something failed.
	notAble
)

func carriersOf(records []*workloadcache.Record) iter.Seq[companion.Carrier] {
	return func(yield func(companion.Carrier) bool) {
		for _, record := range records {
			if !yield(companion.Carrier{Ref: record.Ref(), Deleting: record.IsDeleting(), Traces: record.Traces()}) {
				return
			}
		}
	}
}
