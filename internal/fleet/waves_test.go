// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const threeWaves = `waves:
- {name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: 30m}
- {name: early, environments: [development, staging]}
halt: {failedWorkloads: 2}`

// fleetOf is an installation with a VectorSidecar in each of three waves.
type fleetOf struct {
	t      *testing.T
	now    time.Time
	given  Target
	waves  *Waves
	names  []types.NamespacedName
	is     []*v1alpha1.RolloutStatus
	stages []RevisionState
	// reported has the waves with a reconcile since the start, and deleted the waves with a deleted VectorSidecar.
	reported, deleted map[int]bool
	wakened           map[types.NamespacedName]bool
	// generation is that of all VectorSidecars when a revision is let through.
	generation int64
	// annotations are those of the VectorSidecars, by wave.
	annotations map[int]map[string]string
	// outdated has the waves with a changed spec that has not been reconciled.
	outdated map[int]bool
	// due is when workloads of a wave will have waited too long.
	due map[int]time.Time
	// onFailure is what all VectorSidecars say themselves.
	onFailure v1alpha1.OnFailure
}

func newFleet(t *testing.T, text string, waves int) *fleetOf {
	t.Helper()
	rules, err := Parse("rollout", []byte(text))
	require.NoError(t, err)
	f := &fleetOf{t: t, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), given: Target{Rules: rules, Revision: "one"}}
	for wave := range waves {
		f.names = append(f.names, types.NamespacedName{Namespace: "shop", Name: rules.WaveName(wave)})
		f.is = append(f.is, nil)
		f.stages = append(f.stages, RevisionState{})
	}
	f.restart()
	return f
}

// restart is another leader, who knows the statuses alone.
func (f *fleetOf) restart() {
	f.wakened, f.reported, f.deleted = map[types.NamespacedName]bool{}, map[int]bool{}, map[int]bool{}
	f.waves = nil
	f.check()
}

// check checks the waves.
func (f *fleetOf) check() {
	var statuses []MemberStatus
	isKnown := true
	for wave, is := range f.is {
		isKnown = isKnown && (f.reported[wave] || f.deleted[wave])
		if is != nil && !f.deleted[wave] {
			statuses = append(statuses, MemberStatus{Name: f.names[wave], Member: f.member(wave), Status: is, IsOutdated: f.outdated[wave]})
		}
	}
	previous := f.waves
	f.waves = NewWaves(&f.given, statuses, isKnown)
	if previous == nil {
		return
	}
	for _, name := range f.waves.AffectedSince(previous) {
		f.wakened[name] = true
	}
}

// fail is a failed reconcile of the VectorSidecar of a wave.
func (f *fleetOf) fail(wave int) {
	f.reported[wave] = true
	f.check()
}

func (f *fleetOf) member(wave int) WaveMember {
	member := WaveMember{Wave: wave, Generation: f.generation, OnFailure: f.onFailure, MaxAgeTime: f.due[wave]}
	f.given.ReadAnnotations(&member, f.annotations[wave])
	return member
}

// pass is a pass for the VectorSidecar of a wave.
func (f *fleetOf) pass(wave int, progress Progress) RevisionState {
	f.check() // The target or its rules may have changed.
	stage := Advance(f.is[wave], f.member(wave), &f.given, f.waves.Gate(f.member(wave), &f.given, f.now))
	stage.Observe(progress, wave, &f.given, f.now)
	f.is[wave], f.reported[wave] = &stage.Status, true
	f.check()
	return stage
}

func (f *fleetOf) passes(progress Progress) {
	for range 3 {
		for wave := range f.names {
			f.pass(wave, progress)
		}
	}
}

func (f *fleetOf) states() (states []v1alpha1.RolloutState) {
	for _, is := range f.is {
		states = append(states, is.State)
	}
	return states
}

var (
	nothing = Progress{IsDone: true}
	rolling = Progress{IsStarted: true}
)

// A wave starts a revision after the waves before it have finished and soaked.
func TestWaves_StartRevisionWaveByWave(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Complete", "Complete", "Complete"}, f.states(), "where nothing had to be done nothing soaks")

	f.given.Revision = "two"
	stage := f.pass(0, rolling)
	require.True(t, stage.IsNew)
	require.False(t, f.pass(1, nothing).IsHeld, "it has the one before meanwhile")
	require.False(t, f.pass(2, nothing).IsHeld)
	require.Equal(t, []v1alpha1.RolloutState{"Progressing", "Waiting", "Waiting"}, f.states())
	require.Equal(t, "waiting for VectorSidecar shop/canary of wave canary to finish revision two", f.is[2].Message)
	require.Equal(t, "one", f.is[1].Revision)

	f.now = f.now.Add(time.Minute)
	clear(f.wakened)
	f.pass(0, nothing)
	require.True(t, f.wakened[f.names[1]], "who waits is told when the wave is done")
	stage = f.pass(1, nothing)
	require.False(t, stage.IsNew)
	require.Equal(t, "wave canary soaks until 2026-11-23T12:31:00Z", f.is[1].Message)
	require.Equal(t, f.now.Add(30*time.Minute), stage.Gate.Until)
	require.Equal(t, v1alpha1.RolloutSoaking, f.is[0].State)

	f.now = f.now.Add(30 * time.Minute)
	require.True(t, f.pass(1, rolling).IsNew)
	require.False(t, f.pass(2, nothing).IsNew)
	f.pass(1, nothing)
	require.True(t, f.pass(2, rolling).IsNew)
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Complete", "Complete", "Complete"}, f.states())
}

// In a wave, nothing has to be written, so no pod runs the revision. The next wave still waits for the soak.
func TestWaves_SoakIfNothingIsWritten(t *testing.T) {
	idle := func(workloads, evidence int) Progress {
		return Progress{IsDone: true, Workloads: workloads, Evidence: evidence}
	}
	for name, test := range map[string]struct {
		progress Progress
		soaks    bool
	}{
		"no workloads":                {idle(0, 0), false},
		"all workloads have evidence": {idle(3, 3), false},
		"one has evidence":            {idle(3, 1), false},
		"none has":                    {idle(3, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, threeWaves, 3)
			f.passes(idle(1, 1))
			f.given.Revision = "two"
			f.pass(0, test.progress)
			require.Equal(t, test.soaks, f.is[0].State == v1alpha1.RolloutSoaking)
			require.Nil(t, f.is[0].StartTime)
			f.pass(1, idle(1, 1))
			require.Equal(t, test.soaks, f.is[1].State == v1alpha1.RolloutWaiting, f.is[1].Message)
			f.restart()
			f.passes(test.progress)
			require.Equal(t, test.soaks, f.is[1].Revision == "one", "after a restart")

			f.now = f.now.Add(f.given.Rules.Soak("canary"))
			f.pass(0, test.progress)
			f.pass(1, idle(1, 1))
			require.Equal(t, v1alpha1.RolloutComplete, f.is[0].State)
			require.Equal(t, "two", f.is[1].Revision)
		})
	}

	f := newFleet(t, threeWaves, 3)
	f.passes(idle(1, 1))
	f.given.Revision = "two"
	f.pass(0, idle(2, 0))
	require.True(t, f.is[0].LacksEvidence())
	f.pass(0, idle(2, 1))
	f.pass(1, idle(1, 1))
	require.Equal(t, "two", f.is[1].Revision, "its first pods ran")
}

// The soak of a wave ends while no operator runs. After the restart, the next wave starts as soon as each VectorSidecar
// has reported.
func TestSoak_ContinuesWithoutLeader(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, nothing)
	f.now = f.now.Add(31 * time.Minute)
	f.restart()
	stage := f.pass(1, nothing)
	require.False(t, stage.IsNew)
	require.Equal(t, "waiting for the first reconcile of all VectorSidecars since the start of the operator", stage.Gate.Message)
	f.pass(2, nothing)
	clear(f.wakened)
	f.pass(0, nothing)
	require.True(t, f.wakened[f.names[1]], "the last that was to be heard has been")
	require.True(t, f.pass(1, rolling).IsNew)
}

// A failed revision is halted in all waves until another revision is published, or a user requests a retry.
func TestHalt_LastsUntilNewRevisionOrRetry(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, Progress{IsStarted: true, Failed: 1})
	require.False(t, f.pass(0, Progress{IsStarted: true, Failed: 1}).Gate.IsHalted, "one is not enough")
	f.pass(0, Progress{IsStarted: true, Failed: 2})
	require.True(t, f.wakened[f.names[2]])
	stage := f.pass(0, nothing)
	require.True(t, stage.IsHeld && stage.Gate.IsHalted, "it is not forgotten when the workloads recover")
	f.pass(1, nothing)
	f.pass(2, nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Halted", "Halted", "Halted"}, f.states())
	require.Equal(t, "2 workloads failed with revision two (rollout.halt): see VectorSidecar shop/canary", f.is[2].Message)
	require.True(t, f.waves.IsHalted())
	f.restart()
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Halted", "Halted", "Halted"}, f.states(), "another leader knows of it")

	retried := *f
	retried.is = append([]*v1alpha1.RolloutStatus(nil), f.is...)
	retried.given.Retry = "again"
	retried.restart()
	retried.passes(nothing)
	require.Empty(t, retried.is[0].FailedRevision)
	require.Equal(t, v1alpha1.RolloutSoaking, retried.is[0].State)

	f.given.Revision = "three"
	f.restart()
	f.pass(0, nothing)
	f.pass(1, nothing)
	f.pass(2, nothing)
	require.True(t, f.pass(0, rolling).IsNew)
	require.Equal(t, []v1alpha1.RolloutState{"Progressing", "Waiting", "Waiting"}, f.states())
	require.Empty(t, f.is[0].FailedRevision)
}

// The operator crashes after it wrote a workload and before the status has it. The next operator finds the rollout
// finished and still waits for the soak.
func TestSoak_StartsAfterCrash(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	stage := Advance(f.is[0], WaveMember{}, &f.given, f.waves.Gate(WaveMember{}, &f.given, f.now))
	require.True(t, stage.IsNew)
	stage.MarkStarted(f.now)
	f.is[0] = &stage.Status // That is all that was written before the crash, but for the workload.
	f.restart()
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Soaking", "Waiting", "Waiting"}, f.states())
}

// After a VectorSidecar has reverted a halted revision, its writes are not on hold, and use the previous revision.
func TestAdvance_RevertsHaltedRevision(t *testing.T) {
	f := newFleet(t, threeWaves+"\nonFailure: Revert", 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, Progress{IsStarted: true, Failed: 2})
	stage := f.pass(0, rolling)
	require.True(t, stage.IsNew && !stage.IsHeld)
	require.Equal(t, "one", f.is[0].Revision)
	require.Equal(t, "two", f.is[0].RevertedFrom)
	require.Equal(t, "two", f.is[0].FailedRevision)
	require.NotNil(t, f.is[0].StartTime)
	stage = f.pass(0, Progress{Failed: 2})
	require.False(t, stage.IsNew || stage.IsHeld, "what fails on the way back stops the VectorSidecar alone")
	require.Nil(t, f.is[0].CompletionTime)
	f.restart()
	f.pass(0, nothing)
	require.Equal(t, v1alpha1.RolloutReverted, f.is[0].State, "before all have been heard, too")
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Reverted", "Halted", "Halted"}, f.states())
	require.NotNil(t, f.is[0].CompletionTime)
	require.False(t, f.pass(1, nothing).IsHeld, "the others have the one before, and keep working with it")

	f.given.Retry = "again"
	f.restart()
	f.passes(rolling)
	require.Equal(t, []v1alpha1.RolloutState{"Progressing", "Waiting", "Waiting"}, f.states())
	require.Equal(t, "two", f.is[0].Revision)
	require.Equal(t, "one", f.is[0].Previous)
	require.Empty(t, f.is[0].RevertedFrom)
}

// The field onFailure of a VectorSidecar overrides that of the installation.
func TestAdvance_PrefersOnFailureOfVectorSidecar(t *testing.T) {
	for own, test := range map[v1alpha1.OnFailure]struct {
		rules string
		want  v1alpha1.RolloutState
	}{
		"Revert": {"halt: {}", "Reverted"},
		"Halt":   {"halt: {}\nonFailure: Revert", "Halted"},
		"":       {"halt: {}\nonFailure: Revert", "Reverted"},
	} {
		f := newFleet(t, test.rules, 1)
		f.onFailure = own
		f.passes(nothing)
		f.given.Revision = "two"
		f.pass(0, rolling)
		f.pass(0, Progress{IsStarted: true, Failed: 1})
		f.passes(rolling)
		require.Equal(t, test.want, f.is[0].State, own)
	}
}

// The first revision fails, so that there is none to revert to. It is halted.
func TestAdvance_HaltsFailedFirstRevision(t *testing.T) {
	f := newFleet(t, "halt: {}\nonFailure: Revert", 1)
	f.pass(0, rolling)
	f.pass(0, rolling)
	f.pass(0, Progress{IsStarted: true, Failed: 1})
	require.True(t, f.pass(0, rolling).IsHeld)
	require.Equal(t, v1alpha1.RolloutHalted, f.is[0].State)
}

// A new revision is published while one is failing. VectorSidecars start it, and still revert to the revision before
// the failing one.
func TestAdvance_RemembersLastFinishedRevision(t *testing.T) {
	f := newFleet(t, threeWaves+"\nonFailure: Revert", 3)
	f.passes(nothing)
	for _, bad := range []string{"two", "three"} {
		f.given.Revision = bad
		f.pass(0, rolling)
		require.Equal(t, "one", f.is[0].Previous)
	}
	f.pass(0, Progress{IsStarted: true, Failed: 2})
	f.pass(0, rolling)
	require.Equal(t, "one", f.is[0].Revision)
}

// A VectorSidecar is created in a wave that has not started the target revision. It starts with the revision of that
// wave.
func TestAdvance_GivesNewSidecarRevisionOfItsWave(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(2, nothing)
	f.names = append(f.names, types.NamespacedName{Namespace: "new", Name: "logs"})
	before := f.is[2]
	gate := f.waves.Gate(WaveMember{Wave: 2}, &f.given, f.now)
	stage := Advance(nil, WaveMember{Wave: 2, Generation: 1}, &f.given, gate)
	require.True(t, stage.IsNew && !stage.IsHeld)
	require.Equal(t, "one", stage.Status.Revision)
	require.Equal(t, before.CompletionTime, stage.Status.CompletionTime)
	require.Equal(t, v1alpha1.RolloutWaiting, stage.Status.State)

	gate = f.waves.Gate(WaveMember{}, &f.given, f.now)
	require.Equal(t, "two", Advance(nil, WaveMember{Generation: 1}, &f.given, gate).Status.Revision)
}

// A VectorSidecar is created while the target revision has failed elsewhere. It does not start that revision.
func TestWaves_KeepFailedRevisionFromNewSidecar(t *testing.T) {
	f := newFleet(t, "halt: {}", 2)
	f.names = []types.NamespacedName{{Namespace: "shop", Name: "failed"}, {Namespace: "shop", Name: "good"}}
	f.is = []*v1alpha1.RolloutStatus{
		{Revision: "two", FailedRevision: "two", FailedWorkloads: 1},
		{Revision: "two", CompletionTime: &metav1.Time{Time: f.now}},
	}
	f.given.Revision = "three"
	f.restart()
	require.Nil(t, f.waves.Gate(WaveMember{}, &f.given, f.now).Fallback)
	f.deleted[0] = true
	f.check()
	require.Equal(t, "two", f.waves.Gate(WaveMember{}, &f.given, f.now).Fallback.Revision)
}

// A revision cannot be started, for example because it is not stored. The VectorSidecar keeps its revision, and its
// status states the reason.
func TestReject_KeepsPreviousRevision(t *testing.T) {
	f := newFleet(t, threeWaves, 1)
	f.passes(nothing)
	f.given.Revision = "two"
	before := f.is[0].DeepCopy()
	stage := Advance(f.is[0], WaveMember{Generation: 1}, &f.given, f.waves.Gate(WaveMember{}, &f.given, f.now))
	require.True(t, stage.IsNew)
	stage.Reject(f.is[0], &f.given, "it is not stored")
	require.False(t, stage.IsNew || stage.IsHeld)
	require.Equal(t, "one", stage.Status.Revision)
	require.Equal(t, "it is not stored", stage.Status.Message)
	require.Equal(t, before, f.is[0])
}

// An undo reverts all VectorSidecars at the same time, not wave by wave.
func TestUndoRequest_RevertsAllWavesTogether(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, Progress{Failed: 2})
	annotations := map[string]string{meta.AnnotationUndoRollout: "two/one"}
	f.given = NewTarget(f.given.Rules, "two", annotations)
	require.True(t, f.given.IsRevert)
	stage := f.pass(0, rolling)
	require.True(t, stage.IsNew && !stage.IsHeld)
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Soaking", "Complete", "Complete"}, f.states())

	f.given = NewTarget(f.given.Rules, "three", annotations)
	require.False(t, f.given.IsRevert, "it is about the one revision")
	require.Equal(t, "three", f.given.Revision)
}

// A workload that fails during the soak of its wave counts for the halt.
func TestFailures_CountUntilEndOfSoak(t *testing.T) {
	f := newFleet(t, "halt: {within: 5m}", 1)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, nothing)
	f.now = f.now.Add(6 * time.Minute)
	f.pass(0, Progress{IsDone: true, Failed: 1})
	require.Empty(t, f.is[0].FailedRevision)
	f.now = f.now.Add(-2 * time.Minute)
	f.pass(0, Progress{IsDone: true, Failed: 1})
	require.Equal(t, "two", f.is[0].FailedRevision)
}

// A failure that the spec of a VectorSidecar caused does not halt the revision.
func TestFailures_ExcludeThoseCausedBySpec(t *testing.T) {
	for name, generations := range map[string]struct{ before, now int64 }{
		"changed since":  {1, 2},
		"broken already": {0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "waves: [{name: canary}]\nhalt: {}", 2)
			f.passes(nothing)
			f.given.Revision, f.generation = "two", generations.before
			f.pass(0, rolling)
			f.pass(0, Progress{IsStarted: true, Failed: 3, Generation: generations.now})
			require.Empty(t, f.is[0].FailedRevision)
			require.True(t, f.pass(1, rolling).IsNew, "nobody waits for it")
		})
	}
}

// Workloads fail for an unknown cause. The revision is not halted, and other VectorSidecars of the wave continue. The
// wave is not finished, so the next one waits.
func TestRevisionState_StopsOneVectorSidecarOnUnknownFailure(t *testing.T) {
	f := newFleet(t, "waves: [{name: canary, soak: 0s}]\nhalt: {failedWorkloads: 1}", 2)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, Progress{IsStarted: true, IsDone: true, Unexplained: 2})
	require.Empty(t, f.is[0].FailedRevision)
	require.Nil(t, f.is[0].CompletionTime)
	require.Equal(t, v1alpha1.RolloutProgressing, f.is[0].State)
	require.Contains(t, f.is[0].Message, "2 workloads failed for an unknown reason")
	require.False(t, f.pass(1, nothing).IsNew, "the next wave waits")
	require.False(t, f.waves.IsHalted())

	f.pass(0, nothing)
	require.NotNil(t, f.is[0].CompletionTime, "the pods have become available")
	require.True(t, f.pass(1, rolling).IsNew)
}

// A user promotes a revision in a wave. The next wave starts without waiting for that wave or those before it.
func TestPromotedWave_StartsNextWave(t *testing.T) {
	for promoted, want := range map[string][2]bool{
		"":           {false, false},
		"one/early":  {false, false},
		"two/canary": {true, false},
		"two/early":  {true, true},
	} {
		f := newFleet(t, threeWaves, 3)
		f.passes(nothing)
		f.given.Revision = "two"
		f.pass(0, rolling)
		f.given.Promoted = promoted
		require.Equal(t, want[0], f.pass(1, rolling).IsNew, promoted)
		require.Equal(t, want[1], f.pass(2, rolling).IsNew, promoted)
	}
}

// A newer revision is published while a VectorSidecar rolls out another one. It starts the newer one at once.
func TestAdvance_StartsNewerRevisionDuringRollout(t *testing.T) {
	f := newFleet(t, `waves: [{name: canary}]`, 2)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.pass(0, nothing)
	require.True(t, f.pass(1, rolling).IsNew)
	f.given.Revision = "three"
	require.True(t, f.pass(0, rolling).IsNew)
	require.True(t, f.pass(1, rolling).IsHeld, "what is left of the second waits for the third")
	f.pass(0, nothing)
	require.True(t, f.pass(1, rolling).IsNew)
}

// A paused VectorSidecar does not block its wave, and does not count as finished.
func TestWaves_IgnorePausedVectorSidecar(t *testing.T) {
	f := newFleet(t, `waves: [{name: canary, soak: 30m}]`, 2)
	f.passes(nothing)
	f.given.Revision = "two"
	paused := Progress{IsDone: true, IsPaused: true}
	f.pass(0, paused)
	require.Equal(t, v1alpha1.RolloutPaused, f.is[0].State)
	require.Equal(t, "spec.rollout.paused is true", f.is[0].Message)
	require.Nil(t, f.is[0].CompletionTime)
	stage := f.pass(0, paused)
	_, isWatched := stage.WatchedSince(0, &f.given, f.now)
	require.False(t, isWatched, "nothing rolls out")
	require.True(t, f.pass(1, rolling).IsNew, "nobody waits for it")
	f.restart()
	f.passes(paused)
	require.Equal(t, []v1alpha1.RolloutState{"Paused", "Paused"}, f.states())

	f.given.Revision = "three"
	f.pass(0, paused)
	require.True(t, f.pass(1, paused).IsNew)
	f.given.Revision = "four"
	f.pass(0, rolling)
	require.True(t, f.pass(1, rolling).IsHeld, "it was not done with the one before")
	f.pass(0, nothing)
	f.now = f.now.Add(30 * time.Minute)
	f.pass(1, rolling)
	require.Equal(t, v1alpha1.RolloutProgressing, f.pass(1, rolling).Status.State)
}

// Annotations on a VectorSidecar promote or revert that one only.
func TestAdvance_FollowsAnnotationsOfOneSidecar(t *testing.T) {
	f := newFleet(t, `waves: [{name: canary}, {name: early}]`, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.annotations = map[int]map[string]string{2: {meta.AnnotationPromoteRollout: "two"}}
	f.pass(0, rolling)
	require.False(t, f.pass(1, rolling).IsNew)
	require.True(t, f.pass(2, rolling).IsNew, "it waits for no wave")
	require.Equal(t, "two", f.is[2].Revision)

	f.annotations[0] = map[string]string{meta.AnnotationUndoRollout: "two/one"}
	require.True(t, f.pass(0, rolling).IsNew)
	require.Equal(t, "one", f.is[0].Revision)
	require.Equal(t, v1alpha1.RolloutReverted, f.is[0].State)
	require.Equal(t, "an annotation reverts the VectorSidecar from revision two to one", f.is[0].Message)
	require.False(t, f.pass(0, nothing).IsHeld)
	require.True(t, f.pass(1, rolling).IsNew, "nobody waits for who has gone back")
	f.restart()
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Reverted", "Complete", "Complete"}, f.states())

	f.annotations = nil
	require.True(t, f.pass(0, rolling).IsNew, "the annotation was removed")
	require.Equal(t, "two", f.is[0].Revision)
	f.annotations = map[int]map[string]string{0: {meta.AnnotationUndoRollout: "two/one"}, 1: {meta.AnnotationPromoteRollout: "two"}}
	f.given.Revision = "three"
	require.True(t, f.pass(0, rolling).IsNew, "annotations for another revision say nothing")
	require.Equal(t, "three", f.is[0].Revision)
	require.False(t, f.pass(1, rolling).IsNew)
}

// An annotation has an invalid value. The message names the annotation, but does not quote its value, which may be very
// long.
func TestAdvance_DoesNotQuoteInvalidAnnotation(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, annotations := range []map[string]string{
		{meta.AnnotationUndoRollout: "two/" + long}, {meta.AnnotationUndoRollout: "two/../secrets"}, {meta.AnnotationUndoRollout: long},
		{meta.AnnotationUndoRollout: "two/"}, {meta.AnnotationPromoteRollout: "two/canary"}, {meta.AnnotationPromoteRollout: long},
	} {
		f := newFleet(t, `waves: [{name: canary}]`, 2)
		f.passes(nothing)
		f.given.Revision = "two"
		f.annotations = map[int]map[string]string{0: annotations, 1: annotations}
		require.True(t, f.pass(0, rolling).IsNew, "it is as if there was none")
		require.Equal(t, "two", f.is[0].Revision)
		require.Contains(t, f.is[0].Message, "annotation "+meta.Group)
		require.Less(t, len(f.is[0].Message), 300)
		require.False(t, f.pass(1, rolling).IsNew)
	}
}

// Other VectorSidecars do not wait for one that is deleted, or whose reconcile fails.
func TestWaves_IgnoreDeletedAndFailedSidecars(t *testing.T) {
	f := newFleet(t, `waves: [{name: canary}]`, 2)
	f.fail(0)
	require.True(t, f.pass(1, nothing).IsHeld)
	require.True(t, f.wakened[f.names[1]], "it was the last to be heard")
	require.True(t, f.pass(1, nothing).IsNew)

	f = newFleet(t, `waves: [{name: canary}]`, 2)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	require.False(t, f.pass(1, nothing).IsNew)
	clear(f.wakened)
	f.deleted[0] = true
	f.check()
	require.True(t, f.wakened[f.names[1]])
	require.True(t, f.pass(1, nothing).IsNew)
}

// After a restart, the first reconcile of a VectorSidecar fails. Its status is used instead, so that a halt and the
// order of waves stay.
func TestWaves_UseStatusUntilFirstReconcile(t *testing.T) {
	f := newFleet(t, threeWaves, 2)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, rolling)
	f.restart()
	f.fail(0)
	f.pass(1, nothing)
	require.False(t, f.pass(1, nothing).IsNew)
	require.Equal(t, "waiting for VectorSidecar shop/canary of wave canary to finish revision two", f.is[1].Message)

	f.pass(0, Progress{Failed: 2})
	f.restart()
	f.fail(0)
	f.pass(1, nothing)
	require.True(t, f.pass(1, nothing).Gate.IsHalted)
}

// The spec of a VectorSidecar that has finished the revision changes. Later waves wait for its next reconcile, which may
// find workloads without the revision.
func TestWaves_WaitForReconcileOfChangedSpec(t *testing.T) {
	f := newFleet(t, `waves: [{name: canary}]`, 2)
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, nothing)
	f.outdated = map[int]bool{0: true}
	require.False(t, f.pass(1, rolling).IsNew)
	require.Equal(t, "waiting for VectorSidecar shop/canary of wave canary to finish revision two", f.is[1].Message)

	f.outdated = nil
	require.True(t, f.pass(1, rolling).IsNew)
}

// A VectorSidecar that several waves select is in the first of them.
func TestRules_FindFirstMatchingWave(t *testing.T) {
	rules, err := Parse("rollout", []byte(threeWaves))
	require.NoError(t, err)
	require.Equal(t, 0, rules.WaveFor(map[string]string{"wave": "canary"}, "staging"))
	require.Equal(t, 1, rules.WaveFor(nil, "staging"))
	require.Equal(t, 2, rules.WaveFor(nil, "production"))
	require.Equal(t, DefaultWave, rules.WaveName(2))
	require.False(t, (*Rules)(nil).IsStaged())
}

func TestParse_RejectsInvalidWaves(t *testing.T) {
	for text, want := range map[string]string{
		"waves: [{name: a}, {name: a}]": `waves.1.name: duplicate wave name "a"`,
		"waves: [{name: a, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}]": "waves.0.namespaceSelector:",
		"waves: [{name: default}]":       `waves.0.name: "default" is`,
		"waves: [{name: a, soak: soon}]": "soak",
		"halt: {failedWorkloads: 0}":     "failedWorkloads",
		"onFailure: Revert":              "onFailure: Revert has no effect without halt",
		"onFailure: Undo":                "onFailure",
	} {
		_, err := Parse("rollout", []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// Workloads have reached spec.rollout.maxAge without a new revision. They start in the order of the waves.
func TestWaves_ApplyToOverdueWorkloads(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.passes(nothing)
	f.given.Revision = "two"
	f.due = map[int]time.Time{0: f.now.Add(time.Hour)}
	f.passes(nothing)
	require.Equal(t, []v1alpha1.RolloutState{"Complete", "Complete", "Complete"}, f.states(), "what may not roll holds nobody up")

	f.now = f.now.Add(time.Hour)
	late := Progress{IsLate: true}
	stage := f.pass(2, late)
	require.False(t, stage.Gate.IsOpen, "a wave before may have late ones, and has not been looked at")
	require.Equal(t, "waiting for VectorSidecar shop/canary of wave canary to start rollouts that have waited for spec.rollout.maxAge", stage.Gate.Message)
	require.NotNil(t, f.is[2].CompletionTime)

	delete(f.due, 0)
	require.True(t, f.pass(0, late).Gate.IsOpen)
	require.Nil(t, f.is[0].CompletionTime, "the status says so before anything is written")
	require.Equal(t, v1alpha1.RolloutProgressing, f.is[0].State)
	f.restart()
	for wave := range f.names {
		f.pass(wave, Progress{IsLate: wave != 1, IsDone: wave == 1})
	}
	stage = f.pass(2, late)
	require.Equal(t, "waiting for VectorSidecar shop/canary of wave canary to finish revision two", stage.Gate.Message)

	f.pass(0, nothing)
	require.Equal(t, v1alpha1.RolloutSoaking, f.is[0].State)
	require.False(t, f.pass(2, late).Gate.IsOpen)
	f.now = f.now.Add(30 * time.Minute)
	require.True(t, f.pass(2, late).Gate.IsOpen)
	require.Equal(t, v1alpha1.RolloutProgressing, f.is[2].State)
	f.pass(2, Progress{Failed: 2})
	require.True(t, f.pass(0, nothing).Gate.IsHalted, "and failures count")
}

// A user retries a halted revision for one VectorSidecar. It continues, and the revision stays halted for all others.
func TestHalt_AllowsRetryOfOneSidecar(t *testing.T) {
	retry := map[string]string{meta.AnnotationRetryRollout: "now"}
	for name, onFailure := range map[string]v1alpha1.OnFailure{"halted": v1alpha1.OnFailureHalt, "reverted": v1alpha1.OnFailureRevert} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, threeWaves, 3)
			f.annotations = map[int]map[string]string{0: {meta.AnnotationRetryRollout: "an earlier one"}}
			f.passes(nothing)
			f.given.Revision, f.onFailure = "two", onFailure
			f.pass(0, rolling)
			f.pass(0, Progress{Failed: 2})
			f.pass(0, Progress{Failed: 2})
			require.Equal(t, map[string]v1alpha1.RolloutState{"halted": "Halted", "reverted": "Reverted"}[name], f.is[0].State, "an earlier word counts for nothing")

			f.annotations[0] = retry
			f.annotations[1] = retry
			f.restart()
			for range 2 {
				for wave := range f.names {
					f.pass(wave, Progress{IsStarted: wave == 0, IsDone: wave != 0})
				}
			}
			require.Equal(t, "two", f.is[0].Revision)
			require.False(t, f.stages[0].IsHeld)
			require.Equal(t, []v1alpha1.RolloutState{"Progressing", "Halted", "Halted"}, f.states(), "the halt stays, also for those that would get it")
			require.Equal(t, "one", f.is[1].Revision)
			require.True(t, f.pass(2, nothing).Gate.IsHalted)

			f.pass(0, Progress{Failed: 2})
			require.Equal(t, v1alpha1.RolloutProgressing, f.is[0].State, "what had failed before is no new failure")
			f.pass(0, Progress{Failed: 3})
			stage := f.pass(0, Progress{Failed: 3})
			require.True(t, stage.IsHeld || stage.Status.RevertedFrom == "two", "one more is")
		})
	}
}
