// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// rollingOut returns workloads with a rollout that started at a time.
func rollingOut(count int, since time.Time) []*workloadcache.Record {
	return workloads(count, workload.RolloutProgressing, since)
}

func workloads(count int, rollout workload.Rollout, since time.Time) (all []*workloadcache.Record) {
	for n := range count {
		all = append(all, workloadcache.NewRecordWithView(workload.View{
			Ref:   workload.Ref{UID: types.UID(fmt.Sprint(n))},
			State: workload.State{Rollout: rollout, Availability: workload.Availability{StateSince: since}},
		}))
	}
	return all
}

// Pods are read often enough to report a fault soon. With more workloads, the pods of each workload are read less
// often.
func TestPodLook_ReadsPodsWithinReportInterval(t *testing.T) {
	for name, test := range map[string]struct {
		count           int
		longest         time.Duration
		mostIn10Minutes int
	}{
		"one that rolls out": {1, 6 * time.Second, 102},
		"a few":              {4, 6 * time.Second, 102},
		"many":               {20, 30 * time.Second, 26},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			now := began
			logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
			all := rollingOut(test.count, began)
			require.Empty(t, logs.PodsDue(all, WatchedWorkloads{}), "most are done sooner than anything can be said")
			now = now.Add(startingPods)
			last, looks := now, 0
			for ; now.Sub(began) < newTrouble; now = now.Add(logs.NextPodLook()) {
				if due := logs.PodsDue(all, WatchedWorkloads{}); len(due) > 0 {
					require.Len(t, due, test.count)
					require.LessOrEqual(t, now.Sub(last), test.longest)
					last, looks = now, looks+1
				}
			}
			require.LessOrEqual(t, looks, test.mostIn10Minutes)
			for range 100 {
				now = now.Add(logs.NextPodLook())
				logs.PodsDue(all, WatchedWorkloads{})
			}
			require.Greater(t, logs.NextPodLook(), LastRetry/2, "old trouble is not looked at as often")
		})
	}
}

// When the state of a rollout changes, the pods of the workload are read in the next reconcile.
func TestPodLook_ReadsPodsAfterRolloutChange(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	all := rollingOut(1, now.Add(-time.Minute))
	require.Len(t, logs.PodsDue(all, WatchedWorkloads{}), 1)
	require.Empty(t, logs.PodsDue(all, WatchedWorkloads{}))

	all = workloads(1, workload.RolloutUnavailable, now.Add(-time.Minute))

	require.Len(t, logs.PodsDue(all, WatchedWorkloads{}), 1)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{}), "what has settled is forgotten")
	require.Zero(t, logs.NextPodLook())
}

// A fault of a workload's pods stays until these pods are read again.
func TestFaults_KeepFaultUntilNextRead(t *testing.T) {
	logs := New(time.Now).GetOrCreate(logsOfShop)
	logs.PodsDue(rollingOut(2, time.Now().Add(-time.Minute)), WatchedWorkloads{})
	crash := workload.Fault{Reason: "CrashLoopBackOff", IsSidecarFault: true}

	require.False(t, logs.SetFault("0", crash, true))
	require.True(t, logs.SetFault("1", workload.Fault{}, false), "it is news that pods cannot be read")
	require.False(t, logs.SetFault("1", workload.Fault{}, false), "but once")

	require.Equal(t, map[types.UID]workload.Fault{"0": crash}, logs.Faults())
}

// The fault of a pod is dropped when the workload gets another sidecar. Otherwise, the new sidecar would count as
// failed until the pods are read again.
func TestFaults_DropFaultOfReplacedTemplate(t *testing.T) {
	cache := workloadcache.New()
	record := func(generation int64, replicas int32, image string) *workloadcache.Record {
		return cache.Reduce(&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "u", Generation: generation, CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour))},
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "app", Image: image},
			}}}},
			Status: appsv1.DeploymentStatus{ObservedGeneration: generation, Replicas: replicas, UpdatedReplicas: replicas, AvailableReplicas: replicas},
		})
	}
	crash := workload.Fault{Reason: "CrashLoopBackOff", IsSidecarFault: true}
	for name, due := range map[string]func(*Sidecar, *workloadcache.Record){
		"rolling out": func(l *Sidecar, r *workloadcache.Record) { l.PodsDue([]*workloadcache.Record{r}, WatchedWorkloads{}) },
		"watched": func(l *Sidecar, r *workloadcache.Record) {
			l.PodsDue(nil, WatchedWorkloads{Records: []*workloadcache.Record{r}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			logs := New(time.Now).GetOrCreate(logsOfShop)
			due(logs, record(1, 1, "crashes:1"))
			logs.SetFault("u", crash, true)
			due(logs, record(2, 3, "crashes:1"))
			require.Equal(t, map[types.UID]workload.Fault{"u": crash}, logs.Faults(), "it was scaled")
			due(logs, record(3, 3, "runs:1"))
			require.Empty(t, logs.Faults())
		})
	}
}

// settled returns workloads with running pods only.
func settled(count int) []*workloadcache.Record {
	return workloads(count, workload.RolloutComplete, time.Time{})
}

// Pods of ready workloads are read in turns: with any number of workloads, at most two at once, and each workload
// within an interval.
func TestPodLook_SpreadsReadsOfWatchedWorkloads(t *testing.T) {
	for count, test := range map[int]struct {
		during time.Duration
		want   int
	}{1: {2 * time.Minute, 4}, 40: {2 * time.Minute, 2}, 1000: {50 * time.Minute, 2}} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			began := now
			logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
			all, reads := settled(count), map[types.UID]int{}
			require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}))
			for now = now.Add(logs.NextPodLook()); now.Sub(began) <= test.during; now = now.Add(logs.NextPodLook()) {
				due := logs.PodsDue(nil, WatchedWorkloads{Records: all})
				require.LessOrEqual(t, len(due), 2)
				for _, record := range due {
					reads[record.UID]++
				}
			}
			require.Len(t, reads, count)
			for uid, n := range reads {
				require.Equal(t, test.want, n, uid)
			}
		})
	}
}

// After an hour without reads, all ready workloads are due. Only a few of them are read at once.
func TestPodLook_LimitsReadsAfterLongPause(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	all := settled(1000)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}))
	now = now.Add(time.Hour)
	require.Len(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}), watchedAtOnce)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}))
	require.Greater(t, logs.NextPodLook(), time.Second, "the others take turns")
}

// A workload had unavailable pods and is ready again. Its pods are read in the next reconcile.
func TestPodLook_ReadsRecoveredWorkloadImmediately(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	logs := New(func() time.Time { return now }).GetOrCreate(logsOfShop)
	all := settled(1)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}))
	require.Len(t, logs.PodsDue(workloads(1, workload.RolloutUnavailable, time.Time{}), WatchedWorkloads{}), 1)

	require.Len(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}), 1)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{Records: all}))
	logs.SetFault(all[0].UID, workload.Fault{Reason: "SidecarRestarts"}, true)
	require.Len(t, logs.Faults(), 1)
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{all, now}))
	require.Empty(t, logs.Faults(), "somebody has it go on")
	require.Empty(t, logs.PodsDue(nil, WatchedWorkloads{}), "nobody watches any more")
}
