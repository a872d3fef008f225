// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The state of a workload, a pod fault and a started rollout are part of the decision.
// TestDecide_BlocksOthersByRolloutState has the details.
func TestDecide_ReportsSoakAndStartedRollouts(t *testing.T) {
	s := snapshot(t, logs().WithSoak(-1).Build(), cart())
	carried(s, &decide(t, s).Plans[0])
	s.Now = noon

	change(s, func(v *workload.View) { v.StateSince = noon.Add(-10 * time.Second) })
	decided := decide(t, s)
	require.Equal(t, meta.ReasonSoaking, decided.Plans[0].Reason())
	require.Equal(t, 20*time.Second, decided.RequeueAfter)

	change(s, func(v *workload.View) { v.Rollout = workload.RolloutProgressing })
	s.Faults = map[types.UID]workload.Fault{"cart": {Reason: meta.ReasonCrashLoopBackOff, Message: "container vector ended", IsSidecarFault: true}}
	decided = decide(t, s)
	require.Equal(t, plan.RolloutFailed, decided.Plans[0].Rollout.Phase)
	require.Equal(t, meta.ReasonCrashLoopBackOff, decided.Plans[0].Reason())

	s.Sidecar = logs().Disabled().Build()
	change(s, func(v *workload.View) { v.Owned, v.Generation = nil, 1 })
	require.Empty(t, decide(t, s).Plans)
	s.WrittenGeneration = func(uid types.UID) int64 { return map[types.UID]int64{"cart": 1}[uid] }
	require.True(t, decide(t, s).Plans[0].Rollout.InFlight, "the operator has begun it")
}

