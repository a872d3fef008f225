// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// waitingFor is a VectorSidecar that is ten minutes old.
func waitingFor(mode v1alpha1.RolloutMode, maxAge time.Duration) *v1alpha1.VectorSidecar {
	vs := logs().WithSoak(0).Build()
	vs.Spec.Rollout.Mode, vs.CreationTimestamp = mode, metav1.NewTime(noon.Add(-10*time.Minute))
	if maxAge > 0 {
		vs.Spec.Rollout.MaxAge = &metav1.Duration{Duration: maxAge}
	}
	return vs
}

// current has the first workload carry what the VectorSidecar asks for.
func current(t *testing.T, s *Snapshot) {
	t.Helper()
	asked := s.Sidecar
	s.Sidecar = asked.DeepCopy()
	s.Sidecar.Spec.Rollout.Mode = v1alpha1.ModeImmediate
	carried(s, &decide(t, s).Plans[0])
	s.Sidecar = asked
}

// noting has the first workload note a wait, as after the write of a plan.
func noting(s *Snapshot, since time.Time) {
	change(s, func(v *workload.View) {
		manager := meta.Manager("logs")
		owned := v.Owned[manager]
		owned.Waits = true
		v.Owned = map[string]workload.OwnedFields{manager: owned}
		v.Waits = map[string]workload.Wait{meta.AnnotationWaiting(manager): workload.NewWait(since, &v.State)}
	})
}

// later has the VectorSidecar ask for another sidecar.
func later(s *Snapshot) {
	s.Sidecar = s.Sidecar.DeepCopy()
	s.Sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"}
}

// goingBack has what the VectorSidecar asks for be its last good spec, in place of one that has failed.
func goingBack(s *Snapshot) {
	s.Sidecar.Status.Reverted = &v1alpha1.RevertedSpec{Digest: "of what failed"}
	s.Sidecar.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: lastgood.Digest(&s.Sidecar.Spec)}
}

func unfinished(v *workload.View) { v.Rollout = workload.RolloutProgressing }

