// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func newKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// get returns the names of the ready requests in a queue.
func get(t *testing.T, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) (names []string) {
	t.Helper()
	synctest.Wait()
	for range queue.Len() {
		request, isShutDown := queue.Get()
		require.False(t, isShutDown)
		queue.Done(request)
		names = append(names, request.Name)
	}
	return names
}

func newQueue() priorityqueue.PriorityQueue[reconcile.Request] {
	return priorityqueue.New[reconcile.Request]("test")
}

// Each key is in the queue once, with its highest priority and its shortest delay.
func TestNotifier_QueuesEachKeyOnce(t *testing.T) {
	for name, test := range map[string]struct {
		notify func(*Notifier)
		// ready are the names of the requests that are ready at once. later are the names after a minute.
		ready, later []string
	}{
		"in order":          {notify: func(n *Notifier) { n.Notify(newKey("a"), newKey("b")); n.Notify(newKey("c")) }, ready: []string{"a", "b", "c"}},
		"the same key once": {notify: func(n *Notifier) { n.Notify(newKey("a")); n.Notify(newKey("a")) }, ready: []string{"a"}},
		"low priority last": {notify: func(n *Notifier) { n.NotifyWithLowPriority(newKey("a")); n.Notify(newKey("b")) }, ready: []string{"b", "a"}},
		"the highest priority of a key": {
			notify: func(n *Notifier) { n.NotifyWithLowPriority(newKey("a"), newKey("b")); n.Notify(newKey("b")) }, ready: []string{"b", "a"},
		},
		"after a delay": {notify: func(n *Notifier) { n.NotifyAfter(time.Second, newKey("a")); n.Notify(newKey("b")) }, ready: []string{"b"}, later: []string{"a"}},
		"the shortest delay of a key": {
			notify: func(n *Notifier) { n.NotifyAfter(time.Second, newKey("a")); n.Notify(newKey("a")) }, ready: []string{"a"},
		},
	} {
		for order, isStartedFirst := range map[string]bool{"started": true, "not started yet": false} {
			t.Run(name+", "+order, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					notifier, queue := &Notifier{}, newQueue()
					defer queue.ShutDown()
					if isStartedFirst {
						require.NoError(t, notifier.Source().Start(t.Context(), queue))
					}
					test.notify(notifier)
					if !isStartedFirst {
						require.NoError(t, notifier.Source().Start(t.Context(), queue))
					}
					require.Equal(t, test.ready, get(t, queue))
					time.Sleep(time.Minute) //nolint:forbidigo // The time of the test's bubble.
					require.Equal(t, test.later, get(t, queue))
				})
			})
		}
	}
}

// The notifier accepts any number of keys without blocking, because event handlers of informers call it.
func TestNotifier_AcceptsKeysWithoutBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goroutines, each = 8, 2000
		notifier, queue := &Notifier{}, newQueue()
		defer queue.ShutDown()
		var notifying sync.WaitGroup
		for g := range goroutines {
			notifying.Go(func() {
				for i := range each {
					notifier.Notify(newKey(strconv.Itoa(g*each + i)))
				}
			})
		}
		require.NoError(t, notifier.Source().Start(t.Context(), queue))
		notifying.Wait()
		require.Len(t, get(t, queue), goroutines*each)
	})
}

// The notifier also works with a queue that has no priorities.
func TestNotifier_AcceptsQueueWithoutPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		notifier := &Notifier{}
		require.NoError(t, notifier.Source().Start(t.Context(), queue))
		notifier.NotifyWithLowPriority(newKey("a"))
		require.Equal(t, []string{"a"}, get(t, queue))
	})
}
