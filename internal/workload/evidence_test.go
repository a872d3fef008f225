// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// evidenceCase is one state of a workload.
type evidenceCase struct {
	object   Object
	evidence int32
	// lacksPods is whether the rollout is complete without a pod, idle whether the next template starts no pod.
	lacksPods, idle bool
}

func requireEvidence(t *testing.T, cases map[string]evidenceCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			state := ReadState(test.object)
			require.Equal(t, test.evidence, state.Evidence)
			require.Equal(t, test.lacksPods, state.LacksPods())
			require.Equal(t, test.idle, state.Idle != "", state.Idle)
		})
	}
}

// Each case is the status of a Deployment, and whether its pods have run the current template.
func TestProgress_HasEvidenceIfDeploymentPodsRun(t *testing.T) {
	// Numbers of pods: that there are to be, that are updated, all, that are available.
	deployment := func(replicas, updated, pods, available int32) *appsv1.Deployment {
		object := rolling(updated, pods, available, 0, 0)
		object.Spec.Replicas = &replicas
		return object
	}
	unseen := deployment(3, 3, 3, 3)
	unseen.Generation++
	unset := deployment(1, 1, 1, 1)
	unset.Spec.Replicas = nil
	emptyUnseen := deployment(0, 3, 3, 3)
	emptyUnseen.Generation++
	late := deployment(3, 1, 4, 3)
	late.Status.Conditions[0] = appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: progressDeadlineExceeded}
	paused := deployment(3, 1, 4, 4)
	paused.Spec.Paused = true
	requireEvidence(t, map[string]evidenceCase{
		"done":                                  {deployment(3, 3, 3, 3), 3, false, false},
		"done, replicas by default":             {unset, 1, false, false},
		"not observed":                          {unseen, 0, false, false},
		"new pods are coming up":                {deployment(3, 1, 4, 3), 0, false, false},
		"one new pod runs next to all old ones": {deployment(3, 1, 4, 4), 1, false, false},
		"some pods are lost":                    {deployment(3, 3, 3, 2), 2, false, false},
		"all pods are lost":                     {deployment(3, 3, 3, 0), 0, false, false},
		"failed":                                {late, 0, false, false},
		"paused on the way":                     {paused, 1, false, false},
		"0 replicas":                            {deployment(0, 0, 0, 0), 0, true, true},
		"0 replicas, not observed":              {emptyUnseen, 0, false, true},
		"0 replicas, old pods are ending":       {deployment(0, 0, 2, 2), 0, false, true},
		"scaled up from 0":                      {deployment(3, 0, 0, 0), 0, false, false},
		"the first pod of three":                {deployment(3, 1, 1, 1), 1, false, false},
	})
}

// Each case is the status of a StatefulSet, and whether its pods have run the current template.
func TestProgress_HasEvidenceIfStatefulSetPodsRun(t *testing.T) {
	partition := func(ordinal int32) appsv1.StatefulSetUpdateStrategy {
		return appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &ordinal}}
	}
	onDelete := appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	set := func(strategy appsv1.StatefulSetUpdateStrategy, replicas, updated, pods, available int32) *appsv1.StatefulSet {
		object := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.StatefulSetSpec{Replicas: &replicas, UpdateStrategy: strategy},
			Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdatedReplicas: updated, Replicas: pods, AvailableReplicas: available, UpdateRevision: "new", CurrentRevision: "new"},
		}
		if updated < pods {
			object.Status.CurrentRevision = "old"
		}
		return object
	}
	unseen := set(partition(0), 3, 3, 3, 3)
	unseen.Generation++
	requireEvidence(t, map[string]evidenceCase{
		"done":                              {set(partition(0), 3, 3, 3, 3), 3, false, false},
		"not observed":                      {unseen, 0, false, false},
		"one is replaced":                   {set(partition(0), 3, 1, 3, 3), 1, false, false},
		"one is replaced and not up":        {set(partition(0), 3, 1, 3, 2), 0, false, false},
		"all pods are lost":                 {set(partition(0), 3, 3, 3, 0), 0, false, false},
		"one is above the partition":        {set(partition(2), 3, 1, 3, 3), 1, false, false},
		"none is above the partition":       {set(partition(3), 3, 0, 3, 3), 0, false, true},
		"OnDelete, none is deleted":         {set(onDelete, 3, 0, 3, 3), 0, false, true},
		"OnDelete, one was deleted":         {set(onDelete, 3, 1, 3, 3), 1, false, true},
		"OnDelete, all were deleted":        {set(onDelete, 3, 3, 3, 3), 3, false, true},
		"0 replicas":                        {set(partition(0), 0, 0, 0, 0), 0, true, true},
		"0 replicas with OnDelete":          {set(onDelete, 0, 0, 0, 0), 0, true, true},
		"0 replicas, old pods are ending":   {set(partition(0), 0, 0, 2, 2), 0, false, true},
		"scaled up from 0, no pod is up":    {set(partition(0), 3, 0, 0, 0), 0, false, false},
		"scaled up from 0, one pod is up":   {set(partition(0), 3, 1, 1, 1), 1, false, false},
		"the controller has not looked yet": {&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, 0, false, false},
	})
}

