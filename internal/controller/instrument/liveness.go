// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package instrument

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// stuckAfter is the maximum time in a reconcile without the start or end of a step. It is longer than any request or
// rendering may take.
const stuckAfter = 3 * time.Minute

// liveness detects whether a reconcile in progress is stuck.
type liveness struct {
	timeout time.Duration

	mu sync.Mutex
	// lastProgress has the time when the last step of each reconcile in progress started or ended.
	lastProgress map[*reconcileRun]time.Time
}

// reconcileRun is a reconcile in progress.
type reconcileRun struct{ name types.NamespacedName }

type passKey struct{}

func newLiveness(timeout time.Duration) *liveness {
	if timeout == 0 {
		timeout = stuckAfter
	}
	return &liveness{timeout: timeout, lastProgress: map[*reconcileRun]time.Time{}}
}

func (p *liveness) startReconcile(ctx context.Context, name types.NamespacedName, now time.Time) context.Context {
	started := &reconcileRun{name: name}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastProgress[started] = now
	return context.WithValue(ctx, passKey{}, started)
}

func (p *liveness) endReconcile(current *reconcileRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lastProgress, current)
}

// check returns an error while a reconcile is stuck.
func (p *liveness) check(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for current, progress := range p.lastProgress {
		if idle := now.Sub(progress); idle > p.timeout {
			return fmt.Errorf("the reconcile of VectorSidecar %s has been stuck for %s", current.name, idle.Round(time.Second))
		}
	}
	return nil
}

// currentRun returns the reconcile of a context, or nil if the context is not of a reconcile.
func currentRun(ctx context.Context) *reconcileRun {
	current, _ := ctx.Value(passKey{}).(*reconcileRun)
	return current
}

// recordProgress records that a step of a reconcile started or ended. It ignores a reconcile that is not in progress.
func (p *liveness) recordProgress(current *reconcileRun, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.lastProgress[current]; ok {
		p.lastProgress[current] = now
	}
}
