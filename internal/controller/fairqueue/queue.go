// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package fairqueue implements the work queue of a controller with items that belong to shares, such as namespaces. The
// input is items, and the output is the next item for a worker: an item of the share with the least used worker time. A
// share gets at most a quarter of the workers. Within a share, items have the order of controller-runtime's queue: by
// priority, then first come, first served.
package fairqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"k8s.io/utils/third_party/forked/golang/btree"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// Options configure a Queue. All fields are required.
type Options[T comparable] struct {
	// Workers is the number of workers that get items. At most a quarter of them, rounded down but at least 1, work for
	// one share.
	Workers int
	// ShareFor returns the share of an item.
	ShareFor func(T) string
	// RateLimiter returns the delay of items that are added with a rate limit.
	RateLimiter workqueue.TypedRateLimiter[T]
	// Metrics observes the queue.
	Metrics Metrics
}

// Metrics observes a queue.
type Metrics interface {
	// RecordAdd counts an item that became ready. RecordRetry counts an item that was added with a delay.
	RecordAdd()
	RecordRetry()
	// ChangeDepth changes the number of ready items of a priority.
	ChangeDepth(priority, change int)
	// RecordWait records how long an item was ready before a worker got it. RecordWork records the worker time of an
	// item.
	RecordWait(waited time.Duration)
	RecordWork(worked time.Duration)
	// SetUnfinished records the worker time of all items in progress, and of the longest one.
	SetUnfinished(total, longest time.Duration)
}

// Queue is a work queue with shares. Each item belongs to one share. It implements priorityqueue.PriorityQueue, and
// is safe for concurrent use.
type Queue[T comparable] struct {
	options Options[T]

	mu sync.Mutex
	// changed wakes a worker that waits for an item.
	changed *sync.Cond
	// items are the ready and the delayed items. They include each item in progress that was added again.
	items   map[T]*item[T]
	delayed *btree.BTree[*item[T]]
	// timer ends the delay of the first delayed item.
	timer *time.Timer
	ready int
	turns *shareQueue[T]
	// processing has the share of each item in progress.
	processing map[T]*share[T]
	sequence   uint64
	isDraining bool
	// isClosed stops the workers. stopped then wakes ShutDownWithDrain.
	isClosed bool
	stopped  *sync.Cond
}

// item is a ready or delayed item.
type item[T comparable] struct {
	key      T
	priority int
	// sequence is the order in which items became ready.
	sequence uint64
	isReady  bool
	// readyAt is when the item became ready, or when its delay ends.
	readyAt time.Time
}

var _ priorityqueue.PriorityQueue[int] = (*Queue[int])(nil)

// unfinishedInterval is how often the time of items in progress is recorded.
const unfinishedInterval = 500 * time.Millisecond

// workerShare is the divisor of the workers for one share. With more workers, the writes of one share delay the requests
// of all others in the API server.
const workerShare = 4

// treeDegree is the degree of all B-trees, the same as in controller-runtime's queue.
const treeDegree = 32

// New returns a queue, which runs until it is shut down.
func New[T comparable](options Options[T]) *Queue[T] {
	q := &Queue[T]{
		options: options, items: map[T]*item[T]{}, processing: map[T]*share[T]{},
		delayed: btree.New(treeDegree, isReadyBefore[T]), turns: newShareQueue[T](max(1, options.Workers/workerShare)),
	}
	q.changed, q.stopped = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	time.AfterFunc(unfinishedInterval, q.recordUnfinished)
	return q
}

// isReadyBefore sorts delayed items by the end of their delay.
func isReadyBefore[T comparable](a, b *item[T]) bool {
	if !a.readyAt.Equal(b.readyAt) {
		return a.readyAt.Before(b.readyAt)
	}
	return a.sequence < b.sequence
}

// Add adds an item that is ready.
func (q *Queue[T]) Add(key T) { q.AddWithOpts(priorityqueue.AddOpts{}, key) }

// AddAfter adds an item that is ready after a delay.
func (q *Queue[T]) AddAfter(key T, delay time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: delay}, key)
}

// AddRateLimited adds an item that is ready after the delay of the rate limiter.
func (q *Queue[T]) AddRateLimited(key T) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, key)
}

// AddWithOpts adds items. For an item that is already in the queue, the shorter delay and the higher priority apply.
func (q *Queue[T]) AddWithOpts(options priorityqueue.AddOpts, keys ...T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isShutDown() {
		return
	}
	for _, key := range keys {
		delay := options.After
		if options.RateLimited {
			if limited := q.options.RateLimiter.When(key); delay == 0 || limited < delay {
				delay = limited
			}
		}
		q.addItem(key, ptr.Deref(options.Priority, 0), delay)
	}
}

// addItem adds an item that is ready after a delay, or changes the queued item of the same key. The caller holds the
// mutex.
func (q *Queue[T]) addItem(key T, priority int, delay time.Duration) {
	if delay > 0 {
		q.options.Metrics.RecordRetry()
	}
	readyAt := time.Now().Add(delay)
	queued, exists := q.items[key]
	switch {
	case !exists:
		queued = &item[T]{key: key, priority: priority, sequence: q.nextSequence(), readyAt: readyAt}
		q.items[key] = queued
	case queued.isReady:
		q.raisePriority(queued, priority)
		return
	default:
		q.delayed.Delete(queued)
		queued.priority = max(queued.priority, priority)
		if readyAt.Before(queued.readyAt) {
			queued.readyAt = readyAt
		}
	}
	if delay <= 0 {
		q.makeReady(queued)
		return
	}
	q.delayed.ReplaceOrInsert(queued)
	q.setTimer()
}

