// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companionuse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

var (
	logs  = types.NamespacedName{Namespace: "shop", Name: "logs"}
	audit = types.NamespacedName{Namespace: "shop", Name: "audit"}
)

// cluster has the objects that a Tracker under test reads and the reconciles that it requests.
type cluster struct {
	*Tracker

	// used are the ConfigMaps that revisions refer to. listed is the number of revisions.
	used   map[string]bool
	listed int
	err    error
	// during is called in the middle of a list.
	during func()
	lists  []time.Duration // since the start
	woken  []types.NamespacedName
	began  time.Time
}

// start starts a Tracker in a synctest bubble.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{used: map[string]bool{}, began: time.Now()}
	c.Tracker = New(Options{Clock: time.Now, Wake: func(name types.NamespacedName) { c.woken = append(c.woken, name) }})
	c.list = func(_ context.Context, namespace string, names []string) (Use, error) {
		require.Equal(t, "shop", namespace)
		c.lists = append(c.lists, time.Since(c.began).Round(time.Second))
		use := Use{Names: map[string]bool{}, Listed: c.listed}
		for _, name := range names {
			if c.used[name] {
				use.Names[name] = true
			}
		}
		if c.during != nil {
			c.during()
		}
		return use, c.err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return c
}

// unused calls UnusedCompanions for a VectorSidecar with workloads.
func (c *cluster) unused(t *testing.T, sidecar types.NamespacedName, companions []string, workloads ...types.UID) []string {
	t.Helper()
	unused, err := c.UnusedCompanions(sidecar, companions, slices.Values(workloads))
	require.NoError(t, err)
	return unused
}

// pass advances the time. The lists see the earlier writes of the test.
func (c *cluster) pass(d time.Duration) {
	c.Forget(types.NamespacedName{}) // This acquires the lock, which orders memory accesses.
	time.Sleep(d)                    //nolint:forbidigo // the clock of synctest
	synctest.Wait()
}

// deployment returns the record of a Deployment with a template and a revisionHistoryLimit, with a complete or an
// incomplete rollout.
func deployment(image string, generation int64, history int32, isRolledOut bool) *workloadcache.Record {
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "cart", Generation: generation}}
	object.Spec.RevisionHistoryLimit = ptr.To(history)
	object.Spec.Replicas = ptr.To[int32](1)
	object.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: image}}
	object.Status.ObservedGeneration = generation
	if isRolledOut {
		object.Status.Replicas, object.Status.UpdatedReplicas, object.Status.AvailableReplicas = 1, 1, 1
	}
	return records.Reduce(object)
}

var records = workloadcache.New()

// Hundreds of VectorSidecars of a namespace ask for unused companions. The tracker lists the revisions once, and
// requests the reconcile of each VectorSidecar with an unused companion.
func TestTracker_ListsOnceForAllVectorSidecars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		c.used["logs-0"] = true
		for i := range 400 {
			require.Empty(t, c.unused(t, types.NamespacedName{Namespace: "shop", Name: fmt.Sprint("logs-", i)}, []string{fmt.Sprint("logs-", i)}))
			c.pass(5 * time.Millisecond)
		}
		c.pass(10 * time.Second)
		require.Len(t, c.lists, 1)
		require.Len(t, c.woken, 399)
		require.Empty(t, c.unused(t, types.NamespacedName{Namespace: "shop", Name: "logs-0"}, []string{"logs-0"}))
		require.Equal(t, []string{"logs-7"}, c.unused(t, types.NamespacedName{Namespace: "shop", Name: "logs-7"}, []string{"logs-7"}))
		require.Len(t, c.lists, 1)
	})
}

// While workloads keep changing, the pause before the next list grows with the size of the last one, so that lists use
// a limited share of the time.
func TestTracker_PausesBetweenLists(t *testing.T) {
	for listed, most := range map[int]int{10: 12, 1000: 12, 10000: 5} {
		t.Run(fmt.Sprint(listed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t)
				c.used["old"], c.listed = true, listed
				c.unused(t, logs, []string{"old"})
				for i := range 100 {
					c.RecordChange(deployment("a", int64(2*i+1), 10, true), deployment("b", int64(2*i+2), 10, true))
					c.pass(time.Second)
				}
				require.LessOrEqual(t, len(c.lists), most)
				require.GreaterOrEqual(t, len(c.lists), most-2)
			})
		})
	}
}

// Each case is an event of a workload. The tracker lists the revisions only if the event may leave a companion unused,
// such as a finished rollout or a deletion.
func TestTracker_ListsAfterFinishedRollout(t *testing.T) {
	before := deployment("a", 1, 10, true)
	for name, test := range map[string]struct {
		happen func(*cluster)
		want   bool
	}{
		"nothing": {func(*cluster) {}, false},
		"another status": {func(c *cluster) {
			c.RecordChange(before, deployment("a", 1, 10, false))
			c.RecordChange(deployment("a", 1, 10, false), before)
		}, false},
		"another number of pods": {func(c *cluster) { c.RecordChange(before, deployment("a", 2, 10, true)) }, false},
		"a rollout that goes on": {func(c *cluster) { c.RecordChange(before, deployment("b", 2, 10, false)) }, false},
		"a rollout that finished": {func(c *cluster) {
			c.RecordChange(before, deployment("b", 2, 10, false))
			c.RecordChange(deployment("b", 2, 10, false), deployment("b", 2, 10, true))
		}, true},
		"a rollout in one event": {func(c *cluster) { c.RecordChange(before, deployment("b", 2, 10, true)) }, true},
		"a deletion":             {func(c *cluster) { c.RecordChange(before, nil) }, true},
		"another history limit":  {func(c *cluster) { c.RecordChange(before, deployment("a", 2, 3, true)) }, true},
		"a change in another namespace": {func(c *cluster) {
			record := *before
			record.Namespace = "warehouse"
			c.RecordChange(&record, nil)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t)
				c.used["old"] = true
				c.RecordChange(nil, before)
				c.unused(t, logs, []string{"old"})
				c.pass(30 * time.Second)
				require.Len(t, c.lists, 1)
				delete(c.used, "old")
				test.happen(c)
				c.pass(5 * time.Second)
				require.Equal(t, test.want, len(c.lists) == 2)
				require.Equal(t, test.want, len(c.woken) == 1)
			})
		})
	}
}

