// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// logs is a VectorSidecar that rolls out to one workload at a time, with the default
// soak of 30 seconds.
// inputAt returns the Input of a decision about a VectorSidecar at a time.
func inputAt(now time.Time) Input {
	return Input{Inputs: desired.Inputs{Sidecar: logs(), Platform: &desired.Platform{}}, Now: now}
}

// inputAfterWrite returns the Input of a decision after a write to the workload cart, which then had generation 1.
func inputAfterWrite() Input {
	input := inputAt(noon)
	input.WrittenGeneration = func(uid types.UID) int64 { return map[types.UID]int64{"cart": 1}[uid] }
	return input
}

// newTestEvaluation returns an evaluation for an Input in a namespace without ConfigMaps.
func newTestEvaluation(t *testing.T, input Input) *evaluation {
	t.Helper()
	input.ConfigMaps = objects.ConfigMapSet{}
	e := &evaluation{Input: input}
	e.reader = desired.NewReader(t.Context(), &e.Inputs)
	t.Cleanup(e.reader.Release)
	return e
}

// decideFor returns a decision with plans for evaluated workloads.
func decideFor(e *evaluation, injected, removed []evaluatedWorkload) *Decision {
	d := &Decision{IsForDeletion: e.Sidecar.DeletionTimestamp != nil}
	d.planAll(e, injected, removed)
	return d
}

func logs() *v1alpha1.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithMaxConcurrent("1").WithSoak(-1).Build()
}

// evaluated is a workload in some state with its evaluation; desired is nil for one
// that should have no sidecar.
func evaluated(name string, change plan.Change, desired *plan.Desired, state workload.State) evaluatedWorkload {
	ref := workload.Ref{Kind: "Deployment", Namespace: "shop", Name: name, UID: types.UID(name)}
	return evaluatedWorkload{
		Record:    workloadcache.NewRecordWithView(workload.View{Ref: ref, State: state}),
		Evaluated: &Evaluated{Plan: plan.Plan{Target: ref, Change: change, Desired: desired, Workload: state}},
	}
}

// blocked is an evaluated workload with an injection that a block drops.
func blocked(name string, kind plan.BlockKind, desired *plan.Desired, state workload.State) evaluatedWorkload {
	w := evaluated(name, plan.Inject, desired, state)
	w.Evaluated.Plan.Block = &plan.Block{Kind: kind}
	return w
}

// where sets the rollout state, and how long ago it was reached.
func inState(rollout workload.Rollout, ago time.Duration, steady ...time.Duration) func(*workload.State) {
	return func(s *workload.State) {
		s.Rollout, s.Evidence, s.StateSince = rollout, 1, noon.Add(-ago)
		for _, before := range steady {
			s.Steady = before
		}
	}
}

// told sets the workload's state in the last status.
func reportedAs(state v1alpha1.WorkloadState) func(*evaluation) {
	return func(f *evaluation) {
		f.Sidecar.Status.Workloads = []v1alpha1.WorkloadStatus{{Name: "cart", State: state}}
	}
}

// seen sets the fault read from the pods.
func withFault(fault workload.Fault) func(*evaluation) {
	return func(f *evaluation) { f.Faults = map[types.UID]workload.Fault{"cart": fault} }
}

func withoutReport(*evaluation) {}

// After a restart, the operator does not know whether its last write changed the pod template. If the workload's status
// is newer than that write, the failure in it counts.
func TestDecide_KeepsFailureOfLaterStatus(t *testing.T) {
	wrote := noon.Add(-time.Minute)
	for name, test := range map[string]struct {
		reported time.Time
		listed   v1alpha1.WorkloadState
		want     bool
	}{
		"failed, reported after the write":     {wrote.Add(time.Second), v1alpha1.StateFailed, true},
		"failed, reported in the second of it": {wrote, v1alpha1.StateFailed, true},
		"failed, reported before it":           {wrote.Add(-time.Second), v1alpha1.StateFailed, false},
		"rolling out, reported after it":       {wrote.Add(time.Second), v1alpha1.StateRollingOut, false},
		"never reported":                       {time.Time{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &evaluation{Input: inputAt(noon)}
			reportedAs(test.listed)(e)
			if !test.reported.IsZero() {
				e.Sidecar.Status.LastReconcileTime = &metav1.Time{Time: test.reported}
			}
			state := workload.State{IsOutlived: true, Overwritten: wrote}
			inState(workload.RolloutProgressing, time.Minute)(&state)
			decided := decideFor(e, []evaluatedWorkload{evaluated("cart", plan.None, &plan.Desired{}, state)}, nil)
			require.Equal(t, test.want, decided.Plans[0].Rollout.Phase == plan.RolloutFailed)
		})
	}
}