// Each case is the status of a DaemonSet, and whether its pods have run the current template.
func TestProgress_HasEvidenceIfDaemonSetPodsRun(t *testing.T) {
	rolling := appsv1.DaemonSetUpdateStrategy{}
	onDelete := appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	set := func(strategy appsv1.DaemonSetUpdateStrategy, wanted, updated, pods, available int32) *appsv1.DaemonSet {
		return &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DaemonSetSpec{UpdateStrategy: strategy},
			Status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: wanted, UpdatedNumberScheduled: updated, CurrentNumberScheduled: pods, NumberAvailable: available},
		}
	}
	unseen := set(rolling, 3, 3, 3, 3)
	unseen.Generation++
	fromFile := &appsv1.DaemonSet{}
	SetFinishedStatus(fromFile)
	requireEvidence(t, map[string]evidenceCase{
		"done":                      {set(rolling, 3, 3, 3, 3), 3, false, false},
		"not observed":              {unseen, 0, false, false},
		"one is replaced":           {set(rolling, 3, 1, 3, 3), 1, false, false},
		"one is between":            {set(rolling, 3, 1, 2, 2), 1, false, false},
		"all pods are lost":         {set(rolling, 3, 3, 3, 0), 0, false, false},
		"no node":                   {set(rolling, 0, 0, 0, 0), 0, true, true},
		"no node with OnDelete":     {set(onDelete, 0, 0, 0, 0), 0, true, true},
		"the first node has come":   {set(rolling, 1, 0, 0, 0), 0, false, false},
		"OnDelete, none is deleted": {set(onDelete, 3, 0, 3, 3), 0, false, true},
		"OnDelete, one was deleted": {set(onDelete, 3, 1, 3, 3), 1, false, true},
		"from a file":               {fromFile, 1, false, false},
	})
}

// Each case is the status of a CronJob and its Jobs, and whether a run has used the current template.
func TestProgress_HasEvidenceAfterRunOfCronJob(t *testing.T) {
	// Seconds after noon at which the operator wrote and the newest run was scheduled and a run succeeded, -1 for never.
	job := func(written, scheduled, succeeded int) *batchv1.CronJob {
		object := &batchv1.CronJob{}
		if written >= 0 {
			object.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationApply, Time: ptr.To(metav1.NewTime(at(written))), FieldsV1: metav1.NewFieldsV1(`{}`),
			}}
		}
		if scheduled >= 0 {
			object.Status.LastScheduleTime = ptr.To(metav1.NewTime(at(scheduled)))
		}
		if succeeded >= 0 {
			object.Status.LastSuccessfulTime = ptr.To(metav1.NewTime(at(succeeded)))
		}
		return object
	}
	suspended := job(10, -1, -1)
	suspended.Spec.Suspend = ptr.To(true)
	suspendedLater := job(10, 20, 30)
	suspendedLater.Spec.Suspend = ptr.To(true)
	requireEvidence(t, map[string]evidenceCase{
		"never written, never run":           {job(-1, -1, -1), 0, true, true},
		"never run":                          {job(10, -1, -1), 0, false, true},
		"suspended":                          {suspended, 0, false, true},
		"its last run was before":            {job(10, 5, 8), 0, false, true},
		"a run from before has succeeded":    {job(10, 5, 15), 0, false, true},
		"a run has started":                  {job(10, 20, -1), 0, true, true},
		"a run has started, one succeeded":   {job(10, 20, 15), 0, true, true},
		"a run has succeeded":                {job(10, 20, 30), 1, false, true},
		"a run has succeeded, now suspended": {suspendedLater, 1, false, true},
	})

	succeeded, next := ReadState(job(10, 20, 30)), ReadState(job(10, 40, 30))
	next.CarryOver(&succeeded, true, at(50))
	require.EqualValues(t, 1, next.Evidence, "the next run is in progress")
	next = ReadState(job(35, 40, 30))
	next.CarryOver(&succeeded, false, at(50))
	require.Zero(t, next.Evidence, "it has another template")
}

