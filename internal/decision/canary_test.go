// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// podsIn sets the rollout state, since when, and how many pods with the sidecar are available.
func podsIn(rollout workload.Rollout, ago time.Duration, evidence int32) workload.State {
	return workload.State{Rollout: rollout, Availability: workload.Availability{StateSince: noon.Add(-ago)}, Progress: workload.Progress{Evidence: evidence}}
}

// evidenceStates are the states of a workload with the current sidecar, each with its phase, whether it uses a slot, and
// whether it is evidence that a pod ran the sidecar.
var evidenceStates = map[string]struct {
	state       workload.State
	phase       plan.State
	inFlight    bool
	hasEvidence bool
}{
	"all pods have run for the soak": {podsIn(workload.RolloutComplete, time.Minute, 3), plan.Updated, false, true},
	"all pods run and soak":          {podsIn(workload.RolloutComplete, time.Second, 3), v1alpha1.StateSoaking, true, false},
	"no pods":                        {podsIn(workload.RolloutComplete, time.Hour, 0), v1alpha1.StateWithoutPods, false, false},
	"no pods since a moment":         {podsIn(workload.RolloutComplete, time.Second, 0), v1alpha1.StateWithoutPods, false, false},
	"rolls out":                      {podsIn(workload.RolloutProgressing, time.Hour, 1), v1alpha1.StateRollingOut, true, false},
	"lost pods in the soak":          {podsIn(workload.RolloutUnavailable, time.Second, 0), v1alpha1.StateUnavailable, true, false},
	"failed":                         {podsIn(workload.RolloutFailed, time.Hour, 1), v1alpha1.StateFailed, false, false},
	"keeps all pods":                 {podsIn(workload.PodsNotReplaced, time.Hour, 0), v1alpha1.StatePodsOutdated, false, false},
	"keeps some pods":                {podsIn(workload.PodsNotReplaced, time.Hour, 1), v1alpha1.StatePodsOutdated, false, true},
	"keeps some pods since a moment": {podsIn(workload.PodsNotReplaced, time.Second, 1), v1alpha1.StatePodsOutdated, false, false},
}

// Each case is a state of a workload, and whether its pods have run the sidecar. Pods with another sidecar are no
// evidence.
func TestDecide_ReportsIfPodsRunSidecar(t *testing.T) {
	for name, test := range evidenceStates {
		t.Run(name, func(t *testing.T) {
			decided := decideFor(&evaluation{Input: inputAt(noon)}, []evaluatedWorkload{evaluated("cart", plan.None, &plan.Desired{}, test.state)}, nil)
			require.Equal(t, test.hasEvidence, decided.Plans[0].Rollout.HasEvidence)
			for _, w := range []evaluatedWorkload{
				evaluated("cart", plan.Update, &plan.Desired{}, test.state), evaluated("cart", plan.Inject, &plan.Desired{}, test.state),
				blocked("cart", plan.BlockedByMode, &plan.Desired{}, test.state),
			} {
				decided = decideFor(&evaluation{Input: inputAt(noon)}, []evaluatedWorkload{w}, nil)
				require.False(t, decided.Plans[0].Rollout.HasEvidence, "its pods have another sidecar: %s", w.Evaluated.Plan.Action())
			}
			decided = decideFor(&evaluation{Input: inputAt(noon)}, nil, []evaluatedWorkload{evaluated("cart", plan.Remove, nil, test.state)})
			require.False(t, decided.Plans[0].Rollout.HasEvidence, "it should have none")
		})
	}
}

// Each case is a state of the only canary. The other workloads start only after the canary's pods have run the sidecar.
func TestDecide_WaitsUntilCanaryPodsRun(t *testing.T) {
	canary := &v1alpha1.CanarySpec{Workloads: new(intstr.FromInt32(1))}
	for name, test := range evidenceStates {
		t.Run(name, func(t *testing.T) {
			e := &evaluation{Input: inputAt(noon)}
			e.Sidecar.Spec.Rollout.Canary = canary
			decided := decideFor(e, []evaluatedWorkload{
				evaluated("cart", plan.None, &plan.Desired{}, test.state), evaluated("next", plan.Update, &plan.Desired{}, workload.State{}),
			}, nil)
			next := &decided.Plans[1]
			require.True(t, decided.Plans[0].IsCanary)
			require.Equal(t, test.hasEvidence, next.Writes())
			if next.Writes() {
				require.Equal(t, v1alpha1.CanaryFinished, decided.Canary.State)
				return
			}
			hasFailed := test.phase == v1alpha1.StateFailed
			require.Equal(t, hasFailed, next.Reason() != meta.ReasonWaitingForCanary)
			require.NotEqual(t, v1alpha1.CanaryFinished, decided.Canary.State)
			require.Equal(t, test.state.Evidence == 0 && !test.inFlight, decided.Canary.State == v1alpha1.CanaryWithoutPods)
		})
	}
}

// idle is a workload that starts no pods.
func idle(name string, action plan.Change) evaluatedWorkload {
	state := podsIn(workload.RolloutComplete, time.Hour, 0)
	state.Idle = "0 replicas"
	return evaluated(name, action, &plan.Desired{}, state)
}

