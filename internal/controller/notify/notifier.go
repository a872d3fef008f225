// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package notify wakes the reconciles of a controller. The input is keys, from any goroutine; the output is requests in
// the queue of the controller.
package notify

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Notifier adds keys to the queue of a controller. No method blocks and no key is lost: the queue is unbounded and has
// each key once, and keys that are added before the controller starts are queued when it starts. The zero value is ready
// to use.
type Notifier struct {
	// ClusterScoped gets the keys without a namespace. If it is nil, this Notifier keeps them.
	ClusterScoped *Notifier

	mu sync.Mutex
	// queue is nil until the controller starts. pending adds the keys of the time until then.
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	pending []func()
}

// Source returns the source of the controller that runs the requested reconciles. Only one controller may have it.
func (n *Notifier) Source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.queue = queue
		for _, add := range n.pending {
			add()
		}
		n.pending = nil
		return nil
	})
}

// Notify requests a reconcile of each key at once.
func (n *Notifier) Notify(keys ...types.NamespacedName) { n.addKeys(priorityqueue.AddOpts{}, keys) }

// NotifyAfter requests a reconcile of each key after a delay.
func (n *Notifier) NotifyAfter(delay time.Duration, keys ...types.NamespacedName) {
	n.addKeys(priorityqueue.AddOpts{After: delay}, keys)
}

// NotifyWithLowPriority requests a reconcile of each key. These reconciles start after all reconciles that events
// request.
func (n *Notifier) NotifyWithLowPriority(keys ...types.NamespacedName) {
	n.addKeys(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, keys)
}

// addKeys adds keys to the queue, or to pending if the controller has not started.
func (n *Notifier) addKeys(options priorityqueue.AddOpts, keys []types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range keys {
		if key.Namespace == "" && n.ClusterScoped != nil {
			n.ClusterScoped.addKeys(options, []types.NamespacedName{key})
			continue
		}
		if n.queue == nil {
			n.pending = append(n.pending, func() { n.add(key, options) })
			continue
		}
		n.add(key, options)
	}
}

// add adds a key to the queue. A queue without priorities ignores the priority.
func (n *Notifier) add(key types.NamespacedName, options priorityqueue.AddOpts) {
	request := reconcile.Request{NamespacedName: key}
	byPriority, hasPriorities := n.queue.(priorityqueue.PriorityQueue[reconcile.Request])
	switch {
	case options.Priority != nil && hasPriorities:
		byPriority.AddWithOpts(options, request)
	case options.After > 0:
		n.queue.AddAfter(request, options.After)
	default:
		n.queue.Add(request)
	}
}
