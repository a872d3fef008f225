// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// at is a number of seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// rolling is a Deployment of three replicas, of which some run the newest template and
// some are available. finished and changed, in seconds after noon, are when the rollout
// finished by its conditions and when the status changed; -1 if not recorded.
func rolling(updated, all, available int32, finished, changed int) *appsv1.Deployment {
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)}}
	deployment.Generation = 7
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 7, UpdatedReplicas: updated, Replicas: all, AvailableReplicas: available}
	progress := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated", LastUpdateTime: metav1.NewTime(at(finished))}
	if finished >= 0 {
		progress.Reason = "NewReplicaSetAvailable"
	}
	deployment.Status.Conditions = []appsv1.DeploymentCondition{progress}
	if changed >= 0 {
		deployment.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Time: ptr.To(metav1.NewTime(at(changed + 1000)))},
			{Manager: "kube-controller-manager", Subresource: "status", Time: ptr.To(metav1.NewTime(at(changed)))},
		}
	}
	return deployment
}

// generation sets another generation, which the controller has observed.
func generation(deployment *appsv1.Deployment, number int64) *appsv1.Deployment {
	deployment.Generation, deployment.Status.ObservedGeneration = number, number
	return deployment
}

func TestDeploymentRollout_DerivesStateFromStatus(t *testing.T) {
	stale := rolling(3, 3, 3, 0, 0)
	stale.Generation++
	late := rolling(1, 4, 3, -1, 0)
	late.Status.Conditions[0] = appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       Rollout
	}{
		"done":                                 {rolling(3, 3, 3, 0, 0), RolloutComplete},
		"done, without a word of when":         {rolling(3, 3, 3, -1, 0), RolloutComplete},
		"its controller has not looked yet":    {stale, RolloutProgressing},
		"old pods are still there":             {rolling(3, 4, 3, -1, 0), RolloutProgressing},
		"the last new pods are coming up":      {rolling(3, 3, 2, -1, 0), RolloutProgressing},
		"it was done, and pods are lost":       {rolling(3, 3, 2, 0, 0), RolloutUnavailable},
		"it was done, and is scaled up":        {rolling(2, 2, 2, 0, 0), RolloutProgressing},
		"its deadline has passed":              {late, RolloutFailed},
		"old pods are replaced by older again": {rolling(0, 3, 3, 0, 0), RolloutProgressing},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, deploymentRollout(test.deployment)) })
	}
}

// After a restart, the time since which all pods are available is read from the workload's status.
func TestReadState_ReadsAvailabilityFromStatus(t *testing.T) {
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       time.Duration
	}{
		"since its rollout":                  {rolling(3, 3, 3, 10, 10), 90 * time.Second},
		"long enough, and again":             {rolling(3, 3, 3, 10, 80), 70 * time.Second},
		"not for long, and again":            {rolling(3, 3, 3, 10, 12), 88 * time.Second},
		"until it lost pods":                 {rolling(3, 3, 2, 10, 12), 2 * time.Second},
		"not at all, as it is rolling out":   {rolling(3, 4, 3, -1, 12), 0},
		"since its status changed":           {rolling(3, 3, 3, -1, 40), 60 * time.Second},
		"ever, as nobody has noted anything": {rolling(3, 3, 3, -1, -1), 1 << 60},
	} {
		t.Run(name, func(t *testing.T) {
			state := ReadState(test.deployment)
			got := state.LongestAvailability(at(100))
			if test.want > time.Hour {
				require.Greater(t, got, test.want)
				return
			}
			require.Equal(t, test.want, got)
			require.True(t, state.IsAssumed)
		})
	}
}

// Each case is a sequence of watch events, one second apart, and how long all pods have been available without
// interruption after the last one.
func TestCarryOver_MeasuresAvailability(t *testing.T) {
	complete, lost, begun := rolling(3, 3, 3, 500, 500), rolling(3, 3, 1, 500, 501), rolling(1, 4, 3, -1, 502)
	again := rolling(3, 3, 3, 503, 503)
	scaled := generation(rolling(3, 3, 2, 500, 504), 8)
	for name, test := range map[string]struct {
		course []*appsv1.Deployment
		want   int
	}{
		"a rollout, and on":                                      {[]*appsv1.Deployment{begun, complete, complete, complete}, 3},
		"a rollout, and pods are lost":                           {[]*appsv1.Deployment{begun, complete, complete, lost, lost}, 2},
		"pods are lost, and come back":                           {[]*appsv1.Deployment{begun, complete, complete, lost, complete}, 2},
		"pods are lost, and come back for longer":                {[]*appsv1.Deployment{begun, complete, lost, complete, complete}, 2},
		"another rollout":                                        {[]*appsv1.Deployment{begun, complete, complete, complete, begun, again}, 1},
		"another rollout, of which nothing was seen but its end": {[]*appsv1.Deployment{begun, complete, complete, complete, again}, 1},
		"it is scaled up":                                        {[]*appsv1.Deployment{begun, complete, complete, complete, scaled}, 3},
		"it is scaled up and done":                               {[]*appsv1.Deployment{begun, complete, complete, complete, scaled, generation(complete.DeepCopy(), 8)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			state := ReadState(test.course[0])
			for i, deployment := range test.course[1:] {
				next := ReadState(deployment)
				next.CarryOver(&state, true, at(i+1))
				state = next
			}
			require.Equal(t, time.Duration(test.want)*time.Second, state.LongestAvailability(at(len(test.course))))
			require.False(t, state.IsAssumed)
		})
	}
}

