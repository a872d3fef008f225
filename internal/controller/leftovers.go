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
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// sweepInterval is about how often leftovers are looked for when nothing
	// happens that may have left any.
	sweepInterval = 30 * time.Minute
	// sweepDelay is how long after such a thing: until the cache has heard of it.
	sweepDelay = 2 * time.Second
	// sweepRetry is when to look again if something is left to do, and less and less
	// often while it fails.
	sweepRetry = 10 * time.Second
)

// sweeper looks for what workloads carry for VectorSidecars that do not exist, tells of
// it, and takes out what is safe to take out. Passes over VectorSidecars never come to
// see it. Only a leader sweeps.
type sweeper struct {
	*applier
	*leftoverSignal

	sidecars sidecarLister
	client   client.Reader
	live     client.Reader
	// writtenBy is as in Options.
	writtenBy string
	log       logr.Logger

	// told has what has been told, and cleaned the generations of workloads since
	// they were written to, until they have rolled out.
	told    map[leftover]companion.Verdict
	cleaned map[types.UID]swept
}

// leftoverSignal has the sweeper look.
type leftoverSignal struct {
	woken chan struct{}
	// hasFound reports whether the last look found something.
	hasFound atomic.Bool
}

// wake has the sweeper look soon.
func (s *leftoverSignal) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // It will.
	}
}

// claim has the sweeper look soon if a VectorSidecar that is new may be the one to which
// something belongs that was found.
func (s *leftoverSignal) claim() {
	if s.hasFound.Load() {
		s.wake()
	}
}

// leftover names a finding.
type leftover struct {
	workload types.UID
	manager  string
}

// swept is a workload that something was taken out of.
type swept struct {
	workload.Ref
	generation int64
}

// progress is how far a sweep came.
type progress int

const (
	allSwept progress = iota
	// notYet is a sweep that left something to do while workloads roll out.
	notYet
	// notAble is one that could not do something.
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
