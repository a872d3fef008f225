// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Anything may change between two reconciles. The second decision, which uses results of the first one, equals that of
// a new process.
func TestDecide_UsesLastDecisionLikeNewProcess(t *testing.T) {
	vs := logs().WithLogs("/var/log/app").Build()
	vs.CreationTimestamp = metav1.NewTime(time.Unix(200, 0))
	s := snapshot(t, vs, manyOf(4)...)
	s.Platform = given(t, map[string]string{desired.PolicyKey: overrides}, nil)
	older := objects.NewVectorSidecar("audit", "shop").Selecting("audit", "yes").Build()
	older.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))
	injected := decide(t, s).Plans[0]
	memory := newMemory()
	for _, step := range []struct {
		what string
		do   func()
		// want is the action for the first workload afterwards.
		want plan.Change
	}{
		{"nothing", func() {}, plan.Inject},
		{"the sidecar is in", func() { carried(s, &injected) }, plan.None},
		{"its rollout goes on", func() { change(s, func(v *workload.View) { v.Rollout, v.Generation = workload.RolloutProgressing, 2 }) }, plan.None},
		{"it was us", func() { s.WrittenGeneration = func(types.UID) int64 { return 3 } }, plan.None},
		{"nobody remembers", func() { s.WrittenGeneration = nil }, plan.None},
		{"another container comes first", func() {
			change(s, func(v *workload.View) {
				v.Containers = append([]workload.Container{{Name: "first", Init: true}, {Name: "vector", Init: true}}, v.Containers...)
			})
		}, plan.None},
		{"which it must not", func() { s.Sidecar.Spec.StrictOrder = true }, plan.Update},
		{"which it may", func() { s.Sidecar.Spec.StrictOrder = false }, plan.None},
		{"another hand changes it", func() {
			change(s, func(v *workload.View) {
				owned := v.Owned[injected.Manager]
				owned.Hash = "another"
				v.Owned = map[string]workload.OwnedFields{injected.Manager: owned}
			})
		}, plan.Update},
		{"again and again", func() {
			s.CorrectionLoops = map[types.UID]decision.CorrectionLoop{s.Workloads[0].UID: {InjectedHash: injected.Desired.InjectedHash(), Writes: 4}}
		}, plan.ActionBlocked},
		{"the break is over", func() { s.CorrectionLoops = nil }, plan.Update},
		{"changes are reported", func() { s.Sidecar.Spec.DriftPolicy = v1alpha1.DriftReport }, plan.ActionBlocked},
		{"changes are mended", func() { s.Sidecar.Spec.DriftPolicy = "" }, plan.Update},
		{"another sidecar", func() { s.Sidecar.Spec.Sidecar.Logs.Path = "/var/log/app/*.log" }, plan.Update},
		{"of values of its own", func() {
			change(s, func(v *workload.View) { v.Overrides = map[string]string{"sidecar.threads": "2"} })
		}, plan.Update},
		{"which are wrong", func() {
			change(s, func(v *workload.View) { v.Overrides = map[string]string{"sidecar.image": "x"} })
		}, plan.ActionBlocked},
		{"for another reason now", func() {
			s.Platform = given(t, map[string]string{desired.PolicyKey: "overrides: {workloads: [sidecar.logLevel]}"}, nil)
		}, plan.ActionBlocked},
		{"no more", func() { change(s, func(v *workload.View) { v.Overrides = nil }) }, plan.Update},
		{"an older one is there", func() { s.Others = []v1alpha1.VectorSidecar{*older} }, plan.Update},
		{"and selects it", func() {
			change(s, func(v *workload.View) { v.Labels = map[string]string{"logs": "vector", "audit": "yes"} })
		}, plan.Update},
		{"and is the only one to be in it", func() { change(s, func(v *workload.View) { v.Owned = nil }) }, plan.ActionConflict},
		{"which it is not", func() { carried(s, &injected) }, plan.Update},
		{"and goes", func() { s.Others = nil }, plan.Update},
		{"it is privileged, and may be", func() {
			s.Sidecar.Spec.Sidecar.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true), AllowPrivilegeEscalation: ptr.To(true)}
			s.Platform = given(t, map[string]string{desired.PolicyKey: "podSecurity: privileged"}, nil)
		}, plan.Update},
		{"the namespace forbids that", func() { s.NamespaceLabels = map[string]string{api.EnforceLevelLabel: "baseline"} }, plan.ActionBlocked},
		{"and does not", func() { s.NamespaceLabels = nil }, plan.Update},
		{"the policy changes", func() {
			s.Sidecar.Spec.Sidecar.SecurityContext = nil
			s.Platform = given(t, map[string]string{desired.PolicyKey: "images: {requireDigest: true}"}, nil)
		}, plan.ActionBlocked},
		{"and changes back", func() { s.Platform = given(t, nil, nil) }, plan.Update},
		{"it opts out", func() { change(s, func(v *workload.View) { v.OptOut = "false" }) }, plan.Remove},
		{"and in", func() { change(s, func(v *workload.View) { v.OptOut = "" }) }, plan.Update},
		{"it is paused", func() { change(s, func(v *workload.View) { v.Paused = true }) }, plan.ActionBlocked},
		{"it has another name now", func() { change(s, func(v *workload.View) { v.Name, v.Paused = "aaa", false }) }, plan.Update},
		{"it is another of its name", func() {
			change(s, func(v *workload.View) { v.UID, v.Owned, v.Containers = "new", nil, v.Containers[2:] })
		}, plan.Inject},
		{"another one is gone", func() { s.Workloads = append(s.Workloads[:1:1], s.Workloads[2:]...) }, plan.Inject},
		{"its label is gone", func() { carried(s, &injected); change(s, func(v *workload.View) { v.Labels = nil }) }, plan.Remove},
		{"and back", func() { change(s, func(v *workload.View) { v.Labels = map[string]string{"logs": "vector"} }) }, plan.Update},
		{"another environment", func() { s.NamespaceLabels = map[string]string{meta.LabelEnvironment: "staging"} }, plan.Update},
		{"everything goes", func() { now := metav1.Now(); s.Sidecar.DeletionTimestamp = &now }, plan.Remove},
	} {
		step.do()
		for _, what := range []string{step.what, step.what + ", once more"} {
			remembered := memory.decide(t, s)
			require.Equal(t, decide(t, s), remembered, what)
			require.EqualValues(t, step.want, remembered.Plans[0].Action(), "%s: %s", what, remembered.Plans[0].Message())
		}
	}
}