// One workload has the current sidecar, and another waits. Each case is a state of the first one, and whether the
// second one waits for it.
func TestDecide_BlocksOthersByRolloutState(t *testing.T) {
	crash := workload.Fault{Reason: meta.ReasonCrashLoopBackOff, Message: "container vector of pod cart-1 ended", IsSidecarFault: true}
	weak := workload.Fault{Reason: meta.ReasonSidecarRestarts, Message: "container vector of pod cart-1 was restarted 3 times", IsSidecarFault: true, IsRestarts: true}
	full := workload.Fault{Reason: meta.ReasonUnschedulable, Message: "pod cart-1: no node"}
	const ours, theirs, busy = "failed", "hindered", "in flight"
	const complete, lost, rolling, late = workload.RolloutComplete, workload.RolloutUnavailable, workload.RolloutProgressing, workload.RolloutFailed
	refused := func(s *workload.State) { inState(rolling, time.Second)(s); s.Refusal = "exceeded quota" }
	assumed := func(then func(*workload.State)) func(*workload.State) {
		return func(s *workload.State) { then(s); s.IsAssumed = true }
	}
	for name, test := range map[string]struct {
		is     func(*workload.State)
		known  func(*evaluation)
		want   string
		reason string
		says   string
		again  time.Duration
	}{
		"it rolls out":                         {inState(rolling, time.Hour), withoutReport, busy, "", "", 0},
		"it soaks":                             {inState(complete, 10*time.Second), withoutReport, busy, meta.ReasonSoaking, "available for 30s (spec.rollout.soak)", 20 * time.Second},
		"it has soaked":                        {inState(complete, 30*time.Second), withoutReport, "", "", "", 0},
		"it has soaked before":                 {inState(complete, time.Second, time.Minute), withoutReport, "", "", "", 0},
		"it was restarted too often":           {inState(complete, 10*time.Second), withFault(weak), busy + ours, meta.ReasonSidecarRestarts, "restarted 3 times (rollout.halt.sidecarRestarts", 0},
		"and long after its soak":              {inState(complete, time.Hour), withFault(weak), ours, meta.ReasonSidecarRestarts, "restarted 3 times (rollout.halt.sidecarRestarts", 0},
		"what was wrong has passed":            {inState(complete, time.Hour), withFault(crash), "", "", "", 0},
		"it loses pods in its soak":            {inState(lost, time.Second, 2*time.Second), withoutReport, busy, meta.ReasonUnavailable, "pods are not read (rbac.optional.pods)", 119 * time.Second},
		"and none of that is the sidecar's":    {inState(lost, time.Hour, 2*time.Second), withFault(workload.Fault{}), busy, meta.ReasonUnavailable, "not all pods are available", 0},
		"and no node has room":                 {inState(lost, time.Hour, 2*time.Second), withFault(full), busy + theirs, meta.ReasonUnschedulable, "no node", 0},
		"and it is the sidecar's fault":        {inState(lost, time.Second, 2*time.Second), withFault(crash), busy + ours, meta.ReasonCrashLoopBackOff, "container vector", 0},
		"and nobody sees why, for two minutes": {inState(lost, 2*time.Minute, 2*time.Second), withoutReport, busy + ours, meta.ReasonRolloutFailed, "stayed available for 30s", 0},
		"it had failed, and pods are back":     {inState(complete, 10*time.Second, 2*time.Second), reportedAs(v1alpha1.StateFailed), busy + ours, meta.ReasonRolloutFailed, "have not been available for that long since", 20 * time.Second},
		"it had failed, and loses pods again":  {inState(lost, time.Second, 2*time.Second), reportedAs(v1alpha1.StateFailed), busy + ours, meta.ReasonRolloutFailed, "stayed available for 30s", 0},
		"it loses pods long after its soak":    {inState(lost, time.Hour, time.Minute), withoutReport, "", meta.ReasonUnavailable, "not all pods are available", 0},
		"and by the sidecar's fault":           {inState(lost, time.Hour, time.Minute), withFault(crash), theirs, meta.ReasonCrashLoopBackOff, "container vector", 0},
		"its pods are refused":                 {refused, withoutReport, busy + theirs, meta.ReasonPodsRejected, "exceeded quota", 0},
		"the sidecar keeps a rollout from it":  {inState(rolling, time.Minute), withFault(crash), busy + ours, meta.ReasonCrashLoopBackOff, "container vector", 0},
		"no node has room for its pods":        {inState(rolling, time.Minute), withFault(full), busy + theirs, meta.ReasonUnschedulable, "no node", 0},
		"it was too late":                      {inState(late, time.Minute), withoutReport, ours, meta.ReasonRolloutFailed, "before its progress deadline; cause unknown", 0},
		"and why is seen":                      {inState(late, time.Minute), withFault(crash), ours, meta.ReasonRolloutFailed, "before its progress deadline: container vector", 0},

		"after a restart, it seems to have soaked":           {assumed(inState(complete, time.Second, time.Hour)), withoutReport, "", "", "", 0},
		"but the status knows that it has not":               {assumed(inState(complete, time.Second, time.Hour)), reportedAs(v1alpha1.StateSoaking), busy, meta.ReasonSoaking, "30s", 29 * time.Second},
		"and that it failed":                                 {assumed(inState(lost, time.Second, time.Hour)), reportedAs(v1alpha1.StateFailed), busy + ours, meta.ReasonRolloutFailed, "stayed available", 0},
		"and not, what is no part of a rollout":              {assumed(inState(lost, time.Second, time.Hour)), reportedAs(v1alpha1.StateUnavailable), "", meta.ReasonUnavailable, "not all pods are available", 0},
		"after a restart, it has not been there long enough": {assumed(inState(complete, 2*time.Second, 20*time.Second)), withoutReport, busy, meta.ReasonSoaking, "30s", 28 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
			test.is(&state)
			test.known(e)

			decided := decideFor(e, []evaluatedWorkload{
				evaluated("cart", plan.None, &plan.Desired{}, state),
				evaluated("next", plan.Inject, &plan.Desired{}, workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}),
			}, nil)

			got, p, next := "", &decided.Plans[0], &decided.Plans[1]
			for what, is := range map[string]bool{busy: p.Rollout.InFlight, ours: p.Rollout.Phase == plan.RolloutFailed, theirs: p.Rollout.Phase == plan.RolloutPodsBlocked} {
				if is && what == busy {
					got = what + got
				} else if is {
					got += what
				}
			}
			require.Equal(t, plan.None, p.Change)
			require.Equal(t, test.want, got)
			require.Equal(t, test.reason, p.Reason())
			require.Contains(t, p.Message(), test.says)
			require.Equal(t, test.again, decided.RequeueAfter)
			require.Equal(t, p.Rollout.InFlight || p.Rollout.Phase == plan.RolloutFailed, next.IsWaiting(), "the only place is taken")
			if p.Rollout.Phase == plan.RolloutFailed {
				require.Equal(t, meta.ReasonRolloutFailed, next.Reason())
			}
		})
	}
}