// Canaries, given by number or labels, are written before other workloads.
func TestDecide_UpdatesCanariesFirst(t *testing.T) {
	one, all := intstr.FromInt32(1), intstr.FromString("100%")
	labeled := func(key, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	for name, test := range map[string]struct {
		canary *v1alpha1.CanarySpec
		goes   []string
		lacks  bool
	}{
		"none":    {nil, []string{"app-0000", "app-0001", "app-0002"}, false},
		"one":     {&v1alpha1.CanarySpec{Workloads: &one}, []string{"app-0000"}, false},
		"all":     {&v1alpha1.CanarySpec{Workloads: &all}, []string{"app-0000", "app-0001", "app-0002"}, false},
		"labeled": {&v1alpha1.CanarySpec{Selector: labeled("first", "yes")}, []string{"app-0002"}, false},
		"nobody":  {&v1alpha1.CanarySpec{Selector: labeled("first", "no")}, []string{"app-0000", "app-0001", "app-0002"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			deployments := manyOf(3)
			deployments[2].Labels["first"] = "yes"
			vs := logs().Build()
			vs.Spec.Rollout = &v1alpha1.RolloutSpec{Canary: test.canary}
			s := snapshot(t, vs, deployments...)
			decided := decide(t, s)
			var goes []string
			for i := range decided.Plans {
				if p := &decided.Plans[i]; p.Writes() {
					goes = append(goes, p.Target.Name)
				} else {
					require.Equal(t, meta.ReasonWaitingForCanary, p.Reason())
				}
			}
			require.Equal(t, test.goes, goes)
			require.Equal(t, test.lacks, decided.LacksCanary)
		})
	}

	vs := logs().Build()
	vs.Spec.Rollout = &v1alpha1.RolloutSpec{Canary: &v1alpha1.CanarySpec{Selector: labeled("first", "?")}}
	decided := decide(t, snapshot(t, vs, cart()))
	require.Equal(t, meta.ReasonInvalidSelector, decided.Invalid.Reason)
	require.Contains(t, decided.Invalid.Message, "spec.rollout.canary.selector")
}

// The only canary has no pods. Other workloads wait until it has pods, or a user promotes the change.
func TestDecide_WaitsForCanaryPodsOrPromotion(t *testing.T) {
	first := &v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": "yes"}}}
	fleet := func(t *testing.T) *Snapshot {
		deployments := manyOf(2)
		deployments[0].Labels["first"] = "yes"
		vs := logs().WithSoak(0).Build()
		vs.Spec.Rollout.Canary = first
		s := snapshot(t, vs, deployments...)
		change(s, func(v *workload.View) { v.Evidence, v.Idle = 0, "0 replicas" })
		carried(s, &decide(t, s).Plans[0])
		return s
	}
	s := fleet(t)
	decided := decide(t, s)
	require.Equal(t, v1alpha1.CanaryWithoutPods, decided.Canary.State)
	require.Equal(t, meta.ReasonWaitingForCanary, decided.Plans[1].Reason())
	require.NotEmpty(t, decided.Canary.Change)
	waiting := decided.Canary.Change

	for name, test := range map[string]struct {
		set  func(*Snapshot)
		goes bool
	}{
		"pods of the canary run": {func(s *Snapshot) { change(s, func(v *workload.View) { v.Evidence, v.Idle = 1, "" }) }, true},
		"promoted": {func(s *Snapshot) {
			s.Sidecar.Annotations[meta.AnnotationPromoteRollout] = v1alpha1.PromotionOfCanary(waiting)
		}, true},
		"promoted with others": {func(s *Snapshot) {
			s.Sidecar.Annotations[meta.AnnotationPromoteRollout] = "canary0," + v1alpha1.PromotionOfCanary(waiting)
		}, true},
		"another is promoted": {func(s *Snapshot) {
			s.Sidecar.Annotations[meta.AnnotationPromoteRollout] = v1alpha1.PromotionOfCanary("0")
		}, false},
		"its mode is promoted": {func(s *Snapshot) { s.Sidecar.Annotations[meta.AnnotationPromoteRollout] = waiting }, false},
		"canaries have finished it": {func(s *Snapshot) {
			s.Sidecar.Status.Canary = &v1alpha1.CanaryStatus{Change: waiting, State: v1alpha1.CanaryFinished}
		}, true},
		"canaries had no pods": {func(s *Snapshot) {
			s.Sidecar.Status.Canary = &v1alpha1.CanaryStatus{Change: waiting, State: v1alpha1.CanaryWithoutPods}
		}, false},
		"canaries finished another": {func(s *Snapshot) {
			s.Sidecar.Status.Canary = &v1alpha1.CanaryStatus{Change: "0", State: v1alpha1.CanaryFinished}
		}, false},
		"promoted, and then changed": {func(s *Snapshot) {
			s.Sidecar.Annotations[meta.AnnotationPromoteRollout] = v1alpha1.PromotionOfCanary(waiting)
			s.Sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := fleet(t)
			s.Sidecar.Annotations = map[string]string{}
			test.set(s)
			decided := decide(t, s)
			require.Equal(t, test.goes, decided.Plans[1].Writes(), decided.Plans[1].Message())
			if test.goes {
				require.Equal(t, v1alpha1.CanaryFinished, decided.Canary.State)
			}
		})
	}
}

// After a user requests a retry, only failures that happen later block other workloads.
func TestDecide_IgnoresEarlierFailuresAfterRetry(t *testing.T) {
	deployments := manyOf(2)
	s := snapshot(t, logs().Build(), deployments...)
	s.Now = noon
	carried(s, &decide(t, s).Plans[0])
	change(s, func(v *workload.View) { v.Rollout, v.StateSince = workload.RolloutFailed, noon.Add(-time.Minute) })
	require.Equal(t, meta.ReasonRolloutFailed, decide(t, s).Plans[1].Reason())

	s.Sidecar.Annotations = map[string]string{meta.AnnotationRetryRollout: "now"}
	decided := decide(t, s)
	require.Equal(t, plan.RolloutFailed, decided.Plans[0].Rollout.Phase, "it has failed all the same")
	require.True(t, decided.Plans[1].Writes())
	require.Equal(t, noon, decided.Retry.RetryTime.UTC())

	s.Sidecar.Status.Retry = decided.Retry
	s.Now = noon.Add(time.Hour)
	require.True(t, decide(t, s).Plans[1].Writes(), "another leader knows since when")
	change(s, func(v *workload.View) { v.StateSince = noon.Add(time.Minute) })
	require.Equal(t, meta.ReasonRolloutFailed, decide(t, s).Plans[1].Reason(), "it has failed again")

	s.Sidecar.Annotations[meta.AnnotationRetryRollout] = "and again"
	require.True(t, decide(t, s).Plans[1].Writes())
}
