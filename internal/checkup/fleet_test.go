// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// If an annotation or the value writes stops the writes, the check warns and states since when.
func TestWritesResult_ReportsStoppedWrites(t *testing.T) {
	written := metav1.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	managed := []metav1.ManagedFieldsEntry{{
		Manager: "kubectl-annotate", Time: &written,
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + meta.AnnotationStopWrites + `":{}}}}`),
	}}
	for name, test := range map[string]struct {
		annotations map[string]string
		managed     []metav1.ManagedFieldsEntry
		state       State
		message     string
	}{
		"no annotation":         {nil, nil, OK, "writes are not stopped"},
		"false":                 {map[string]string{meta.AnnotationStopWrites: "false"}, managed, OK, "writes are not stopped"},
		"time of rollout pause": {map[string]string{meta.AnnotationStopWrites: "2026-11-30T08:00:00Z"}, managed, Warning, "all writes except removals are stopped since 2026-11-30T08:00:00Z by kubectl-annotate"},
		"another writer":        {map[string]string{meta.AnnotationStopWrites: "true"}, managed, Warning, "all writes except removals are stopped at or before 2026-12-01T12:00:00Z by kubectl-annotate"},
		"value writes":          {map[string]string{meta.AnnotationWrites: meta.WritesStopped}, managed, Warning, "all writes except removals are stopped by the value writes of the installation"},
		"empty, and by nobody":  {map[string]string{meta.AnnotationStopWrites: ""}, nil, Warning, "all writes except removals are stopped since an unknown time"},
	} {
		t.Run(name, func(t *testing.T) {
			result := WritesResult(&source.Installation{Annotations: test.annotations, ManagedFields: test.managed})
			require.Equal(t, test.state, result.State)
			require.Equal(t, test.message, result.Message)
		})
	}
}

// The check reports a halted revision, and a wave that has been in progress for too long.
func TestRolloutResult_ReportsHaltsAndStuckWaves(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	started := func(ago time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-ago)} }
	progressing := func(revision string, ago time.Duration) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Revision: revision, State: v1alpha1.RolloutProgressing, Wave: "canary", StartTime: started(ago)}
	}
	failed := func(state v1alpha1.RolloutState, workloads int32) v1alpha1.RolloutStatus {
		return v1alpha1.RolloutStatus{Revision: "two", State: state, FailedRevision: "two", FailedWorkloads: workloads}
	}
	for name, test := range map[string]struct {
		rules, retry string
		is           v1alpha1.RolloutStatus
		state        State
		message      string
	}{
		"without waves":                  {"", "", progressing("two", 7*time.Hour), OK, "the installation has no waves"},
		"in progress":                    {"halt: {}", "", progressing("two", 5*time.Hour), OK, "neither halted nor stuck"},
		"in progress for six hours":      {"waves: [{name: canary}]", "", progressing("two", 6*time.Hour), Failed, "waves stuck: wave canary in progress since 2026-12-01T06:00:00Z (unfinished: shop/logs)"},
		"with another revision for long": {"waves: [{name: canary}]", "", progressing("one", 9*time.Hour), OK, "neither"},
		"halted":                         {"halt: {}", "", failed(v1alpha1.RolloutHalted, 1), Failed, "revision two halted: 1 workloads failed"},
		"halted and reverted":            {"halt: {}", "", failed(v1alpha1.RolloutReverted, 2), Failed, "revision two halted: 2 workloads failed"},
		"fewer failures than halt":       {"halt: {failedWorkloads: 3}", "", failed(v1alpha1.RolloutProgressing, 2), OK, "neither"},
		"failures before a retry":        {"halt: {}", "again", failed(v1alpha1.RolloutProgressing, 2), OK, "neither"},
		"failures without rollout.halt":  {"waves: [{name: canary}]", "", failed(v1alpha1.RolloutProgressing, 2), OK, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := fleet.Parse("rollout", []byte(test.rules))
			require.NoError(t, err)
			result := RolloutResult(&fleet.Target{Rules: rules, Revision: "two", Retry: test.retry}, now.Add(-5*time.Hour), []FleetMember{{"shop/logs", &test.is}, {"pay/logs", nil}}, now)
			require.Equal(t, test.state, result.State)
			require.Contains(t, result.Message, test.message)
		})
	}
}

// Two revisions have failures. Only failures of the published one are described.
func TestFailureTexts_DescribesPublishedRevisionOnly(t *testing.T) {
	failures := []v1alpha1.RolloutFailure{
		{Revision: "one", Namespace: "shop", Kind: "Deployment", Name: "cart", Reason: meta.ReasonCrashLoopBackOff, Message: "container vector ended"},
		{Revision: "two", Namespace: "shop", Kind: "VectorSidecar", Name: "logs", Reason: meta.ReasonInvalidTemplate, Message: "no image (_container.tpl:12:3)"},
	}

	texts := failureTexts("two", []FleetMember{{"shop/other", nil}, {"shop/logs", &v1alpha1.RolloutStatus{Failures: failures}}})

	require.Equal(t, []string{"shop/logs: VectorSidecar shop/logs failed with revision two: InvalidTemplate: no image (_container.tpl:12:3)"}, texts)
}

// The command check reports a stuck wave after the same time as the alert VectorSidecarRolloutStuck.
func TestRolloutResult_ReportsStuckWavesLikeAlert(t *testing.T) {
	text, err := os.ReadFile("../../chart/files/alerts/operator.yaml")
	require.NoError(t, err)
	var file struct {
		Rules []struct{ Alert, Expr, For string }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	at := slices.IndexFunc(file.Rules, func(rule struct{ Alert, Expr, For string }) bool { return rule.Alert == "VectorSidecarRolloutStuck" })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, `max by (wave) (vectorsidecar_rollout_wave{job="@JOB@", state="progressing"}) > 0`, file.Rules[at].Expr, "stuckWaves counts the same members")
	duration, err := time.ParseDuration(file.Rules[at].For)
	require.NoError(t, err)
	require.Equal(t, stuckAfter, duration)
}

// One VectorSidecar after another is in progress in a wave, each only for a short time. The check reports the wave as
// stuck, because the wave as a whole is in progress for too long.
func TestRolloutResult_ReportsStuckWaveOfShortRollouts(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ago := func(hours int) *metav1.Time { return &metav1.Time{Time: now.Add(-time.Duration(hours) * time.Hour)} }
	rules, err := fleet.Parse("rollout", []byte("waves: [{name: canary}]"))
	require.NoError(t, err)
	members := []FleetMember{
		{"shop/first", &v1alpha1.RolloutStatus{Wave: "canary", Revision: "two", State: v1alpha1.RolloutComplete, StartTime: ago(7), CompletionTime: ago(3)}},
		{"shop/second", &v1alpha1.RolloutStatus{Wave: "canary", Revision: "two", State: v1alpha1.RolloutProgressing, StartTime: ago(4)}},
	}
	result := RolloutResult(&fleet.Target{Rules: rules, Revision: "two"}, now.Add(-8*time.Hour), members, now)
	require.Equal(t, Failed, result.State)
	require.Equal(t, "waves stuck: wave canary in progress since 2026-12-01T05:00:00Z (unfinished: shop/second)", result.Message)
	members[0].Status.CompletionTime = ago(5)
	require.Equal(t, OK, RolloutResult(&fleet.Target{Rules: rules, Revision: "two"}, now.Add(-8*time.Hour), members, now).State)
}
