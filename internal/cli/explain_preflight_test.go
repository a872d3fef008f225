// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Only the operator asks the API server: what that refuses is in the status alone, also of a workload
// that would wait otherwise.
func TestExplainHasWhatDryRunsWereRefused(t *testing.T) {
	of := workload.Ref{Kind: "Deployment", Name: "cart"}
	for name, test := range map[string]struct {
		told  v1alpha1.UnsettledWorkload
		waits string
		want  string
	}{
		"because of the sidecar": {told: v1alpha1.UnsettledWorkload{State: v1alpha1.StateBlocked, Reason: meta.ReasonPreflightRefused}, want: meta.ReasonPreflightRefused},
		"of one that would wait": {told: v1alpha1.UnsettledWorkload{State: v1alpha1.StateBlocked, Reason: meta.ReasonPreflightRefused}, waits: meta.ReasonWaitingForBudget, want: meta.ReasonPreflightRefused},
		"without it, too":        {told: v1alpha1.UnsettledWorkload{State: v1alpha1.StateSkipped, Reason: meta.ReasonApplicationRefused}, want: meta.ReasonApplicationRefused},
		"something else":         {told: v1alpha1.UnsettledWorkload{State: v1alpha1.StateBlocked, Reason: meta.ReasonRepairLoop}, waits: meta.ReasonWaitingForBudget, want: meta.ReasonWaitingForBudget},
	} {
		t.Run(name, func(t *testing.T) {
			test.told.Kind, test.told.Name = of.Kind, of.Name
			vs := &v1alpha1.VectorSidecar{Status: v1alpha1.VectorSidecarStatus{Unsettled: []v1alpha1.UnsettledWorkload{test.told}}}
			one := &sidecarReport{Action: string(plan.Inject), Reason: test.waits}
			one.report(vs, of)
			require.Equal(t, test.want, one.Reason)
		})
	}
}
