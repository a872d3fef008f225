// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const healthy, failing = false, true

// before are the states of a workload before a write, and whether it failed then.
var before = map[string]struct {
	state    func(*workload.State)
	failing  bool
	isOfKind string // Deployment by default.
}{
	"it is complete": {inState(workload.RolloutComplete, time.Hour), healthy, ""},
	"it is complete, and was not a moment ago":    {inState(workload.RolloutComplete, time.Second), healthy, ""},
	"its own update strategy keeps pods":          {inState(workload.PodsNotReplaced, time.Hour), healthy, ""},
	"it is new":                                   {down(inState(workload.RolloutProgressing, time.Second)), healthy, ""},
	"a new StatefulSet":                           {down(inState(workload.RolloutUnavailable, time.Second)), healthy, "StatefulSet"},
	"its owner rolls it out":                      {inState(workload.RolloutProgressing, time.Hour), healthy, ""},
	"it missed its deadline":                      {inState(workload.RolloutFailed, time.Second), failing, ""},
	"it never started":                            {down(inState(workload.RolloutProgressing, startup)), failing, ""},
	"it has lost pods":                            {inState(workload.RolloutUnavailable, startup), failing, ""},
	"it has just lost pods":                       {inState(workload.RolloutUnavailable, startup-1), healthy, ""},
	"its pods are refused":                        {rejected(inState(workload.RolloutProgressing, time.Second)), failing, ""},
	"some of its pods are refused":                {rejected(inState(workload.RolloutComplete, time.Hour)), failing, ""},
	"a StatefulSet that never started":            {down(inState(workload.RolloutUnavailable, time.Minute)), failing, "StatefulSet"},
	"a StatefulSet whose update is stuck":         {inState(workload.RolloutProgressing, workload.Deadline), failing, "StatefulSet"},
	"a DaemonSet that never started":              {down(inState(workload.RolloutUnavailable, time.Minute)), failing, "DaemonSet"},
	"a DaemonSet whose update is stuck":           {inState(workload.RolloutProgressing, workload.Deadline), failing, "DaemonSet"},
	"a DaemonSet with a new node":                 {inState(workload.RolloutUnavailable, time.Second), healthy, "DaemonSet"},
	"a Rollout that is degraded":                  {inState(workload.RolloutFailed, time.Minute), failing, "Rollout"},
	"a Rollout that never started":                {down(inState(workload.RolloutProgressing, time.Minute)), failing, "Rollout"},
	"a Rollout between its own steps":             {inState(workload.PodsNotReplaced, time.Hour), healthy, "Rollout"},
	"a CronJob that never ran":                    {inState(workload.PodsNotReplaced, time.Hour), healthy, "CronJob"},
	"a Deployment on the way, with pods that run": {inState(workload.RolloutProgressing, workload.Deadline), healthy, ""},
}

// down is a state in which no pod does its work.
func down(then func(*workload.State)) func(*workload.State) {
	return func(s *workload.State) { then(s); s.IsDown = true }
}

// rejected is a state in which the API server refuses pods.
func rejected(then func(*workload.State)) func(*workload.State) {
	return func(s *workload.State) { then(s); s.Refusal = "exceeded quota" }
}

// with is a workload of a kind in a state, whose plan is changed.
func with(name, kind string, action plan.Change, state workload.State, change func(*plan.Plan)) evaluatedWorkload {
	one := evaluated(name, action, &plan.Desired{}, state)
	if p := &one.Evaluated.Plan; kind != "" {
		p.Target.Kind = kind
	}
	one.Evaluated.Plan.Manager, one.Evaluated.Plan.Write.Apply = "vectorsidecar/logs", map[string]any{}
	if change != nil {
		change(&one.Evaluated.Plan)
	}
	return one
}

// marks reports whether a plan writes the mark that the workload failed before.
func marks(p *plan.Plan) bool {
	metadata, _ := p.Write.Apply["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations[meta.AnnotationFailedBefore(p.Manager)] == "true"
}

// A workload that was already failing before the write is written after the healthy ones, whatever its name. It is no
// canary, and the plan marks it as failed before.
func TestDecide_UpdatesUnhealthyWorkloadsLast(t *testing.T) {
	for name, test := range before {
		for _, canary := range []*v1alpha1.CanarySpec{nil, {Workloads: new(intstr.FromInt32(1))}} {
			t.Run(name, func(t *testing.T) {
				e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
				e.Sidecar.Spec.Rollout.Canary = canary
				test.state(&state)

				decided := decideFor(e, []evaluatedWorkload{
					with("cart", test.isOfKind, plan.Inject, state, nil),
					with("next", "", plan.Inject, workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}, nil),
				}, nil)

				first, second := &decided.Plans[0], &decided.Plans[1]
				require.Equal(t, test.failing, first.Rollout.FailedBefore)
				require.Equal(t, test.failing, marks(first))
				require.Equal(t, test.failing, second.Writes(), "there is one slot")
				require.Equal(t, !test.failing, first.Writes())
				require.Equal(t, canary != nil, first.IsCanary || second.IsCanary)
				require.Equal(t, canary != nil && test.failing, second.IsCanary)
				require.False(t, marks(second))
			})
		}
	}
}