// A StatefulSet, DaemonSet or CronJob makes no progress, and its status and pods do not show why. The message states
// that the cause is not known, and why.
func TestDecide_ReportsMissingCauseOfFailure(t *testing.T) {
	quiet := func(since time.Duration) func(*workload.State) {
		return func(s *workload.State) { inState(workload.RolloutProgressing, since)(s); s.Newest = 1 }
	}
	held := func(s *workload.State) {
		inState(workload.PodsNotReplaced, time.Hour)(s)
		s.IsHeldByWrite, s.HeldReason = true, "the next run uses the new template"
	}
	aborted := func(s *workload.State) {
		inState(workload.RolloutFailed, time.Hour)(s)
		s.FailureCause, s.Advice = "its rollout was aborted: metric", "retry it"
	}
	partial, warned := workload.Fault{IsPartial: true}, workload.Fault{Reason: meta.ReasonControllerWarning, Message: "its controller reports UnknownTimeZone: Mars"}
	const unread = "no progress since 2026-11-21T11:58:00Z; cause not read (rbac.optional.pods)"
	for name, test := range map[string]struct {
		kind   string
		is     func(*workload.State)
		known  func(*evaluation)
		reason string
		says   string
		again  time.Duration
	}{
		"soon":                     {"StatefulSet", quiet(time.Minute), withoutReport, "", "", time.Minute},
		"neither is read":          {"StatefulSet", quiet(2 * time.Minute), withoutReport, meta.ReasonRollingOut, unread, 8 * time.Minute},
		"pods are read, no events": {"DaemonSet", quiet(2 * time.Minute), withFault(partial), meta.ReasonRollingOut, unread, 8 * time.Minute},
		"both show nothing":        {"DaemonSet", quiet(2 * time.Minute), withFault(workload.Fault{}), meta.ReasonRollingOut, "no progress since 2026-11-21T11:58:00Z", 8 * time.Minute},
		"at the deadline":          {"StatefulSet", quiet(10 * time.Minute), withFault(partial), meta.ReasonRolloutFailed, "no progress since 2026-11-21T11:50:00Z: no further pod was updated or became available for 10m0s; cause not read (rbac.optional.pods)", 0},
		"and events show nothing":  {"StatefulSet", quiet(10 * time.Minute), withFault(workload.Fault{}), meta.ReasonRolloutFailed, "no progress since 2026-11-21T11:50:00Z: no further pod was updated or became available for 10m0s", 0},
		"aborted":                  {"Rollout", aborted, withFault(workload.Fault{}), meta.ReasonRolloutFailed, "its rollout was aborted: metric (retry it)", 0},
		"no run, no events":        {"CronJob", held, withFault(partial), meta.ReasonPodsNotReplaced, "the next run uses the new template; no progress since 2026-11-21T11:00:00Z; cause not read (rbac.optional.pods)", 0},
		"no run, and a warning":    {"CronJob", held, withFault(warned), meta.ReasonControllerWarning, "UnknownTimeZone", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
			test.is(&state)
			test.known(e)
			cart := evaluated("cart", plan.None, &plan.Desired{}, state)
			cart.Evaluated.Plan.Target.Kind = test.kind

			decided := decideFor(e, []evaluatedWorkload{cart}, nil)

			require.Equal(t, test.reason, decided.Plans[0].Reason())
			if test.reason == meta.ReasonControllerWarning {
				require.Contains(t, decided.Plans[0].Message(), test.says)
			} else {
				require.Equal(t, test.says, decided.Plans[0].Message())
			}
			require.Equal(t, test.again, decided.RequeueAfter)
		})
	}
}