// Each case has a rollout mode and the earlier rollouts of a workload, and whether a changed sidecar starts now.
func TestDecide_StartsChangeByRolloutMode(t *testing.T) {
	const owner, person = meta.ReasonWaitingForAppRollout, meta.ReasonWaitingForPromotion
	for name, test := range map[string]struct {
		mode   v1alpha1.RolloutMode
		maxAge time.Duration
		happen func(*Snapshot)
		// reason is why it waits, "" if it goes.
		reason string
		why    string
	}{
		"by default":               {"", 0, func(*Snapshot) {}, "", "as it always was"},
		"immediately":              {v1alpha1.ModeImmediate, 0, func(*Snapshot) {}, "", "as by default"},
		"nothing":                  {v1alpha1.ModeOnAppRollout, 0, func(*Snapshot) {}, owner, "the owner has changed nothing"},
		"nothing by hand":          {v1alpha1.ModeManual, 0, func(*Snapshot) {}, person, "nobody has said so"},
		"a scale":                  {v1alpha1.ModeOnAppRollout, 0, func(s *Snapshot) { change(s, func(v *workload.View) { v.Generation++ }) }, owner, "the template is the same"},
		"another template":         {v1alpha1.ModeOnAppRollout, 0, func(s *Snapshot) { change(s, func(v *workload.View) { v.Template++ }) }, "", "that is the owner's change"},
		"another template by hand": {v1alpha1.ModeManual, 0, func(s *Snapshot) { change(s, func(v *workload.View) { v.Template++ }) }, person, "a person's word is asked for, whatever the owner does"},
		"its age":                  {v1alpha1.ModeOnAppRollout, time.Hour, func(s *Snapshot) { s.Now = noon.Add(time.Hour) }, "", "it has waited for maxAge"},
		"less than its age":        {v1alpha1.ModeOnAppRollout, time.Hour, func(s *Snapshot) { s.Now = noon.Add(59 * time.Minute) }, owner, "it has not"},
		"its age by hand":          {v1alpha1.ModeManual, time.Hour, func(s *Snapshot) { s.Now = noon.Add(time.Hour) }, "", "it has waited for maxAge"},
		"a rollout that failed":    {v1alpha1.ModeOnAppRollout, 0, func(s *Snapshot) { change(s, func(v *workload.View) { v.Rollout = workload.RolloutFailed }) }, "", "its pods may not run because of the sidecar that it has"},
		"a failure in the status": {v1alpha1.ModeManual, 0, func(s *Snapshot) {
			s.Sidecar.Status.Workloads = []v1alpha1.WorkloadStatus{{Kind: "Deployment", Name: "cart", State: v1alpha1.StateFailed}}
		}, "", "as above"},
		"no pods yet":                  {v1alpha1.ModeManual, 0, func(s *Snapshot) { change(s, unfinished) }, person, "it is not known to have failed"},
		"no pods yet, on the way back": {v1alpha1.ModeManual, 0, func(s *Snapshot) { change(s, unfinished); goingBack(s) }, "", "they may fail as others have"},
		"the way back of what runs":    {v1alpha1.ModeOnAppRollout, 0, goingBack, owner, "it does nobody harm"},
		"damage": {v1alpha1.ModeManual, 0, func(s *Snapshot) {
			change(s, func(v *workload.View) {
				owned := v.Owned[meta.Manager("logs")]
				owned.AppliedHash = "of something else"
				v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): owned}
			})
		}, "", "a repair waits for nobody"},
		"damage that is reported": {v1alpha1.ModeManual, 0, func(s *Snapshot) {
			s.Sidecar.Spec.DriftPolicy = v1alpha1.DriftReport
			change(s, func(v *workload.View) {
				owned := v.Owned[meta.Manager("logs")]
				owned.AppliedHash = "of something else"
				v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): owned}
			})
		}, person, "nobody wants it repaired"},
		"a rollback": {v1alpha1.ModeOnAppRollout, 0, func(s *Snapshot) {
			change(s, func(v *workload.View) {
				owned := v.Owned[meta.Manager("logs")]
				owned.Leftovers = []string{"vector"}
				v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): owned}
			})
		}, "", "an older sidecar is back"},
		"a lost configuration": {v1alpha1.ModeOnAppRollout, 0, func(s *Snapshot) {
			change(s, func(v *workload.View) {
				owned := v.Owned[meta.Manager("logs")]
				owned.Tree = map[string]any{}
				tree.EnsureMap(owned.Tree, tree.Pod...)["volumes"] = []any{map[string]any{"name": "config", "configMap": map[string]any{"name": "gone"}}}
				v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): owned}
			})
		}, "", "its next pods would not start"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, waitingFor(test.mode, test.maxAge), cart())
			s.Now = noon
			current(t, s)
			later(s)
			noting(s, noon)
			test.happen(s)
			decided := decide(t, s)
			p := &decided.Plans[0]
			if test.reason == "" {
				require.Equal(t, plan.Update, p.Change, test.why)
				require.Equal(t, test.maxAge > 0, p.MaxAgeExpired)
				require.Zero(t, decided.Deferred)
				return
			}
			require.Equal(t, plan.ActionDefer, p.Action(), test.why)
			require.Equal(t, test.reason, p.Reason())
			require.Equal(t, v1alpha1.StateDeferred, p.State())
			require.False(t, p.Writes(), "it is noted already")
			require.False(t, p.Rollout.InFlight)
			require.EqualValues(t, 1, decided.Deferred.Workloads)
			require.Equal(t, noon, decided.Deferred.Since.Time)
			require.False(t, decided.Writes())
			require.Empty(t, decided.Missing, "what is not written needs no configuration yet")
		})
	}
}

// A promotion starts the change that waits. The next change waits for its own promotion.
func TestDecide_PromotesOnlyWaitingChange(t *testing.T) {
	for _, mode := range []v1alpha1.RolloutMode{v1alpha1.ModeManual, v1alpha1.ModeOnAppRollout} {
		s := snapshot(t, waitingFor(mode, 0), cart())
		s.Now = noon
		current(t, s)
		later(s)
		decided := decide(t, s)
		require.Equal(t, plan.ActionDefer, decided.Plans[0].Action())
		require.True(t, decided.Plans[0].Writes(), "it notes since when")
		require.NotEmpty(t, decided.Deferred.Change)

		s.Sidecar.Annotations = map[string]string{meta.AnnotationPromoteRollout: decided.Deferred.Change}
		require.Equal(t, plan.Update, decide(t, s).Plans[0].Change)

		s.Sidecar.Spec.Sidecar.LogLevel = "error"
		require.Equal(t, plan.ActionDefer, decide(t, s).Plans[0].Action())
	}
}

