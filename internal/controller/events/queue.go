// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"sync"
	"time"
)

// eventQueue holds events until they are sent. It has a share for each namespace, and the shares take turns.
type eventQueue struct {
	// limit is the maximum number of queued events.
	limit int

	mu sync.Mutex
	// pushed wakes the goroutine that sends events.
	pushed *sync.Cond
	// written is the time of the last write of a workload.
	written time.Time
	size    int
	shares  map[string][]func(context.Context)
	// turns are the shares that have events, in the order of their turns.
	turns []string
}

// newEventQueue returns an empty queue for at most limit events.
func newEventQueue(limit int) *eventQueue {
	q := &eventQueue{limit: limit, shares: map[string][]func(context.Context){}}
	q.pushed = sync.NewCond(&q.mu)
	return q
}

// setWritten records the time of a write of a workload.
func (q *eventQueue) setWritten(timestamp time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.written = timestamp
}

// lastWritten returns the time of the last write of a workload, or zero.
func (q *eventQueue) lastWritten() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.written
}

// addEvent adds an event to the share with a name, and reports whether the queue was full. A full queue drops the
// last event of the largest share, which may be the new event.
func (q *eventQueue) addEvent(share string, send func(context.Context)) (isFull bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	isFull = q.size >= q.limit
	if isFull {
		largest := q.largestShare()
		lastIndex := len(q.shares[largest]) - 1
		if lastIndex <= len(q.shares[share]) {
			return isFull
		}
		q.shares[largest][lastIndex] = nil
		q.shares[largest] = q.shares[largest][:lastIndex]
		q.size--
	}
	if len(q.shares[share]) == 0 {
		q.turns = append(q.turns, share)
	}
	q.shares[share] = append(q.shares[share], send)
	q.size++
	q.pushed.Signal()
	return isFull
}

// largestShare returns the name of the share with the most events.
func (q *eventQueue) largestShare() (largest string) {
	for share, events := range q.shares {
		if len(events) > len(q.shares[largest]) {
			largest = share
		}
	}
	return largest
}

// takeEvent waits for an event, removes it and returns it. The shares take turns, and the event is the first one of
// its share. When the context has ended, takeEvent does not wait, and returns nil if the queue is empty.
func (q *eventQueue) takeEvent(ctx context.Context) func(context.Context) {
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.pushed.Broadcast()
	})()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size == 0 {
		if ctx.Err() != nil {
			return nil
		}
		q.pushed.Wait()
	}
	share := q.turns[0]
	q.turns = q.turns[1:]
	events := q.shares[share]
	send := events[0]
	events[0] = nil
	q.size--
	if len(events) == 1 {
		delete(q.shares, share)
		return send
	}
	q.shares[share] = events[1:]
	q.turns = append(q.turns, share)
	return send
}
