// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// A wave that has finished, and in which no pod has run the sidecar, has a line of its own.
func TestRollout_StatusNamesWavesWithoutEvidence(t *testing.T) {
	status := func(revision string, state v1alpha1.RolloutState, workloads, evidence int32) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Wave: "canary", Revision: revision, State: state, Finished: &finishedOnce, Workloads: workloads, Evidence: evidence}
	}
	for name, test := range map[string]struct {
		first, second v1alpha1.RolloutStatus
		want          string
	}{
		"one workload":                   {status("c", v1alpha1.RolloutComplete, 1, 0), status("c", v1alpha1.RolloutComplete, 0, 0), "wave canary: no evidence: 1 workload without pods\n"},
		"workloads of two":               {status("c", v1alpha1.RolloutComplete, 2, 0), status("c", v1alpha1.RolloutComplete, 1, 0), "wave canary: no evidence: 3 workloads without pods\n"},
		"during the soak":                {status("c", v1alpha1.RolloutSoaking, 2, 0), status("c", v1alpha1.RolloutComplete, 1, 0), "wave canary: no evidence: 3 workloads without pods\n"},
		"one of them has pods":           {status("c", v1alpha1.RolloutComplete, 2, 0), status("c", v1alpha1.RolloutComplete, 1, 1), ""},
		"no workloads":                   {status("c", v1alpha1.RolloutComplete, 0, 0), status("c", v1alpha1.RolloutComplete, 0, 0), ""},
		"one has not finished":           {status("c", v1alpha1.RolloutComplete, 2, 0), status("c", v1alpha1.RolloutProgressing, 1, 0), ""},
		"one has an earlier revision":    {status("c", v1alpha1.RolloutComplete, 2, 0), status("a", v1alpha1.RolloutComplete, 1, 0), ""},
		"both have an earlier revision":  {status("a", v1alpha1.RolloutComplete, 2, 0), status("a", v1alpha1.RolloutComplete, 1, 0), ""},
		"both have returned to another":  {status("a", v1alpha1.RolloutReverted, 2, 0), status("a", v1alpha1.RolloutReverted, 1, 0), ""},
		"pods ran an earlier one in one": {status("c", v1alpha1.RolloutComplete, 2, 0), status("a", v1alpha1.RolloutReverted, 1, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUndoFleet(t, nil, map[string]v1alpha1.RolloutStatus{"first": test.first, "second": test.second})
			out, notes, code := f.runOutside(t, "rollout", "status")
			require.Zero(t, code, notes)
			require.Contains(t, out, test.want)
			if test.want == "" {
				require.NotContains(t, out, "no evidence")
			}

			out, notes, code = f.runOutside(t, "rollout", "status", "-o", "json")
			require.Zero(t, code, notes)
			var printed struct {
				Waves []struct{ Workloads, Evidence int32 }
			}
			require.NoError(t, json.Unmarshal([]byte(out), &printed))
			var workloads, evidence int32
			for _, is := range []v1alpha1.RolloutStatus{test.first, test.second} {
				if is.Revision == "c" {
					workloads, evidence = workloads+is.Workloads, evidence+is.Evidence
				}
			}
			require.Equal(t, workloads, printed.Waves[0].Workloads)
			require.Equal(t, evidence, printed.Waves[0].Evidence)
		})
	}
}