// raisePriority sets a higher priority of a ready item and makes it the last item of that priority.
func (q *Queue[T]) raisePriority(queued *item[T], priority int) {
	if priority <= queued.priority {
		return
	}
	q.options.Metrics.ChangeDepth(queued.priority, -1)
	q.options.Metrics.ChangeDepth(priority, 1)
	name := q.options.ShareFor(queued.key)
	isPushed := q.turns.removeItem(name, queued)
	queued.priority, queued.sequence = priority, q.nextSequence()
	if isPushed {
		q.turns.addItem(name, queued)
	}
}

// makeReady makes a queued item ready and wakes a worker for it. The caller holds the mutex.
func (q *Queue[T]) makeReady(queued *item[T]) {
	queued.isReady, queued.readyAt, queued.sequence = true, time.Now(), q.nextSequence()
	q.ready++
	q.options.Metrics.RecordAdd()
	q.options.Metrics.ChangeDepth(queued.priority, 1)
	if _, ok := q.processing[queued.key]; ok {
		return // Done adds the item to its share.
	}
	q.turns.addItem(q.options.ShareFor(queued.key), queued)
	q.changed.Signal()
}

// setTimer sets the timer to the earliest end of a delay. The caller holds the mutex.
func (q *Queue[T]) setTimer() {
	if q.timer != nil {
		q.timer.Stop()
	}
	if earliest, exists := q.delayed.Min(); exists {
		q.timer = time.AfterFunc(time.Until(earliest.readyAt), q.endDelays)
	}
}

// endDelays makes the items with an ended delay ready.
func (q *Queue[T]) endDelays() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isShutDown() {
		return
	}
	for {
		earliest, exists := q.delayed.Min()
		if !exists || time.Until(earliest.readyAt) > 0 {
			break
		}
		q.delayed.DeleteMin()
		q.makeReady(earliest)
	}
	q.setTimer()
}

// nextSequence returns a number that is higher than all earlier ones.
func (q *Queue[T]) nextSequence() uint64 {
	q.sequence++
	return q.sequence
}

// Get waits for an item and returns it. isShutDown is true if the queue was shut down instead. The caller must call
// Done with the item afterwards.
func (q *Queue[T]) Get() (key T, isShutDown bool) {
	key, _, isShutDown = q.GetWithPriority()
	return key, isShutDown
}

// GetWithPriority waits for an item like Get and also returns the item's priority.
func (q *Queue[T]) GetWithPriority() (key T, priority int, isShutDown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.isClosed {
		now := time.Now()
		if next, owner := q.turns.takeItem(now); next != nil {
			delete(q.items, next.key)
			q.processing[next.key] = owner
			q.ready--
			q.options.Metrics.ChangeDepth(next.priority, -1)
			q.options.Metrics.RecordWait(now.Sub(next.readyAt))
			return next.key, next.priority, false
		}
		q.changed.Wait()
	}
	return key, 0, true
}

// Done records that a worker has finished an item. If the item was added again, it is ready now.
func (q *Queue[T]) Done(key T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	owner, ok := q.processing[key]
	if !ok {
		return
	}
	delete(q.processing, key)
	if queued, exists := q.items[key]; exists && queued.isReady {
		q.turns.addItem(owner.name, queued)
	}
	q.options.Metrics.RecordWork(q.turns.finishItem(owner, key, time.Now()))
	q.changed.Signal()
	q.closeIfDrained()
}

// Forget resets the rate limit of an item.
func (q *Queue[T]) Forget(key T) { q.options.RateLimiter.Forget(key) }

// NumRequeues returns how often an item was added with a rate limit since the last Forget.
func (q *Queue[T]) NumRequeues(key T) int { return q.options.RateLimiter.NumRequeues(key) }

// Len returns the number of ready items.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready
}

// ShutDown stops the workers. It drops waiting items, like controller-runtime's queue.
func (q *Queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close()
}

// ShutDownWithDrain drops delayed and new items. It returns when all ready items are finished.
func (q *Queue[T]) ShutDownWithDrain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isDraining = true
	q.closeIfDrained()
	for !q.isClosed {
		q.stopped.Wait()
	}
}

// ShuttingDown reports whether the queue rejects new items.
func (q *Queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.isShutDown()
}

// isShutDown reports whether the queue rejects new items. The caller holds the mutex.
func (q *Queue[T]) isShutDown() bool { return q.isDraining || q.isClosed }

// closeIfDrained closes the queue if ShutDownWithDrain waits and no item is ready or in progress. The caller holds
// the mutex.
func (q *Queue[T]) closeIfDrained() {
	if q.isDraining && q.ready == 0 && len(q.processing) == 0 {
		q.close()
	}
}

// close stops the workers. The caller holds the mutex.
func (q *Queue[T]) close() {
	if q.timer != nil {
		q.timer.Stop()
	}
	q.isClosed = true
	q.changed.Broadcast()
	q.stopped.Broadcast()
}

// recordUnfinished records the worker time of the items in progress, and repeats that every unfinishedInterval until
// the queue is closed.
func (q *Queue[T]) recordUnfinished() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed {
		return
	}
	q.options.Metrics.SetUnfinished(q.turns.inProgress(time.Now()))
	time.AfterFunc(unfinishedInterval, q.recordUnfinished)
}