// Writing the annotation of a deferred change starts no soak. When the change is promoted, it waits for a rollout slot.
func TestDecide_UsesSlotForDeferredChange(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeManual, 0), cart())
	s.Now = noon
	current(t, s)
	later(s)
	noting(s, noon)
	change(s, func(v *workload.View) { v.Generation, v.StateSince, v.Steady = 1, noon, 0 })
	s.WrittenGeneration = func(types.UID) int64 { return 1 }
	s.Sidecar.Spec.Rollout.Soak = &metav1.Duration{Duration: time.Minute}
	s.Sidecar.Annotations = map[string]string{meta.AnnotationPromoteRollout: decide(t, s).Deferred.Change}
	decided := decide(t, s)
	require.Equal(t, plan.Update, decided.Plans[0].Change)
	require.False(t, decided.Plans[0].Rollout.InFlight)
	require.Equal(t, fleet.Demand{Wanted: 1, Matched: 1}, decided.Demand(plan.Injections))
}

// A workload has no sidecar yet. With OnAppRollout, it is injected at once if it is not older than the VectorSidecar.
// With Manual, it is injected at once if the other workloads have the current sidecar.
func TestDecide_InjectsNewWorkloadsByRolloutMode(t *testing.T) {
	for name, test := range map[string]struct {
		mode    v1alpha1.RolloutMode
		created time.Duration // after the VectorSidecar
		other   string        // what another workload has: "", current, before
		goes    bool
		why     string
	}{
		"older, on the owner's rollout":        {v1alpha1.ModeOnAppRollout, -time.Second, "", false, "it runs, and would be restarted"},
		"newer, on the owner's rollout":        {v1alpha1.ModeOnAppRollout, time.Second, "", true, "it is just being rolled out"},
		"of the same second":                   {v1alpha1.ModeOnAppRollout, 0, "", true, "both are of one apply"},
		"newer, by hand":                       {v1alpha1.ModeManual, time.Second, "", false, "nobody has seen this sidecar yet"},
		"by hand, and the others have it":      {v1alpha1.ModeManual, time.Second, "current", true, "it gets what the others have"},
		"by hand, and the others have another": {v1alpha1.ModeManual, time.Second, "before", false, "what the others have cannot be had any more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, waitingFor(test.mode, 0), cart())
			s.Now = noon
			if test.other != "" {
				current(t, s)
			}
			if test.other == "before" {
				later(s)
			}
			fresh := settled(objects.NewDeployment("new", "shop").Labeled("logs", "vector").Build())
			fresh.Created = s.Sidecar.CreationTimestamp.Add(test.created)
			s.Workloads = append(s.Workloads, workloadcache.NewRecordWithView(fresh))
			if test.other == "" {
				s.Workloads = s.Workloads[1:]
			}
			decided := decide(t, s)
			p := &decided.Plans[len(decided.Plans)-1]
			require.Equal(t, test.goes, p.HasChange(plan.Inject), test.why)
			require.Equal(t, !test.goes, p.IsDeferred())
		})
	}
}

// Vector reloads a changed configuration, so no pods restart. In each mode, the change starts without waiting.
func TestDecide_StartsChangeWithoutNewPodsImmediately(t *testing.T) {
	config := func(format string) *v1alpha1.ConfigSpec {
		return &v1alpha1.ConfigSpec{Inline: "sources: {in: {type: demo_logs, format: " + format + "}}\nsinks: {out: {type: blackhole, inputs: [in]}}"}
	}
	vs := live()
	vs.Spec.Sidecar.Config = config("json")
	vs.Spec.Rollout = &v1alpha1.RolloutSpec{Mode: v1alpha1.ModeManual}
	s := snapshot(t, vs, cart())
	s.Now = noon
	current(t, s)
	change(s, func(v *workload.View) {
		owned := v.Owned[meta.Manager("logs")]
		vs.Spec.Rollout.Mode = v1alpha1.ModeImmediate
		before := decide(t, snapshot(t, vs, cart()))
		owned.Tree, s.Companions = before.Plans[0].Write.Apply, written(before.Companions)
		vs.Spec.Rollout.Mode = v1alpha1.ModeManual
		v.Owned = map[string]workload.OwnedFields{meta.Manager("logs"): owned}
	})
	s.Sidecar.Spec.Sidecar.Config = config("syslog")
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.Update, p.Change, p.Message())

	s.Sidecar.Spec.Sidecar.LogLevel = "warn"
	require.Equal(t, plan.ActionDefer, decide(t, s).Plans[0].Action())
}

