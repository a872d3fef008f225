// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// stuckAfter is the maximum time in a reconcile without the start or end of a step. It is longer than any request or
// rendering may take.
const stuckAfter = 3 * time.Minute

// liveness detects whether a reconcile in progress is stuck.
type liveness struct {
	patience time.Duration

	mu     sync.Mutex
	passes map[*reconcileRun]bool
}

// reconcileRun is a reconcile in progress.
type reconcileRun struct {
	name types.NamespacedName
	last atomic.Int64 // time when the last step started or ended, in nanoseconds
}

type passKey struct{}

func newLiveness(patience time.Duration) *liveness {
	if patience == 0 {
		patience = stuckAfter
	}
	return &liveness{patience: patience, passes: map[*reconcileRun]bool{}}
}

func (p *liveness) startReconcile(ctx context.Context, name types.NamespacedName, now time.Time) context.Context {
	started := &reconcileRun{name: name}
	started.recordProgress(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passes[started] = true
	return context.WithValue(ctx, passKey{}, started)
}

func (p *liveness) endReconcile(current *reconcileRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.passes, current)
}

// check returns an error while a reconcile is stuck.
func (p *liveness) check(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for current := range p.passes {
		if idle := now.Sub(time.Unix(0, current.last.Load())); idle > p.patience {
			return fmt.Errorf("the reconcile of VectorSidecar %s has been stuck for %s", current.name, idle.Round(time.Second))
		}
	}
	return nil
}

// currentRun returns the reconcile of a context. A step outside a reconcile gets an unnamed one, which is not checked.
func currentRun(ctx context.Context) *reconcileRun {
	if current, ok := ctx.Value(passKey{}).(*reconcileRun); ok {
		return current
	}
	return &reconcileRun{}
}

func (p *reconcileRun) recordProgress(now time.Time) { p.last.Store(now.UnixNano()) }
