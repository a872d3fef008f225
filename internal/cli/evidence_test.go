// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// If the canary has no pods, plan shows that the other workloads wait for a canary with pods, as they do for the
// operator.
func TestNewPlan_ShowsWaitForCanaryWithPods(t *testing.T) {
	for name, test := range map[string]struct {
		canary v1alpha1.CanarySpec
		want   string
	}{
		"the canary by labels has no pods": {
			v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": "yes"}}},
			`cart +Inject +1 +-(?s:.*) other +Inject +- +1 +WaitingForCanary\n`,
		},
		"the next one by name is the canary": {
			v1alpha1.CanarySpec{Workloads: ptr.To(intstr.FromInt32(1))},
			`other +Inject +1 +1(?s:.*) cart +Inject +2 +- +WaitingForCanary\n`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			vs := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
			vs.Spec.Environment, vs.Spec.Rollout = "development", &v1alpha1.RolloutSpec{Canary: &test.canary}
			file := filepath.Join(t.TempDir(), "shop.yaml")
			manifest := text(t, vs) + "---\n" + text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Labeled("first", "yes").WithReplicas(0).Build()) +
				"---\n" + text(t, objects.NewDeployment("other", "shop").Labeled("logs", "vector").Build())
			require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
			out, notes, code := (&cluster{}).runOutside(t, "plan", "-f", file, "--kube-version", "v1.36.0")
			require.Zero(t, code, notes)
			require.Regexp(t, test.want, out)
		})
	}
}

// If a wave has finished, but none of its pods has run the sidecar, rollout status has a line for that wave.
func TestRollout_StatusNamesUnconfirmedWaves(t *testing.T) {
	status := func(revision string, state v1alpha1.RolloutState, workloads, evidence int32) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Wave: "canary", Revision: revision, State: state, CompletionTime: &finishedOnce, Workloads: workloads, Evidence: evidence}
	}
	for name, test := range map[string]struct {
		first, second v1alpha1.RolloutStatus
		want          string
	}{
		"one workload":                   {status("c", v1alpha1.RolloutComplete, 1, 0), status("c", v1alpha1.RolloutComplete, 0, 0), "wave canary: no pod has run the revision yet (1 workload without pods)\n"},
		"workloads of two":               {status("c", v1alpha1.RolloutComplete, 2, 0), status("c", v1alpha1.RolloutComplete, 1, 0), "wave canary: no pod has run the revision yet (3 workloads without pods)\n"},
		"during the soak":                {status("c", v1alpha1.RolloutSoaking, 2, 0), status("c", v1alpha1.RolloutComplete, 1, 0), "wave canary: no pod has run the revision yet (3 workloads without pods)\n"},
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
				require.NotContains(t, out, "no pod has run the revision yet")
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
