// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"iter"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// sweepInterval is roughly how often to sweep when nothing has happened that may have left
	// something behind.
	sweepInterval = 30 * time.Minute
	// sweepDelay is how long to wait after such an event, so that the cache has caught up.
	sweepDelay = 2 * time.Second
	// sweepRetry is when to sweep again if something is left to do. It backs off while sweeps fail.
	sweepRetry = 10 * time.Second
)

// sweeper finds sidecars and companions of VectorSidecars that do not exist, which no pass comes
// across. It reports them and removes what is safe to remove. It runs on the leader only.
type sweeper struct {
	*applier
	*leftoverSignal

	sidecars sidecarLister
	client   client.Reader
	live     *livelist.Client
	// writtenBy is as in Options.
	writtenBy string
	log       logr.Logger

	// told holds what has been reported, cleaned the generations of workloads since they were
	// written to, until they have rolled out.
	told    map[leftover]companion.LeftoverAction
	cleaned map[types.UID]swept
	// strayed are the namespaces in which the last sweep found stray companions.
	strayed map[string]bool
}

// leftoverSignal wakes the sweeper.
type leftoverSignal struct {
	woken chan struct{}
	// hasFound reports whether the last sweep found something.
	hasFound atomic.Bool
}

// wake makes the sweeper run soon.
func (s *leftoverSignal) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // It has been woken already.
	}
}

// claim makes the sweeper run soon, in case a leftover that it found belongs to a new
// VectorSidecar.
func (s *leftoverSignal) claim() {
	if s.hasFound.Load() {
		s.wake()
	}
}

// leftover identifies a finding.
type leftover struct {
	workload types.UID
	manager  string
}

// swept is a workload that something was removed from.
type swept struct {
	workload.Ref
	generation int64
}

// progress is how far a sweep got.
type progress int

const (
	allSwept progress = iota
	// notYet: something is left to do once workloads have rolled out.
	notYet
	// notAble: something failed.
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
