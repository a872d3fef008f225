// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"math"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// state is a workload.State in about half of its size, because every workload of the cluster has a state.
type state struct {
	version, seen             string
	created, rolledOut, since moment
	overwritten               moment
	generation                int64
	steady                    time.Duration
	newest, template, shape   uint64
	done, most, old, evidence int32
	missed                    uint32
	rollout                   workload.Rollout

	mayGoOn, isDown, isBetween, isAssumed, isBegun, isOutlived bool
	isUnobserved, isHeldByWrite, isByRuns                      bool
	// told is nil if all its texts are empty.
	told  *told
	waits map[string]workload.Wait
}

// told contains the texts of a State that few workloads have.
type told struct{ refusal, held, advice, idle, cause string }

// moment is a time in nanoseconds since 1970, or never for the zero time.
type moment int64

const never moment = math.MinInt64

// momentOf returns the moment of a time. Times before 1678 are the first moment, and times after 2261 are the
// last moment, because every writer of a workload's status may write such times.
func momentOf(t time.Time) moment {
	switch year := t.UTC().Year(); {
	case t.IsZero():
		return never
	case year < 1678:
		return never + 1
	case year > 2261:
		return math.MaxInt64
	}
	return moment(t.UnixNano())
}

func (m moment) time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m))
}

func packed(s *workload.State) state {
	of := state{
		version: s.ResourceVersion, seen: s.EquivalentVersion, generation: s.Generation, rollout: s.Rollout,
		created: momentOf(s.Created), rolledOut: momentOf(s.RolledOut), since: momentOf(s.StateSince), steady: s.Steady,
		newest: s.Newest, template: s.Template, shape: s.Shape,
		done: s.ProgressCount, most: s.MaxProgress, old: s.Old, evidence: s.Evidence, missed: s.Missed,
		mayGoOn: s.MayContinue, isDown: s.IsDown, isBetween: s.IsBetween, isAssumed: s.IsAssumed, isBegun: s.IsBegun, isOutlived: s.IsOutlived,
		isUnobserved: s.IsUnobserved, isHeldByWrite: s.IsHeldByWrite, isByRuns: s.IsByRuns, overwritten: momentOf(s.Overwritten),
		waits: s.Waits,
	}
	if texts := (told{s.Refusal, s.HeldReason, s.Advice, s.Idle, s.FailureCause}); texts != (told{}) {
		of.told = &texts
	}
	return of
}

func (s *state) unpack() workload.State {
	texts := told{}
	if s.told != nil {
		texts = *s.told
	}
	return workload.State{
		ResourceVersion: s.version, EquivalentVersion: s.seen, Generation: s.generation, Created: s.created.time(),
		Rollout: s.rollout, Refusal: texts.refusal,
		Progress: workload.Progress{
			ProgressCount: s.done, Evidence: s.evidence, Idle: texts.idle, IsByRuns: s.isByRuns, Missed: s.missed, Newest: s.newest, MayContinue: s.mayGoOn, Old: s.old, HeldReason: texts.held,
			IsHeldByWrite: s.isHeldByWrite, IsDown: s.isDown, IsBetween: s.isBetween, Advice: texts.advice, FailureCause: texts.cause,
		},
		Availability: workload.Availability{RolledOut: s.rolledOut.time(), StateSince: s.since.time(), Steady: s.steady, IsAssumed: s.isAssumed},
		MaxProgress:  s.most, IsBegun: s.isBegun, IsOutlived: s.isOutlived, IsUnobserved: s.isUnobserved, Overwritten: s.overwritten.time(),
		Template: s.template, Shape: s.shape, Waits: s.waits,
	}
}