// A companion stays in use, and no workload changes. The tracker lists again at growing intervals, because controllers
// and users may delete revisions without an event.
func TestTracker_ListsLessOftenWithoutEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		c.used["old"] = true
		c.unused(t, logs, []string{"old"})
		c.pass(20 * time.Minute)
		require.Equal(t, []time.Duration{2 * time.Second, 62 * time.Second, 362 * time.Second}, c.lists)
		c.pass(20 * time.Minute)
		require.Len(t, c.lists, 4)
		for range 5 {
			c.pass(time.Hour)
			require.GreaterOrEqual(t, len(c.lists), 5)
			require.LessOrEqual(t, len(c.lists), 11)
		}
		require.Empty(t, c.woken)
		delete(c.used, "old")
		c.pass(time.Hour)
		require.Contains(t, c.woken, logs)
	})
}

// A companion counts as unused only in a list that started after the last event. A later event may belong to a new
// revision that refers to it.
func TestTracker_RequiresListAfterLastEvent(t *testing.T) {
	before, after := deployment("a", 1, 10, true), deployment("b", 2, 10, true)
	for name, test := range map[string]struct {
		happen func(*cluster)
		want   []string
	}{
		"nothing":                       {func(*cluster) {}, []string{"old"}},
		"a change before the list":      {func(c *cluster) { c.RecordChange(before, after); c.pass(30 * time.Second) }, []string{"old"}},
		"a change after the list":       {func(c *cluster) { c.RecordChange(before, after) }, nil},
		"a rollout that has only begun": {func(c *cluster) { c.RecordChange(before, deployment("b", 2, 10, false)) }, nil},
		"a new workload":                {func(c *cluster) { c.RecordChange(nil, before) }, nil},
		"a change during the list": {func(c *cluster) {
			c.during = func() { c.RecordChange(before, after) }
			c.RecordChange(before, deployment("a", 2, 3, true))
			c.pass(3 * time.Second)
		}, nil},
		"a list long ago": {func(c *cluster) { c.pass(58 * time.Second); c.pass(3 * time.Second) }, []string{"old"}},
		"a list that failed after a change": {func(c *cluster) {
			c.err = errors.New("no")
			c.RecordChange(before, after)
			c.pass(8 * time.Second)
			c.err = nil
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t)
				c.unused(t, logs, []string{"old"}, "cart")
				c.pass(10 * time.Second)
				require.Equal(t, []string{"old"}, c.unused(t, logs, []string{"old"}, "cart"))
				test.happen(c)
				unused, _ := c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{"cart"}))
				require.Equal(t, test.want, unused)
				unused, _ = c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{"other"}))
				require.Equal(t, []string{"old"}, unused, "only the VectorSidecar's own workloads count")
			})
		})
	}
}

// The result of a list expires. After that, the tracker reports no companion as unused until another list succeeds.
func TestTracker_DropsExpiredResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		c.unused(t, logs, []string{"old"})
		c.pass(3 * time.Second)
		c.used["old"] = true
		c.err = errors.New("no")
		c.pass(2 * time.Minute)
		_, err := c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{}))
		require.Error(t, err)
		unused, _ := c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{}))
		require.Empty(t, unused)
	})
}

// If lists keep failing, the tracker requests the reconcile of each waiting VectorSidecar once, and again when a list
// succeeds.
func TestTracker_ReportsFailedListOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		c.err = errors.New("forbidden")
		c.unused(t, logs, []string{"old"})
		c.unused(t, audit, []string{"older"})
		c.pass(3 * time.Second)
		require.ElementsMatch(t, []types.NamespacedName{logs, audit}, c.woken)
		_, err := c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{}))
		require.ErrorIs(t, err, c.err)
		c.woken = nil
		c.pass(30 * time.Minute)
		require.Empty(t, c.woken)
		require.Less(t, len(c.lists), 15)
		c.err, c.used = nil, map[string]bool{"old": true, "older": true}
		c.pass(5 * time.Minute)
		require.ElementsMatch(t, []types.NamespacedName{logs, audit}, c.woken)
		_, err = c.UnusedCompanions(logs, []string{"old"}, slices.Values([]types.UID{}))
		require.NoError(t, err)
	})
}

// The state of a namespace, a VectorSidecar or a workload is dropped when it no longer exists.
func TestTracker_DropsStateOfDeletedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		require.Empty(t, c.unused(t, logs, nil))
		require.Empty(t, c.namespaces)
		c.used["old"] = true
		c.unused(t, logs, []string{"old"})
		c.unused(t, audit, []string{"old"})
		c.pass(3 * time.Second)
		require.Len(t, c.lists, 1)
		c.unused(t, logs, nil)
		c.Forget(audit)
		c.Forget(types.NamespacedName{Namespace: "warehouse", Name: "logs"})
		c.pass(time.Hour)
		require.Len(t, c.lists, 1)
		require.Empty(t, c.namespaces)
		c.RecordChange(nil, deployment("a", 1, 10, false))
		c.RecordChange(deployment("a", 1, 10, false), nil)
		require.Empty(t, c.rolling)
	})
}