// A removal is finished as soon as its pods are available, because nothing has to soak.
func TestDecide_FinishesRemovalWithoutSoak(t *testing.T) {
	for rollout, isInFlight := range map[workload.Rollout]bool{
		workload.RolloutProgressing: true, workload.RolloutComplete: false, workload.RolloutUnavailable: false,
	} {
		state := workload.State{Rollout: rollout, Generation: 1, Refusal: "exceeded quota"}
		state.StateSince = noon
		removed := evaluated("cart", plan.None, nil, state)

		decided := decideFor(&evaluation{Input: inputAfterWrite()}, nil, []evaluatedWorkload{removed})

		if !isInFlight {
			require.Empty(t, decided.Plans)
			continue
		}
		require.True(t, decided.Plans[0].Rollout.InFlight)
		require.Equal(t, meta.ReasonPodsRejected, decided.Plans[0].Reason())
	}
}

// The sidecar of a failed rollout is removed. The Deployment may still report the missed deadline, but the removal uses
// no rollout slot.
func TestDecide_ReleasesSlotAfterRemoval(t *testing.T) {
	state := workload.State{Rollout: workload.RolloutProgressing, Generation: 1, IsOutlived: true}
	state.StateSince = noon
	removed := evaluated("cart", plan.None, nil, state)

	for _, p := range decideFor(&evaluation{Input: inputAfterWrite()}, nil, []evaluatedWorkload{removed}).Plans {
		require.False(t, p.Rollout.InFlight)
	}
}

