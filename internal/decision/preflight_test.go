// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// If the dry run is rejected, the write is blocked. If the application itself was rejected, the write uses no rollout
// slot.
func TestDecide_BlocksWritesRejectedByDryRun(t *testing.T) {
	now := time.Date(2026, 11, 24, 20, 0, 0, 0, time.UTC)
	wanted := plan.NewDesired(&workload.Overlay{Hash: "a"}, "logs", "vector", "", plan.Notes{})
	for name, test := range map[string]struct {
		action  plan.Change
		verdict preflight.DryRunResult
		reason  string
		skipped bool
		warning string
	}{
		"the sidecar's fault":     {action: plan.Inject, verdict: preflight.DryRunResult{Result: preflight.Rejected, Message: "no"}, reason: meta.ReasonPreflightRejected},
		"the application's":       {action: plan.Update, verdict: preflight.DryRunResult{Result: preflight.RejectedAnyway, Message: "no"}, reason: meta.ReasonApplicationRejected, skipped: true},
		"it passed":               {action: plan.Inject, verdict: preflight.DryRunResult{Result: preflight.Passed}},
		"nobody could judge":      {action: plan.Inject, verdict: preflight.DryRunResult{Result: preflight.Inconclusive, Message: "no"}, warning: "the dry run before the write was inconclusive: no"},
		"it is there already":     {action: plan.None, verdict: preflight.DryRunResult{Result: preflight.Rejected, Message: "no"}},
		"only its notes differ":   {action: plan.RecordOnly, verdict: preflight.DryRunResult{Result: preflight.Rejected, Message: "no"}},
		"it is taken out instead": {action: plan.Remove, verdict: preflight.DryRunResult{Result: preflight.Rejected, Message: "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			like, other := evaluated("cart", test.action, wanted, workload.State{Shape: 1}), evaluated("search", plan.Inject, wanted, workload.State{Shape: 2})
			for _, one := range []*evaluatedWorkload{&like, &other} {
				one.Evaluated.Rendered = &desired.Rendered{}
				one.Evaluated.Companions = []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "of-" + one.Record.Name}}}
			}
			test.verdict.Expiry = now.Add(time.Minute)
			e := newTestEvaluation(t, Input{Inputs: desired.Inputs{Sidecar: logs(), Platform: &desired.Platform{}}, Now: now, DryRuns: map[preflight.Key]preflight.DryRunResult{{Hash: wanted.InjectedHash(), Shape: 1}: test.verdict}})

			decided := decideFor(e, []evaluatedWorkload{like}, nil)

			p := &decided.Plans[0]
			require.Equal(t, test.warning, p.Warning)
			if test.reason == "" {
				require.EqualValues(t, test.action, p.Action())
				require.Empty(t, p.Reason())
				return
			}
			require.Equal(t, plan.ActionBlocked, p.Action())
			require.Equal(t, test.reason, p.Reason())
			require.Equal(t, "no", p.Message())
			require.Equal(t, test.skipped, p.IsSkipped())
			require.Equal(t, time.Minute, decided.RequeueAfter, "it is tried again")
			require.Empty(t, decided.Missing, "what it would read is not written either")

			decided = decideFor(e, []evaluatedWorkload{like, other}, nil)
			require.True(t, decided.Plans[1].Writes(), "it takes nobody's place, and what is not alike is judged by itself")
		})
	}
}

// If a dry run rejects pods with the sidecar, the overlay is not published, so the API server does not inject it into
// new workloads.
func TestInput_OmitsOverlayRejectedByDryRun(t *testing.T) {
	wanted := plan.NewDesired(&workload.Overlay{Hash: "a"}, "logs", "vector", "", plan.Notes{})
	offer := &desired.AdmissionOverlay{Rendered: &desired.Rendered{Desired: wanted}}
	for result, isOffered := range map[preflight.Result]bool{
		preflight.Passed: true, preflight.Inconclusive: true, preflight.RejectedAnyway: true, preflight.Rejected: false,
	} {
		e := &evaluation{Input: Input{DryRuns: map[preflight.Key]preflight.DryRunResult{{Hash: wanted.InjectedHash(), Shape: 1}: {Result: result}, {Hash: "other"}: {Result: preflight.Rejected}}}}
		require.Equal(t, isOffered, e.dryRunRejection(offer) == "", result)
	}
}
