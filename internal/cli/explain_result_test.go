// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// For a sidecar that an earlier release rendered, the output of explain states that no write is needed now, and
// describes the next change.
func TestExplanation_DescribesEarlierRendering(t *testing.T) {
	desired := plan.NewDesired(&workload.Overlay{Hash: "newer"}, "logs", "vector", "", plan.Notes{})
	current := plan.Plan{Change: plan.None, Desired: desired, Existing: plan.Existing{IsOwned: true}, Rollout: plan.Rollout{Phase: plan.RolloutComplete}, Workload: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}}
	kept := current
	kept.Existing.UnchangedHash = "older"
	for name, test := range map[string]struct {
		plan         plan.Plan
		injected     string
		says, hashes string
	}{
		"the current one": {current, desired.InjectedHash(), "all pods run the current sidecar of VectorSidecar logs", desired.InjectedHash()},
		"an earlier release's": {
			kept, "older", "all pods run the current sidecar of VectorSidecar logs, rendered by an earlier release: the workload gets a newer rendering with its next change",
			"older; with the next change: " + desired.InjectedHash(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := sidecarReport{Name: "logs", Matches: true, InjectedHash: test.injected}
			one.addPlan(&test.plan, &step{Action: test.plan.Action(), State: string(test.plan.State())}, &workload.View{PodView: workload.PodView{QoSClass: corev1.PodQOSGuaranteed}})
			require.Equal(t, "the QoS class is Burstable with the sidecar, and Guaranteed without it", one.QoS)
			explained := explanation{VectorSidecars: []sidecarReport{one}}
			explained.setConclusion(&workload.View{})

			require.Equal(t, meta.ReasonUpToDate, explained.Reason)
			require.Equal(t, test.says, explained.Message)
			require.Equal(t, test.hashes, one.hashText())
		})
	}
}
