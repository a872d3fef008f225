// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// injecting returns a plan that injects a sidecar into a workload.
func injecting(name string) plan.Plan {
	p := plan.Plan{Change: plan.Inject}
	p.Target.Name = name
	return p
}

// Only an accepted write, also one that the cache does not contain yet, is part of the carried-out decision. Any other
// workload still waits.
func TestDecision_CarriedOutCountsAcceptedWrites(t *testing.T) {
	for name, test := range map[string]struct {
		state     WriteState
		isWaiting bool
	}{
		"not sent": {WriteNotSent, true},
		"accepted": {WriteAccepted, false},
		"pending":  {WritePending, false},
		"stale":    {WriteStale, true},
		"rejected": {WriteRejected, true},
		"failed":   {WriteFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Decision{Plans: []plan.Plan{injecting("cart"), {Change: plan.Remove}, {Change: plan.None}}}

			carriedOut := d.CarriedOut(Results{{Plan: &d.Plans[0], State: test.state}, {Object: "ConfigMap shop/logs", State: WriteFailed}})

			require.Equal(t, test.isWaiting, carriedOut.Plans[0].IsWaiting())
			require.Equal(t, d.Plans[1:], carriedOut.Plans[1:], "a removal and a current sidecar stay unchanged")
			require.False(t, d.Plans[0].IsWaiting(), "the decision itself does not change")
		})
	}
}

// Failures are sorted by object, whatever the order of the responses, so that the status and the backoff do not depend
// on that order.
func TestResults_SortFailures(t *testing.T) {
	permanent, transient := errors.New("permanent"), errors.New("transient")
	cart := injecting("cart")
	results := Results{
		{Object: "Job b", State: WriteFailed, Err: transient, Reason: meta.ReasonRetrying},
		{Object: "Deployment a", State: WriteRejected, Err: permanent, Reason: meta.ReasonConflict, IsPermanent: true},
		{Object: "Deployment c", Plan: &cart, State: WriteRejected, Err: permanent, IsPermanent: true}, // The status does not report it.
		{Object: "Deployment d", Plan: &cart, State: WriteAccepted},
	}

	failures := results.Failures()

	require.Len(t, failures, 2)
	require.Equal(t, "Deployment a", failures[0].Object)
	require.ErrorIs(t, results.Retryable(), transient)
	require.NotErrorIs(t, results.Retryable(), permanent)
	require.NoError(t, failures[:1].Retryable())
	require.Equal(t, []*plan.Plan{&cart}, results.Written())
	require.False(t, results.HasStale())
}

// If a write is rejected for the first time, another waiting workload can start. Each other case is a result that does
// not start one.
func TestResults_StartOthersAfterRejection(t *testing.T) {
	cart, rejected, recording := injecting("cart"), injecting("again"), plan.Plan{Change: plan.Inject, Block: &plan.Block{Kind: plan.BlockedByMode}}
	rejected.Rejection = &plan.Rejection{Err: errors.New("no")}
	waiting := injecting("web").WithBlock(&plan.Block{Kind: plan.BlockedBySlot, Reason: meta.ReasonWaitingForSlot})
	slotless := injecting("web").WithBlock(&plan.Block{Kind: plan.BlockedByGlobalSlot, Reason: meta.ReasonWaitingForGlobalSlot})
	for name, test := range map[string]struct {
		result Result
		other  plan.Plan
		want   bool
	}{
		"first rejection":             {Result{Plan: &cart, State: WriteRejected}, waiting, true},
		"another waits for all":       {Result{Plan: &cart, State: WriteRejected}, slotless, true},
		"no workload waits":           {Result{Plan: &cart, State: WriteRejected}, injecting("web"), false},
		"other writes fail, too":      {Result{Plan: &cart, State: WriteRejected, IsGeneral: true}, waiting, false},
		"second rejection":            {Result{Plan: &rejected, State: WriteRejected}, waiting, false},
		"same write rejected before":  {Result{Plan: &rejected, State: WriteWithheld}, waiting, false},
		"write without a rollout":     {Result{Plan: &recording, State: WriteRejected}, waiting, false},
		"no response":                 {Result{Plan: &cart, State: WriteFailed}, waiting, false},
		"failure of another object":   {Result{Object: "ConfigMap shop/logs", State: WriteFailed}, waiting, false},
		"the workload is not written": {Result{Plan: &cart, State: WriteStale}, waiting, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Results{test.result}.CanUnblockOthers([]plan.Plan{test.other}))
		})
	}
}
