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
	version, equivalentVersion                string
	created, rolledOut, stateSince            moment
	overwritten                               moment
	generation                                int64
	steady                                    time.Duration
	newest, template, shape                   uint64
	progressCount, maxProgress, old, evidence int32
	missed                                    uint32
	rollout                                   workload.Rollout

	mayContinue, isDown, isBetween, isAssumed, isBegun, isOutlived bool
	isUnobserved, isHeldByWrite, isByRuns                          bool
	// texts is nil if all its texts are empty.
	texts *stateTexts
	waits map[string]workload.Wait
}

// stateTexts contains the texts of a State that few workloads have.
type stateTexts struct{ refusal, heldReason, advice, idle, cause string }

// moment is a time in nanoseconds since 1970, or never for the zero time.
type moment int64

const never moment = math.MinInt64

// newMoment returns the moment of a time. Times before 1678 are the first moment, and times after 2261 are the
// last moment, because every writer of a workload's status may write such times.
func newMoment(t time.Time) moment {
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

func packState(s *workload.State) state {
	result := state{
		version: s.ResourceVersion, equivalentVersion: s.EquivalentVersion, generation: s.Generation, rollout: s.Rollout,
		created: newMoment(s.Created), rolledOut: newMoment(s.RolledOut), stateSince: newMoment(s.StateSince), steady: s.Steady,
		newest: s.Newest, template: s.Template, shape: s.Shape,
		progressCount: s.ProgressCount, maxProgress: s.MaxProgress, old: s.Old, evidence: s.Evidence, missed: s.Missed,
		mayContinue: s.MayContinue, isDown: s.IsDown, isBetween: s.IsBetween, isAssumed: s.IsAssumed, isBegun: s.IsBegun, isOutlived: s.IsOutlived,
		isUnobserved: s.IsUnobserved, isHeldByWrite: s.IsHeldByWrite, isByRuns: s.IsByRuns, overwritten: newMoment(s.Overwritten),
		waits: s.Waits,
	}
	if texts := (stateTexts{s.Refusal, s.HeldReason, s.Advice, s.Idle, s.FailureCause}); texts != (stateTexts{}) {
		result.texts = &texts
	}
	return result
}

func (s *state) unpack() workload.State {
	texts := stateTexts{}
	if s.texts != nil {
		texts = *s.texts
	}
	return workload.State{
		ResourceVersion: s.version, EquivalentVersion: s.equivalentVersion, Generation: s.generation, Created: s.created.time(),
		Rollout: s.rollout, Refusal: texts.refusal,
		Progress: workload.Progress{
			ProgressCount: s.progressCount, Evidence: s.evidence, Idle: texts.idle, IsByRuns: s.isByRuns, Missed: s.missed, Newest: s.newest, MayContinue: s.mayContinue, Old: s.old, HeldReason: texts.heldReason,
			IsHeldByWrite: s.isHeldByWrite, IsDown: s.isDown, IsBetween: s.isBetween, Advice: texts.advice, FailureCause: texts.cause,
		},
		Availability: workload.Availability{RolledOut: s.rolledOut.time(), StateSince: s.stateSince.time(), Steady: s.steady, IsAssumed: s.isAssumed},
		MaxProgress:  s.maxProgress, IsBegun: s.isBegun, IsOutlived: s.isOutlived, IsUnobserved: s.isUnobserved, Overwritten: s.overwritten.time(),
		Template: s.template, Shape: s.shape, Waits: s.waits,
	}
}
