// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
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
	*Reconciler
	log   logr.Logger
	woken chan struct{}
	// hasFound reports whether the last look found something.
	hasFound atomic.Bool

	// told has what has been told, and cleaned the generations of workloads since
	// they were written to, until they have rolled out.
	told    map[leftover]companion.Verdict
	cleaned map[types.UID]swept
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

func newSweeper(r *Reconciler, log logr.Logger) *sweeper {
	for _, verdict := range companion.Verdicts() {
		r.Metrics.Leftovers(string(verdict), 0) // Until there is a look.
	}
	return &sweeper{
		Reconciler: r, log: log, woken: make(chan struct{}, 1),
		told: map[leftover]companion.Verdict{}, cleaned: map[types.UID]swept{},
	}
}

// wake has the sweeper look soon.
func (s *sweeper) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // It will.
	}
}

// claim has the sweeper look soon if a VectorSidecar that is new may be the one to which
// something belongs that was found.
func (s *sweeper) claim() {
	if s != nil && s.hasFound.Load() {
		s.wake()
	}
}

// Start sweeps at once, when woken, and from time to time, until the context ends.
func (s *sweeper) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, s.log)
	hasRead := func(context.Context) (bool, error) { return s.HasRead() == nil, nil }
	_ = wait.PollUntilContextCancel(ctx, sweepDelay/10, true, hasRead) // Its only error is that of the context.
	retry := sweepRetry
	for ctx.Err() == nil {
		next := wait.Jitter(sweepInterval, 0.2)
		switch s.sweep(ctx) {
		case allSwept:
			retry = sweepRetry
		case notYet:
			next, retry = sweepRetry, sweepRetry
		case notAble:
			next, retry = retry, min(2*retry, state.LastRetry)
		}
		select {
		case <-ctx.Done():
		case <-time.After(next):
		case <-s.woken:
			select {
			case <-ctx.Done():
			case <-time.After(sweepDelay):
			}
		}
	}
	return nil
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

// sweep looks once.
func (s *sweeper) sweep(ctx context.Context) progress {
	found := companion.FindLeftovers(carriersOf(s.fleet.Traced()), companion.Among(s.list(ctx, "", "", "")), s.options.WrittenBy)
	found, confirmed := s.confirm(ctx, found)
	found, cleaned := s.clean(ctx, found)
	s.tellLeftovers(ctx, found)
	return max(confirmed, cleaned, s.deleteStrays(ctx))
}

func carriersOf(records []*workloadcache.Record) iter.Seq[companion.Carrier] {
	return func(yield func(companion.Carrier) bool) {
		for _, record := range records {
			if !yield(companion.Carrier{Ref: record.Ref(), Deleting: record.IsDeleting(), Traces: record.Traces()}) {
				return
			}
		}
	}
}

// tellLeftovers counts what is there, and tells of each once that a person has to judge.
func (s *sweeper) tellLeftovers(ctx context.Context, found []companion.Leftover) {
	counts, told := map[companion.Verdict]int{}, map[leftover]companion.Verdict{}
	for i := range found {
		finding := &found[i]
		key := leftover{finding.UID, finding.Manager}
		counts[finding.Verdict]++
		told[key] = finding.Verdict
		if finding.Verdict != companion.Report || s.told[key] == finding.Verdict {
			continue
		}
		log.FromContext(ctx).Info("leftover found", telemetry.KeyWorkload, status.Object(finding.Ref), telemetry.KeyName, finding.Sidecar, "cause", finding.Reason)
		s.events.Eventf(reference(finding.Ref), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(plan.None),
			"it carries something of VectorSidecar %s, which does not exist: %s", finding.Sidecar, finding.Reason)
	}
	s.told = told
	s.hasFound.Store(len(told) > 0)
	for _, verdict := range companion.Verdicts() {
		s.Metrics.Leftovers(string(verdict), counts[verdict])
	}
}