// Canaries are given as a number. If a workload has no pods, the next one with pods is a canary instead. If none has
// pods, the first ones are canaries.
func TestDecide_ReplacesCanariesWithoutPods(t *testing.T) {
	running := func(name string, action plan.Change) evaluatedWorkload {
		return evaluated(name, action, &plan.Desired{}, podsIn(workload.RolloutComplete, time.Hour, 1))
	}
	number := func(n int32) v1alpha1.CanarySpec { return v1alpha1.CanarySpec{Workloads: new(intstr.FromInt32(n))} }
	selector := v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{}}
	const progressing, without, finished = v1alpha1.CanaryProgressing, v1alpha1.CanaryWithoutPods, v1alpha1.CanaryFinished
	for name, test := range map[string]struct {
		canary    v1alpha1.CanarySpec
		workloads []evaluatedWorkload
		canaries  []bool
		state     v1alpha1.CanaryState
		writes    []bool
	}{
		"the next by name":           {number(1), []evaluatedWorkload{idle("a", plan.Inject), running("b", plan.Inject), running("c", plan.Inject)}, []bool{false, true, false}, progressing, []bool{false, true, false}},
		"the next two by name":       {number(2), []evaluatedWorkload{running("a", plan.Inject), idle("b", plan.Inject), running("c", plan.Inject), running("d", plan.Inject)}, []bool{true, false, true, false}, progressing, []bool{true, false, true, false}},
		"fewer than the number":      {number(3), []evaluatedWorkload{idle("a", plan.Inject), running("b", plan.Inject)}, []bool{false, true}, progressing, []bool{false, true}},
		"none has pods":              {number(1), []evaluatedWorkload{idle("a", plan.Inject), idle("b", plan.Inject)}, []bool{true, false}, progressing, []bool{true, false}},
		"none has pods, one is done": {number(1), []evaluatedWorkload{idle("a", plan.None), idle("b", plan.Inject)}, []bool{true, false}, without, []bool{false, false}},
		"another one gets pods":      {number(1), []evaluatedWorkload{idle("a", plan.None), idle("b", plan.Inject), running("c", plan.Inject)}, []bool{false, false, true}, progressing, []bool{false, false, true}},
		"the next one has finished":  {number(1), []evaluatedWorkload{idle("a", plan.Inject), running("b", plan.None), running("c", plan.Inject)}, []bool{false, true, false}, finished, []bool{true, false, true}},
		"a selector names it":        {selector, []evaluatedWorkload{idle("a", plan.None)}, []bool{true}, without, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &evaluation{Input: inputAt(noon)}
			e.Sidecar.Spec.Rollout.Canary, e.Sidecar.Spec.Rollout.MaxConcurrent = &test.canary, nil
			decided := decideFor(e, test.workloads, nil)
			var canaries, writes []bool
			for i := range decided.Plans {
				canaries, writes = append(canaries, decided.Plans[i].IsCanary), append(writes, decided.Plans[i].Writes())
			}
			require.Equal(t, test.canaries, canaries)
			require.Equal(t, test.writes, writes)
			require.Equal(t, test.state, decided.Canary.State)
		})
	}
}

// A canary has finished a change, or a user has promoted it, and the canary has no pods now. The other workloads
// continue with that change, but not with another one.
func TestDecide_RemembersFinishedCanary(t *testing.T) {
	e := func(change func(*v1alpha1.VectorSidecar)) *evaluation {
		f := &evaluation{Input: inputAt(noon)}
		f.Sidecar.Spec.Rollout.Canary = &v1alpha1.CanarySpec{Workloads: new(intstr.FromInt32(1))}
		change(f.Sidecar)
		return f
	}
	const change = "1f2e"
	// The workloads of this package's tests have no digest of what is asked for: no change is ever the same.
	for name, sidecar := range map[string]func(*v1alpha1.VectorSidecar){
		"never": func(*v1alpha1.VectorSidecar) {},
		"with another change": func(v *v1alpha1.VectorSidecar) {
			v.Status.Canary = &v1alpha1.CanaryStatus{Change: change, State: v1alpha1.CanaryFinished}
		},
		"another was promoted": func(v *v1alpha1.VectorSidecar) {
			v.Annotations = map[string]string{meta.AnnotationPromoteRollout: v1alpha1.PromotionOfCanary(change)}
		},
	} {
		decided := decideFor(e(sidecar), []evaluatedWorkload{idle("a", plan.None), idle("b", plan.Update)}, nil)
		require.Equal(t, v1alpha1.CanaryWithoutPods, decided.Canary.State, name)
		require.True(t, decided.Plans[1].IsBlockedBy(plan.BlockedByMissingCanary))
		require.Contains(t, decided.Plans[1].Message(), "kubectl vectorsidecar rollout promote vectorsidecar/logs")
		require.False(t, decided.IsInProgress(), "new content of ConfigMaps does not wait")
		require.False(t, NewProgress(decided.Plans, false).IsDone)
	}
	decided := decideFor(e(func(*v1alpha1.VectorSidecar) {}), []evaluatedWorkload{idle("a", plan.None), idle("b", plan.None), idle("new", plan.Inject)}, nil)
	require.False(t, decided.Plans[2].Writes(), "no pod of any workload has run it")
}

// A workload without pods uses no rollout slot, also during its soak.
func TestDecide_UsesNoSlotWithoutPods(t *testing.T) {
	for name, test := range evidenceStates {
		t.Run(name, func(t *testing.T) {
			decided := decideFor(&evaluation{Input: inputAt(noon)}, []evaluatedWorkload{
				evaluated("cart", plan.None, &plan.Desired{}, test.state),
				evaluated("next", plan.Inject, &plan.Desired{}, workload.State{}),
			}, nil)
			cart, next := &decided.Plans[0], &decided.Plans[1]
			if test.phase == v1alpha1.StateUnavailable {
				require.True(t, cart.Rollout.InFlight)
			} else {
				require.Equal(t, test.phase, cart.State())
			}
			require.Equal(t, test.inFlight, cart.Rollout.InFlight)
			require.Equal(t, test.inFlight || cart.Rollout.Phase == plan.RolloutFailed, next.IsWaiting())
		})
	}
}