// When a workload does not wait any more, the annotation with the start of the wait is removed. A later wait starts
// again.
func TestDecide_RemovesWaitAnnotationAfterWait(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeOnAppRollout, 0), cart())
	s.Now = noon
	current(t, s)
	noting(s, noon.Add(-time.Hour))
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.RecordOnly, p.Change)
	require.NotContains(t, tree.MapAt(p.Write.Apply, "metadata", "annotations"), meta.AnnotationWaiting(p.Manager))

	s.Sidecar.Spec.Rollout.Mode = v1alpha1.ModeImmediate
	require.Equal(t, plan.RecordOnly, decide(t, s).Plans[0].Change, "whatever the mode")
}

// If a workload waited and never had the sidecar, only the annotation is removed, without new pods.
func TestDecide_RemovesWaitAnnotationWithoutRollout(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeManual, 0), cart())
	s.Now = noon
	noting(s, noon)
	require.Equal(t, plan.ActionDefer, decide(t, s).Plans[0].Action())

	s.Sidecar.DeletionTimestamp = &metav1.Time{Time: noon}
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.RecordOnly, p.Change)
	require.Equal(t, map[string]any{}, p.Body())
	require.False(t, p.StartsPods())
}

// Another release computed the digest in the annotation of a wait from other fields of the pod template. The annotation
// is written again, and the start of the wait stays.
func TestDecide_RenewsWaitAnnotationOfOtherRelease(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeOnAppRollout, 0), cart())
	s.Now = noon
	current(t, s)
	later(s)
	noting(s, noon.Add(-time.Hour))
	change(s, func(v *workload.View) {
		for key, wait := range v.Waits {
			wait.Schema++
			v.Waits, v.Template = map[string]workload.Wait{key: wait}, v.Template+1
		}
	})
	decided := decide(t, s)
	p := decided.Plans[0]
	require.Equal(t, plan.ActionDefer, p.Action())
	renewed := workload.NewWait(noon.Add(-time.Hour), &p.Workload)
	require.Equal(t, renewed.String(), tree.MapAt(p.Record(), "metadata", "annotations")[meta.AnnotationWaiting(p.Manager)])
	require.Equal(t, noon.Add(-time.Hour), decided.Deferred.Since.Time)
}

// A change that has reached spec.rollout.maxAge still waits for the preceding waves.
func TestDecide_KeepsWaveOrderAfterMaxAge(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeOnAppRollout, time.Hour), cart())
	s.Now = noon
	current(t, s)
	later(s)
	noting(s, noon.Add(-time.Hour))
	s.MaxAgeHold = &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: "wave canary soaks"}
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.Update, p.Change)
	require.Equal(t, meta.ReasonWaitingForWave, p.Reason())
	require.True(t, p.IsWaiting())
}

// In mode Manual, the API server injects a sidecar only after its promotion. In mode OnAppRollout, it injects also a
// deferred sidecar.
func TestDecide_PublishesOverlayAfterPromotion(t *testing.T) {
	for mode, isOffered := range map[v1alpha1.RolloutMode]bool{v1alpha1.ModeOnAppRollout: true, v1alpha1.ModeManual: false} {
		s := snapshot(t, waitingFor(mode, 0), cart())
		s.Now, s.NeedsOverlays = noon, true
		current(t, s)
		later(s)
		decided := decide(t, s)
		require.Equal(t, plan.ActionDefer, decided.Plans[0].Action())
		require.Equal(t, isOffered, len(decided.Overlays) > 0, decided.OverlayBlocker)
		if isOffered {
			require.Contains(t, decided.Plans[0].Message(), "the API server injects the sidecar in the same rollout if it can")
			continue
		}
		require.Equal(t, "spec.rollout.mode is Manual, and this sidecar is not promoted", decided.OverlayBlocker)
		s.Sidecar.Annotations = map[string]string{meta.AnnotationPromoteRollout: decided.Deferred.Change}
		require.NotEmpty(t, decide(t, s).Overlays)
	}
}

// While writes are on hold, the annotation of a wait is not written.
func TestDecide_WritesNoWaitAnnotationWhileOnHold(t *testing.T) {
	s := snapshot(t, waitingFor(v1alpha1.ModeManual, 0), cart())
	s.Now, s.WriteHold = noon, plan.StopBlock("stopped")
	decided := decide(t, s)
	require.Equal(t, plan.ActionDefer, decided.Plans[0].Action())
	require.False(t, decided.Writes())
}
