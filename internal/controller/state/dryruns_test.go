// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// shaped returns a plan for a workload with a pod shape.
func shaped(shape uint64) *plan.Plan {
	p := seen("1", 1, "a")
	p.Workload.Shape = shape
	return p
}

func resultOf(logs *Sidecar, p *plan.Plan) preflight.Result {
	verdict, _ := preflight.FindResult(logs.DryRuns(), p)
	return verdict.Result
}

// After each rejected dry run, the wait before the next one is longer.
func TestDryRuns_IncreaseWaitAfterRejection(t *testing.T) {
	now := time.Date(2026, 11, 24, 20, 0, 0, 0, time.UTC)
	logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	for _, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, LastRetry, LastRetry} {
		logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Rejected})
		require.Equal(t, now.Add(wait), logs.DryRuns()[preflight.NewKey(shaped(1))].Expiry)
		now = now.Add(wait - time.Second)
		require.Equal(t, preflight.Rejected, resultOf(logs, shaped(1)))
		require.Empty(t, resultOf(logs, shaped(2)), "another shape is another matter")
		now = now.Add(time.Second)
		require.Empty(t, resultOf(logs, shaped(1)))
	}
	logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Passed})
	now = now.Add(1000 * time.Hour)
	require.Equal(t, preflight.Passed, resultOf(logs, shaped(1)), "what passed is not tried again")
	logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Inconclusive})
	require.Equal(t, now.Add(LastRetry), logs.DryRuns()[preflight.NewKey(shaped(1))].Expiry)
}

// A dry-run result that depends on the workload applies to that workload only, not to others of the same pod shape.
func TestSetDryRun_StoresWorkloadSpecificResult(t *testing.T) {
	logs := New(time.Now).GetOrCreate(logsOfShop)
	other := shaped(1)
	other.Target.UID = "other"
	logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.RejectedAnyway, IsWorkloadSpecific: true})
	require.Equal(t, preflight.RejectedAnyway, resultOf(logs, shaped(1)))
	require.Empty(t, resultOf(logs, other))
	logs.SetDryRun(other, preflight.DryRunResult{Result: preflight.Passed})
	require.Equal(t, preflight.RejectedAnyway, resultOf(logs, shaped(1)))
	require.Equal(t, preflight.Passed, resultOf(logs, other))
}

// A user changes the pod template of a workload again and again. Only as many dry-run results as workloads are kept.
func TestKeepDryRuns_StoresOneResultPerWorkload(t *testing.T) {
	logs := New(time.Now).GetOrCreate(logsOfShop)
	for shape := range uint64(1000) {
		logs.SetDryRun(shaped(shape), preflight.DryRunResult{Result: preflight.Rejected})
		logs.SetDryRun(shaped(shape), preflight.DryRunResult{Result: preflight.Rejected, IsWorkloadSpecific: true})
		logs.KeepDryRuns([]plan.Plan{*shaped(shape)})
		require.Len(t, logs.DryRuns(), 2)
	}
	logs.KeepDryRuns(nil)
	require.Nil(t, logs.DryRuns())
}

// Each value of an annotation clears the dry-run results once.
func TestForgetDryRuns_HandlesRequestOnce(t *testing.T) {
	logs := New(time.Now).GetOrCreate(logsOfShop)
	for n := range 3 {
		request := strconv.Itoa(n)
		for _, annotation := range []string{meta.AnnotationReconcileAt, meta.AnnotationRetryRollout} {
			logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Rejected})
			require.True(t, logs.ForgetDryRuns(annotation, request))
			require.Empty(t, logs.DryRuns())
		}
		logs.SetDryRun(shaped(1), preflight.DryRunResult{Result: preflight.Rejected})
		for _, annotation := range []string{meta.AnnotationReconcileAt, meta.AnnotationRetryRollout} {
			require.False(t, logs.ForgetDryRuns(annotation, request), "or they would have each other be asked for ever")
		}
		require.NotEmpty(t, logs.DryRuns())
	}
}