// A sidecar soaks and uses a rollout slot. The next change of that workload starts at once in the same slot.
func TestDecide_ReplacesSoakingSidecarInItsSlot(t *testing.T) {
	state := workload.State{Generation: 1}
	inState(workload.RolloutUnavailable, time.Second, time.Second)(&state)
	soaking := evaluated("cart", plan.Update, &plan.Desired{}, state)

	decided := decideFor(&evaluation{Input: inputAfterWrite()}, []evaluatedWorkload{soaking, evaluated("next", plan.Update, &plan.Desired{}, workload.State{})}, nil)

	require.True(t, decided.Plans[0].Writes())
	require.Equal(t, meta.ReasonWaitingForSlot, decided.Plans[1].Reason())
	require.Contains(t, decided.Plans[1].Message(), "until its pods have been available for 30s")
}

// A progress deadline was missed, and the cause is unknown. This VectorSidecar stops, but that is no failure of the
// sidecar, which would halt the revision for all.
func TestDecide_StopsOnlySidecarOfUnknownFailure(t *testing.T) {
	crash := workload.Fault{Reason: meta.ReasonCrashLoopBackOff, Message: "container vector of pod cart-1 ended", IsSidecarFault: true}
	full := workload.Fault{Reason: meta.ReasonUnschedulable, Message: "pod cart-1: no node"}
	blind := func(then func(*evaluation)) func(*evaluation) {
		return func(f *evaluation) { then(f); f.PodsNotRead = "pods are not read" }
	}
	late, lost := inState(workload.RolloutFailed, time.Minute), inState(workload.RolloutUnavailable, 2*time.Minute, 2*time.Second)
	refused := func(s *workload.State) { late(s); s.Refusal = "exceeded quota" }
	back := inState(workload.RolloutComplete, 10*time.Second, 2*time.Second)
	for name, test := range map[string]struct {
		is                                func(*workload.State)
		known                             func(*evaluation)
		isSidecars, isUnexplained, isDone bool
	}{
		"deadline, pods not read":                 {late, blind(withoutReport), false, true, false},
		"deadline, pods of this workload unread":  {late, withoutReport, false, true, false},
		"deadline, the sidecar crashes":           {late, withFault(crash), true, false, false},
		"deadline, no node has room":              {late, withFault(full), true, false, false},
		"deadline, only the application can be":   {late, withFault(workload.Fault{}), false, false, false},
		"deadline, the API server refuses pods":   {refused, blind(withoutReport), true, false, false},
		"pods lost, not read":                     {lost, blind(withoutReport), false, true, false},
		"pods back after a failure, not read":     {back, blind(reportedAs(v1alpha1.StateFailed)), false, true, false},
		"pods back after a failure that was seen": {back, reportedAs(v1alpha1.StateFailed), true, false, false},
		"soaked": {inState(workload.RolloutComplete, time.Minute), blind(withoutReport), false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
			test.is(&state)
			test.known(e)
			decided := decideFor(e, []evaluatedWorkload{evaluated("cart", plan.None, &plan.Desired{}, state)}, nil)
			p, progress := &decided.Plans[0], NewProgress(decided.Plans, false)
			require.Equal(t, !test.isDone, p.Rollout.Phase == plan.RolloutFailed)
			require.Equal(t, test.isSidecars, p.Rollout.SidecarFailed)
			require.Equal(t, test.isSidecars, progress.Failed == 1)
			require.Equal(t, test.isUnexplained, progress.Unexplained == 1)
		})
	}
}

// A decision without a clock reports no missed deadline of a rollout in progress.
func TestDecide_MissesNoDeadlineWithoutClock(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		state := workload.State{Rollout: workload.RolloutProgressing, Progress: workload.Progress{Newest: 1}, Availability: workload.Availability{StateSince: noon}}
		w := evaluated("cart", plan.None, &plan.Desired{}, state)
		w.Evaluated.Plan.Target.Kind = kind

		p := decideFor(&evaluation{Input: inputAt(time.Time{})}, []evaluatedWorkload{w}, nil).Plans[0]

		require.Equal(t, plan.RolloutProgressing, p.Rollout.Phase, kind)
		require.Empty(t, p.Message(), kind)
	}
}
