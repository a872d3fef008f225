// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import "sync"

// eventQueue holds events until they are sent. It has a share for each namespace, and the shares take turns.
type eventQueue struct {
	limit int
	// pushed wakes the sender.
	pushed chan struct{}

	mu     sync.Mutex
	size   int
	shares map[string][]func()
	// turns are the shares that have events, in the order of their turns.
	turns []string
}

func newEventQueue(limit int) *eventQueue {
	return &eventQueue{limit: limit, pushed: make(chan struct{}, 1), shares: map[string][]func(){}}
}

// push adds an event to a share. If the queue is full, it drops the last event of the largest share: that is the new one,
// unless the largest share stays the largest without its last event.
func (q *eventQueue) push(share string, send func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size >= q.limit {
		largest := q.largest()
		last := len(q.shares[largest]) - 1
		if last <= len(q.shares[share]) {
			return
		}
		q.shares[largest][last] = nil
		q.shares[largest] = q.shares[largest][:last]
		q.size--
	}
	if len(q.shares[share]) == 0 {
		q.turns = append(q.turns, share)
	}
	q.shares[share] = append(q.shares[share], send)
	q.size++
	select {
	case q.pushed <- struct{}{}:
	default:
	}
}

func (q *eventQueue) largest() (largest string) {
	for share, events := range q.shares {
		if len(events) > len(q.shares[largest]) {
			largest = share
		}
	}
	return largest
}

// pop removes the first event of the share that has its turn. It returns nil if the queue is empty.
func (q *eventQueue) pop() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == 0 {
		return nil
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