// A workload failed before its write. After the write, it does not count as failed, does not block other workloads, and
// does not prevent its wave from finishing.
func TestDecide_ToleratesFailureFromBeforeWrite(t *testing.T) {
	crash := workload.Fault{Reason: meta.ReasonCrashLoopBackOff, Message: "container vector of pod cart-1 ended", IsSidecarFault: true}
	full := workload.Fault{Reason: meta.ReasonUnschedulable, Message: "pod cart-1: no node"}
	for name, test := range map[string]struct {
		state    func(*workload.State)
		known    func(*evaluation)
		phase    plan.State
		inFlight bool
		says     string
	}{
		"it rolls out":                         {inState(workload.RolloutProgressing, time.Minute), withoutReport, v1alpha1.StateRollingOut, true, "not all pods are available"},
		"it is late":                           {inState(workload.RolloutFailed, time.Minute), withoutReport, v1alpha1.StateUnavailable, false, "which does not count as a failure of the sidecar"},
		"it is late, and was told as failed":   {inState(workload.RolloutFailed, time.Minute), reportedAs(v1alpha1.StateFailed), v1alpha1.StateUnavailable, false, "does not count"},
		"its pods are lost":                    {inState(workload.RolloutUnavailable, time.Second), withoutReport, v1alpha1.StateSoaking, true, "not all pods are available"},
		"its pods are lost for long":           {inState(workload.RolloutUnavailable, lossTimeout), withoutReport, v1alpha1.StateUnavailable, false, "not all pods are available"},
		"its pods are lost by the sidecar":     {inState(workload.RolloutUnavailable, lossTimeout), withFault(crash), v1alpha1.StateUnavailable, false, "container vector of pod cart-1 ended"},
		"no node has room":                     {inState(workload.RolloutProgressing, time.Minute), withFault(full), v1alpha1.StateRollingOut, true, "no node"},
		"its pods are refused":                 {rejected(inState(workload.RolloutProgressing, time.Minute)), withoutReport, v1alpha1.StateRollingOut, true, "exceeded quota"},
		"its pods run, and have to soak":       {inState(workload.RolloutComplete, time.Second), withoutReport, v1alpha1.StateSoaking, true, "spec.rollout.soak"},
		"they run, and the sidecar restarted":  {inState(workload.RolloutComplete, time.Second), withFault(workload.Fault{Reason: meta.ReasonSidecarRestarts, IsSidecarFault: true, IsRestarts: true}), v1alpha1.StateSoaking, true, "spec.rollout.soak"},
		"its own update strategy keeps pods":   {inState(workload.PodsNotReplaced, time.Hour), withoutReport, v1alpha1.StatePodsOutdated, false, ""},
		"all of it has passed, and it is done": {inState(workload.RolloutComplete, time.Hour), withoutReport, plan.Updated, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
			test.state(&state)
			test.known(e)

			decided := decideFor(e, []evaluatedWorkload{
				with("cart", "", plan.None, state, func(p *plan.Plan) {
					p.Existing.HasFailureMark, p.Existing.HasSidecar, p.Existing.IsOwned = true, true, true
				}),
				with("next", "", plan.Inject, workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}, nil),
			}, nil)

			p, next := &decided.Plans[0], &decided.Plans[1]
			require.Equal(t, test.phase, p.State())
			require.Equal(t, test.inFlight, p.Rollout.InFlight)
			require.Contains(t, p.Message(), test.says)
			require.False(t, p.Rollout.Phase == plan.RolloutFailed || p.Rollout.Phase == plan.RolloutPodsBlocked || p.Rollout.SidecarFailed || p.Rollout.Obstructed)
			require.True(t, next.Writes(), "it takes no slot from a healthy workload")
			progress := NewProgress(decided.Plans[:1], false)
			require.Zero(t, progress.Failed)
			require.True(t, progress.IsDone, "no wave waits for it")
			isSettled, _ := plan.IsSettled(decided.Plans[:1], false, noon)
			require.True(t, isSettled)
			decided.Plans = decided.Plans[:1]
			require.False(t, decided.IsInProgress(), "new content of ConfigMaps does not wait for it")
		})
	}
}