// Each case is the status of a Rollout, and whether its pods have run the current template.
func TestProgress_HasEvidenceIfArgoRolloutPodsRun(t *testing.T) {
	rollout := func(phase, stable string, replicas, updated, pods, available int32) *argoRollout {
		return &argoRollout{
			ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: argoRolloutSpec{Replicas: &replicas},
			Status: argoRolloutStatus{ObservedGeneration: "2", Phase: phase, CurrentPodHash: "new", StableRS: stable, UpdatedReplicas: updated, Replicas: pods, AvailableReplicas: available},
		}
	}
	unseen := rollout(argoHealthy, "new", 3, 3, 3, 3)
	unseen.Generation++
	requireEvidence(t, map[string]evidenceCase{
		"done":                                  {rollout(argoHealthy, "new", 3, 3, 3, 3).object(), 3, false, false},
		"done, pods before end later":           {rollout(argoHealthy, "new", 3, 3, 6, 3).object(), 3, false, false},
		"not observed":                          {unseen.object(), 0, false, false},
		"a step with one pod":                   {rollout(argoPaused, "old", 3, 1, 4, 4).object(), 1, false, false},
		"a step without pods":                   {rollout(argoPaused, "old", 3, 0, 3, 3).object(), 0, false, false},
		"all pods of a preview, none in use":    {rollout(argoPaused, "old", 3, 3, 6, 3).object(), 0, false, false},
		"degraded":                              {rollout(argoDegraded, "old", 3, 1, 4, 3).object(), 0, false, false},
		"all pods are lost":                     {rollout("Progressing", "new", 3, 3, 3, 0).object(), 0, false, false},
		"0 replicas":                            {rollout(argoHealthy, "new", 0, 0, 0, 0).object(), 0, true, true},
		"0 replicas, its controller is waiting": {rollout("Progressing", "new", 0, 0, 0, 0).object(), 0, true, true},
	})
}

// The soak starts with the first pod. Before, nothing has shown that the sidecar works, whatever the status reports of
// the rollout.
func TestState_StartsSoakWithFirstPod(t *testing.T) {
	empty := func() *appsv1.Deployment {
		object := rolling(0, 0, 0, 0, 1000)
		object.Spec.Replicas = ptr.To[int32](0)
		return object
	}
	pods := generation(rolling(3, 3, 3, 0, 2000), 8)
	starting := generation(rolling(3, 3, 0, 0, 1990), 8)

	state := ReadState(empty())
	require.Zero(t, state.LongestAvailability(at(2000)), "after a restart")
	for second, object := range map[int]*appsv1.Deployment{1: starting, 2: pods} {
		next := ReadState(object)
		next.CarryOver(&state, true, at(2000))
		require.Zero(t, next.Steady, second)
	}
	up := ReadState(pods)
	up.CarryOver(&state, true, at(2000))
	require.Equal(t, 5*time.Second, up.LongestAvailability(at(2005)))

	down := ReadState(generation(empty(), 9))
	down.CarryOver(&up, true, at(2060))
	require.Equal(t, time.Minute, down.LongestAvailability(at(9000)), "its pods ran for a minute")
	again := ReadState(generation(pods.DeepCopy(), 10))
	again.CarryOver(&down, true, at(9000))
	require.Equal(t, time.Minute, again.LongestAvailability(at(9001)), "and need not soak again")
}
