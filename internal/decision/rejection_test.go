// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The API server rejected a write. The same write is not repeated until its backoff ends, and the next workload starts
// instead. If the write or the workload changes, it starts at once.
func TestDecide_DelaysRejectedWriteUntilBackoffEnds(t *testing.T) {
	cart := func() evaluatedWorkload {
		return evaluated("cart", plan.Inject, &plan.Desired{}, workload.State{EquivalentVersion: "10"})
	}
	refused := RejectedWrite{Rejection: plan.Rejection{Err: errors.New("no"), RejectedAt: noon, RetryAt: noon.Add(time.Minute)}, Seen: "10", Change: plan.Inject}
	due, another, changed, gone := refused, refused, refused, refused
	due.RetryAt, another.Hash, changed.Seen, gone.Change = noon, "b", "9", plan.Remove
	for name, test := range map[string]struct {
		rejection RejectedWrite
		isIt      bool
		again     time.Duration
	}{
		"the same write":              {refused, true, time.Minute},
		"it may be tried again":       {due, true, 0},
		"another sidecar was refused": {another, false, 0},
		"the workload was another":    {changed, false, 0},
		"its removal was refused":     {gone, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, canary := range []*v1alpha1.CanarySpec{nil, {Workloads: new(intstr.FromInt32(1))}} {
				e := &evaluation{Input: Input{Inputs: desired.Inputs{Sidecar: logs(), Platform: &desired.Platform{}}, Now: noon, RejectedWrites: map[types.UID]RejectedWrite{"cart": test.rejection}}}
				e.Sidecar.Spec.Rollout.Canary = canary

				decided := decideFor(e, []evaluatedWorkload{cart(), evaluated("next", plan.Inject, &plan.Desired{}, workload.State{})}, nil)

				first, second := &decided.Plans[0], &decided.Plans[1]
				require.Equal(t, test.isIt, first.Rejection != nil)
				require.Equal(t, test.isIt, second.Writes())
				require.Equal(t, test.isIt, first.IsBlockedBy(plan.BlockedByRejection), "the only place is taken")
				require.Equal(t, !test.isIt, first.Writes())
				require.Equal(t, canary != nil && test.isIt, second.IsCanary)
				require.Equal(t, test.again, decided.RequeueAfter)
				require.True(t, decided.IsInProgress())
				require.False(t, NewProgress(decided.Plans, false).IsDone)
			}
		})
	}
}

func TestIsInProgress_IgnoresRejectedWrites(t *testing.T) {
	e := &evaluation{Input: Input{Inputs: desired.Inputs{Sidecar: logs(), Platform: &desired.Platform{}}, Now: noon, RejectedWrites: map[types.UID]RejectedWrite{"cart": {Change: plan.Inject}}}}
	decided := decideFor(e, []evaluatedWorkload{evaluated("cart", plan.Inject, &plan.Desired{}, workload.State{})}, nil)
	require.True(t, decided.Plans[0].Writes())
	require.False(t, decided.IsInProgress(), "new content of ConfigMaps would wait for ever")
}

// If canaries are given as a number, the next workload replaces a blocked one. If a selector names them, a blocked one
// is not replaced.
func TestDecide_ReplacesBlockedCanaries(t *testing.T) {
	wanted := func(name string, action plan.Change) evaluatedWorkload {
		return evaluated(name, action, &plan.Desired{}, workload.State{})
	}
	stopped := func(name string, kind plan.BlockKind) evaluatedWorkload {
		return blocked(name, kind, &plan.Desired{}, workload.State{})
	}
	one, all := v1alpha1.CanarySpec{Workloads: new(intstr.FromInt32(1))}, v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{}}
	for name, test := range map[string]struct {
		canary    v1alpha1.CanarySpec
		workloads []evaluatedWorkload
		want      []bool
	}{
		"a number":               {one, []evaluatedWorkload{stopped("a", plan.BlockedByConflict), stopped("b", plan.BlockedByObstacle), wanted("c", plan.Inject), wanted("d", plan.Inject)}, []bool{false, false, true, false}},
		"a selector":             {all, []evaluatedWorkload{stopped("a", plan.BlockedByConflict), wanted("b", plan.Inject), wanted("c", plan.Inject)}, []bool{false, true, true}},
		"of nothing but trouble": {all, []evaluatedWorkload{stopped("a", plan.BlockedByConflict)}, []bool{false}},
	} {
		e := &evaluation{Input: inputAt(noon)}
		e.Sidecar.Spec.Rollout.Canary = &test.canary
		decided := decideFor(e, test.workloads, nil)
		for i, want := range test.want {
			require.Equal(t, want, decided.Plans[i].IsCanary, name)
		}
		require.False(t, decided.LacksCanary, name)
	}
}
