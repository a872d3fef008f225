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

// Only the operator sends dry runs. So explain reads their rejections from the status, also for a workload that waits
// for another reason.
func TestExplainWorkload_ShowsRejectedDryRuns(t *testing.T) {
	of := workload.Ref{Kind: "Deployment", Name: "cart"}
	for name, test := range map[string]struct {
		told  v1alpha1.WorkloadStatus
		waits string
		want  string
	}{
		"because of the sidecar": {told: v1alpha1.WorkloadStatus{State: v1alpha1.StateBlocked, Reason: meta.ReasonPreflightRejected}, want: meta.ReasonPreflightRejected},
		"of one that would wait": {told: v1alpha1.WorkloadStatus{State: v1alpha1.StateBlocked, Reason: meta.ReasonPreflightRejected}, waits: meta.ReasonWaitingForSlot, want: meta.ReasonPreflightRejected},
		"without it, too":        {told: v1alpha1.WorkloadStatus{State: v1alpha1.StateSkipped, Reason: meta.ReasonApplicationRejected}, want: meta.ReasonApplicationRejected},
		"something else":         {told: v1alpha1.WorkloadStatus{State: v1alpha1.StateBlocked, Reason: meta.ReasonCorrectionLoop}, waits: meta.ReasonWaitingForSlot, want: meta.ReasonWaitingForSlot},
	} {
		t.Run(name, func(t *testing.T) {
			test.told.Kind, test.told.Name = of.Kind, of.Name
			vs := &v1alpha1.VectorSidecar{Status: v1alpha1.VectorSidecarStatus{Workloads: []v1alpha1.WorkloadStatus{test.told}}}
			one := &sidecarReport{Action: string(plan.Inject), Reason: test.waits}
			one.addStatus(vs, of)
			require.Equal(t, test.want, one.Reason)
		})
	}
}
