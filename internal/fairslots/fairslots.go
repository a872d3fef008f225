// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package fairslots shares a number of slots among namespaces. Requests go in, each with its namespace; they get a slot in
// turns, so that a namespace with many requests delays another namespace by one request.
package fairslots

import (
	"context"
	"slices"
	"sync"
)

// Slots is a semaphore that namespaces acquire in turns: after its turn, a namespace waits behind all others. It is
// safe for concurrent use.
type Slots struct {
	mu   sync.Mutex
	free int
	// limit is the maximum number of slots of one namespace. used are the slots of each namespace.
	limit int
	used  map[string]int
	// order has the waiting namespaces, the next one first.
	order []string
	// waiting has the waiting requests by namespace, in their order.
	waiting map[string][]chan struct{}
}

// New returns count free slots. A namespace gets at most limit of them, even if no other namespace waits.
func New(count, limit int) *Slots {
	return &Slots{free: count, limit: limit, used: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// Acquire waits until the namespace gets a slot. It returns the error of the context if that ends before.
func (s *Slots) Acquire(ctx context.Context, namespace string) error {
	s.mu.Lock()
	if s.free > 0 && s.used[namespace] < s.limit {
		s.grantSlot(namespace)
		s.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	if len(s.waiting[namespace]) == 0 {
		s.order = append(s.order, namespace)
	}
	s.waiting[namespace] = append(s.waiting[namespace], ready)
	s.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting[namespace], ready)
	if i < 0 { // It got the slot at the same time.
		s.releaseSlot(namespace)
		return ctx.Err()
	}
	s.waiting[namespace] = slices.Delete(s.waiting[namespace], i, i+1)
	if len(s.waiting[namespace]) == 0 {
		delete(s.waiting, namespace)
		s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == namespace })
	}
	return ctx.Err()
}

// Release returns a slot that the namespace has acquired.
func (s *Slots) Release(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseSlot(namespace)
}

// grantSlot gives a free slot to a namespace. The caller holds mu.
func (s *Slots) grantSlot(namespace string) {
	s.free--
	s.used[namespace]++
}

// releaseSlot returns the slot of a namespace and gives it to the next namespace below its limit. The caller holds mu.
func (s *Slots) releaseSlot(namespace string) {
	s.free++
	if s.used[namespace]--; s.used[namespace] == 0 {
		delete(s.used, namespace)
	}
	i := slices.IndexFunc(s.order, func(name string) bool { return s.used[name] < s.limit })
	if i < 0 {
		return
	}
	waiter := s.order[i]
	s.order = slices.Delete(s.order, i, i+1)
	requests := s.waiting[waiter]
	s.grantSlot(waiter)
	close(requests[0])
	if s.waiting[waiter] = requests[1:]; len(requests) > 1 {
		s.order = append(s.order, waiter)
	} else {
		delete(s.waiting, waiter)
	}
}