// A workload that fails after the injection counts as a failure of the sidecar. That workload is the first to get the next
// change of the sidecar. It also counts if it failed before the injection, recovered, and fails again.
func TestDecide_CountsFailuresOfSidecar(t *testing.T) {
	crash := workload.Fault{Reason: meta.ReasonCrashLoopBackOff, Message: "container vector of pod cart-1 ended", IsSidecarFault: true}
	full := workload.Fault{Reason: meta.ReasonUnschedulable, Message: "pod cart-1: no node"}
	late, lost := inState(workload.RolloutFailed, time.Minute), inState(workload.RolloutUnavailable, time.Minute)
	for name, test := range map[string]struct {
		state  func(*workload.State)
		known  func(*evaluation)
		isMark bool
		want   bool
	}{
		"the cause is not known":                     {late, withoutReport, false, healthy},
		"the sidecar is the cause":                   {late, withFault(crash), false, healthy},
		"no node has room for both":                  {late, withFault(full), false, healthy},
		"its pods are refused with the sidecar":      {rejected(inState(workload.RolloutProgressing, time.Minute)), withoutReport, false, healthy},
		"only the application can be the cause":      {late, withFault(workload.Fault{}), false, failing},
		"the application lost pods":                  {lost, withFault(workload.Fault{}), false, failing},
		"it failed before the sidecar came":          {late, withoutReport, true, failing},
		"it failed before, and now both fail":        {late, withFault(crash), true, failing},
		"it failed before, and has recovered":        {inState(workload.RolloutComplete, time.Hour), withoutReport, true, healthy},
		"it failed before, and runs since a moment":  {inState(workload.RolloutComplete, time.Second), withoutReport, true, failing},
		"it failed before, and rolls out since then": {inState(workload.RolloutProgressing, time.Second), withoutReport, true, failing},
		"it failed before, and its strategy keeps":   {inState(workload.PodsNotReplaced, time.Second), withoutReport, true, healthy},
		"it failed before, and its pods are refused": {rejected(inState(workload.RolloutProgressing, time.Minute)), withoutReport, true, failing},
	} {
		t.Run(name, func(t *testing.T) {
			e, state := &evaluation{Input: inputAt(noon)}, workload.State{}
			test.state(&state)
			test.known(e)

			decided := decideFor(e, []evaluatedWorkload{
				with("cart", "", plan.Update, state, func(p *plan.Plan) {
					p.Existing.HasFailureMark, p.Existing.HasSidecar, p.Existing.IsOwned = test.isMark, true, true
				}),
				with("next", "", plan.Update, workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}, nil),
			}, nil)

			require.Equal(t, test.want, decided.Plans[0].Rollout.FailedBefore)
			require.Equal(t, test.want, marks(&decided.Plans[0]))
			require.Equal(t, test.want, decided.Plans[1].Writes())
		})
	}
}

// A workload waits because it is failing. When its owner deploys it, the API server injects the sidecar. The adopted
// workload is marked as failed before.
func TestDecide_MarksUnhealthyWorkloadAtAdoption(t *testing.T) {
	state := workload.State{Rollout: workload.RolloutProgressing}
	for reason, want := range map[string]bool{meta.ReasonWaitingForHealthy: true, meta.ReasonWaitingForSlot: false} {
		e := &evaluation{Input: inputAt(noon)}
		e.Sidecar.Status.Workloads = []v1alpha1.WorkloadStatus{{Name: "cart", State: v1alpha1.StateWaiting, Reason: reason}}
		decided := decideFor(e, []evaluatedWorkload{with("cart", "", plan.Adopt, state, nil)}, nil)
		require.Equal(t, want, decided.Plans[0].Rollout.FailedBefore)
		require.Equal(t, want, marks(&decided.Plans[0]))
	}
}

// Previews of files have no clock, so no workload is marked as failed before.
func TestDecide_MarksNoWorkloadWithoutClock(t *testing.T) {
	state := workload.State{Rollout: workload.RolloutFailed}
	e := &evaluation{Input: Input{Inputs: desired.Inputs{Sidecar: logs(), Platform: &desired.Platform{}}, Faults: map[types.UID]workload.Fault{}}}
	decided := decideFor(e, []evaluatedWorkload{with("cart", "", plan.Inject, state, nil)}, nil)
	require.False(t, marks(&decided.Plans[0]))
}
