// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"context"
	"slices"
	"sync"
)

// turns is a lock that namespaces acquire in turns: after its turn, a namespace waits behind all others.
type turns struct {
	mu     sync.Mutex
	isHeld bool
	// order has the waiting namespaces, the next one first.
	order []string
	// waiting has the waiting requests by namespace, in their order.
	waiting map[string][]chan struct{}
}

func newTurns() *turns {
	return &turns{waiting: map[string][]chan struct{}{}}
}

// acquire returns when it is the namespace's turn, or with the error of a context that ended before.
func (t *turns) acquire(ctx context.Context, namespace string) error {
	t.mu.Lock()
	if !t.isHeld {
		t.isHeld = true
		t.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	if len(t.waiting[namespace]) == 0 {
		t.order = append(t.order, namespace)
	}
	t.waiting[namespace] = append(t.waiting[namespace], ready)
	t.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting[namespace], ready)
	if i < 0 { // It got the turn at the same time.
		t.grantNext()
		return ctx.Err()
	}
	t.waiting[namespace] = slices.Delete(t.waiting[namespace], i, i+1)
	if len(t.waiting[namespace]) == 0 {
		delete(t.waiting, namespace)
		t.order = slices.DeleteFunc(t.order, func(name string) bool { return name == namespace })
	}
	return ctx.Err()
}

// release ends the turn.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grantNext()
}

// grantNext hands the lock to the next namespace. The caller holds mu.
func (t *turns) grantNext() {
	if len(t.order) == 0 {
		t.isHeld = false
		return
	}
	namespace := t.order[0]
	t.order = t.order[1:]
	queue := t.waiting[namespace]
	close(queue[0])
	if t.waiting[namespace] = queue[1:]; len(queue) > 1 {
		t.order = append(t.order, namespace)
	} else {
		delete(t.waiting, namespace)
	}
}