// A changed template may return to an existing ReplicaSet, whose rollout finishes before a condition changes. The soak
// still starts again.
func TestCarryOver_RestartsSoakForNewTemplate(t *testing.T) {
	before, after := ReadState(rolling(3, 3, 3, 0, 0)), ReadState(generation(rolling(3, 3, 3, 0, 0), 8))

	after.CarryOver(&before, false, at(60))

	require.Equal(t, time.Second, after.LongestAvailability(at(61)))
}

// A template returns to an existing ReplicaSet. Until one more pod runs, the Deployment reports the deadline that the
// previous template missed. It is ignored.
func TestCarryOver_IgnoresDeadlineOfPreviousTemplate(t *testing.T) {
	failed := func(seen int64, second int) *appsv1.Deployment {
		deployment := generation(rolling(1, 2, 1, -1, 500), 8)
		deployment.Status.ObservedGeneration = seen
		deployment.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: progressDeadlineExceeded, LastUpdateTime: metav1.NewTime(at(second)),
		}}
		return deployment
	}
	follow := func(before *State, deployment *appsv1.Deployment, isSameTemplate bool, second int) *State {
		after := ReadState(deployment)
		after.CarryOver(before, isSameTemplate, at(second))
		return &after
	}
	before := ReadState(generation(failed(7, 0), 7))
	require.Equal(t, RolloutFailed, before.Rollout)

	unseen := follow(&before, failed(7, 0), false, 60)
	require.Equal(t, RolloutProgressing, unseen.Rollout)
	seen := follow(unseen, failed(8, 0), true, 61)
	require.Equal(t, RolloutProgressing, seen.Rollout)
	isOverdue, remaining := seen.IsOverdue(&deployments, at(61))
	require.False(t, isOverdue)
	require.Equal(t, Deadline-time.Second, remaining, "the status may never say that this one fails, too")
	isOverdue, _ = seen.IsOverdue(&deployments, at(60+int(Deadline.Seconds())))
	require.True(t, isOverdue)

	again := follow(seen, failed(8, 100), true, 100)
	require.Equal(t, RolloutFailed, again.Rollout, "this one has failed")
	scaled := follow(&before, failed(8, 0), true, 60)
	require.Equal(t, RolloutFailed, scaled.Rollout, "the template is the same")
	first := ReadState(failed(8, 0))
	require.Equal(t, RolloutFailed, first.Rollout, "after a restart nobody knows what others have written")
}

// After a restart, a missed deadline in the status is ignored if the operator's last write is newer.
func TestReadState_IgnoresDeadlineMissedBeforeWrite(t *testing.T) {
	status := 502 // The controller sees the write by then.
	written := func(seen int64, missed, second int) *appsv1.Deployment {
		deployment := generation(rolling(1, 2, 1, -1, -1), 8)
		deployment.Status.ObservedGeneration = seen
		deployment.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: progressDeadlineExceeded, LastUpdateTime: metav1.NewTime(at(missed)),
		}}
		deployment.ManagedFields = append(deployment.ManagedFields,
			metav1.ManagedFieldsEntry{Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"), Time: new(metav1.NewTime(at(second)))},
			metav1.ManagedFieldsEntry{Manager: "kube-controller-manager", Subresource: "status", Time: new(metav1.NewTime(at(max(missed, status))))},
			metav1.ManagedFieldsEntry{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Time: new(metav1.NewTime(at(1000)))})
		return deployment
	}
	for _, second := range []int{500, 501} {
		back := ReadState(written(8, 500, second))
		require.Equal(t, RolloutProgressing, back.Rollout)
		isOverdue, remaining := back.IsOverdue(&deployments, at(1001))
		require.False(t, isOverdue)
		require.Equal(t, Deadline-499*time.Second, remaining, "later writes do not extend it")

		unseen, seen := ReadState(written(7, 500, second)), back
		require.Equal(t, RolloutProgressing, unseen.Rollout)
		seen.CarryOver(&unseen, true, at(600))
		require.Equal(t, RolloutProgressing, seen.Rollout, "the restart was before its controller had seen it")
		again := ReadState(written(8, 900, second))
		again.CarryOver(&seen, true, at(900))
		require.Equal(t, RolloutFailed, again.Rollout, "it has failed, too")
	}
	failed := ReadState(written(8, 500, 499))
	require.Equal(t, RolloutFailed, failed.Rollout)
	noted := ReadState(written(8, 500, 700))
	noted.CarryOver(&failed, true, at(700))
	require.Equal(t, RolloutFailed, noted.Rollout, "what was written is no template")
}

// The message of a rejection in the workload's status is shortened.
func TestReadState_TruncatesRejection(t *testing.T) {
	deployment := rolling(1, 4, 3, -1, 0)
	deployment.Status.Conditions = append(deployment.Status.Conditions, appsv1.DeploymentCondition{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota" + strings.Repeat("ä", 1000),
	})

	after := ReadState(deployment)

	require.Contains(t, after.Refusal, "exceeded quota")
	require.LessOrEqual(t, len(after.Refusal), 512)
	require.Equal(t, strings.ToValidUTF8(after.Refusal, "?"), after.Refusal)
}

// A new workload has no conditions yet. Its state has lasted since its creation.
func TestReadState_UsesCreationTimeOfNewWorkload(t *testing.T) {
	fresh := rolling(0, 0, 0, -1, -1)
	fresh.CreationTimestamp = metav1.NewTime(at(10))

	read := ReadState(fresh)

	require.Equal(t, at(10), read.StateSince)
	require.Zero(t, read.Steady)
}
