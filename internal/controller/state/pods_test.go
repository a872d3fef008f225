// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// rollingOut are workloads whose rollout began at a time.
func rollingOut(count int, since time.Time) []*workloadcache.Record {
	var all []*workloadcache.Record
	for n := range count {
		all = append(all, &workloadcache.Record{UID: types.UID(fmt.Sprint(n)), State: workload.State{
			Rollout: workload.RolloutProgressing, Availability: workload.Availability{Since: since},
		}})
	}
	return all
}

func TestPodsAreReadOftenEnoughToReportTroubleSoon(t *testing.T) {
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
			logs := New(func() time.Time { return now }).Of(logsOfShop)
			all := rollingOut(test.count, began)
			require.Empty(t, logs.PodsDue(all), "most are done sooner than anything can be said")
			now = now.Add(startingPods)
			last, looks := now, 0
			for ; now.Sub(began) < newTrouble; now = now.Add(logs.NextPodLook()) {
				if due := logs.PodsDue(all); len(due) > 0 {
					require.Len(t, due, test.count)
					require.LessOrEqual(t, now.Sub(last), test.longest)
					last, looks = now, looks+1
				}
			}
			require.LessOrEqual(t, looks, test.mostIn10Minutes)
			for range 100 {
				now = now.Add(logs.NextPodLook())
				logs.PodsDue(all)
			}
			require.Greater(t, logs.NextPodLook(), LastRetry/2, "old trouble is not looked at as often")
		})
	}
}

func TestPodsAreReadAtOnceWhenTheRolloutChanges(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	logs := New(func() time.Time { return now }).Of(logsOfShop)
	all := rollingOut(1, now.Add(-time.Minute))
	require.Len(t, logs.PodsDue(all), 1)
	require.Empty(t, logs.PodsDue(all))

	all[0].Rollout = workload.RolloutUnavailable

	require.Len(t, logs.PodsDue(all), 1)
	require.Empty(t, logs.PodsDue(nil), "what has settled is forgotten")
	require.Zero(t, logs.NextPodLook())
}

func TestWhatIsWrongWithPodsIsKnownUntilTheNextRead(t *testing.T) {
	logs := New(time.Now).Of(logsOfShop)
	logs.PodsDue(rollingOut(2, time.Now().Add(-time.Minute)))
	crash := workload.Fault{Reason: "CrashLoopBackOff", IsOurs: true}

	require.False(t, logs.SetFault("0", crash, true))
	require.True(t, logs.SetFault("1", workload.Fault{}, false), "it is news that pods cannot be read")
	require.False(t, logs.SetFault("1", workload.Fault{}, false), "but once")

	require.Equal(t, map[types.UID]workload.Fault{"0": crash}, logs.Faults())
}
