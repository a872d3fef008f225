// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// watchTimeout is about how long the Lease is watched over one connection: a broken watch
// can stay silent forever.
const watchTimeout = 3 * time.Minute

// watch opens a watch of the Lease, from a resource version on, or with "" from its current
// state. enough fires when the watch should be renewed.
func (l *Lock) watch(ctx context.Context, from string) (events watch.Interface, enough <-chan time.Time, err error) {
	only := fields.OneTermEqualSelector("metadata.name", l.LeaseMeta.Name).String()
	events, err = l.watcher.Leases(l.LeaseMeta.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: only, ResourceVersion: from})
	return events, time.After(wait.Jitter(l.watchTimeout, 0.2)), err
}

// end is how waiting for a lease ended.
type end int

const (
	// free: the lease was released or deleted.
	free end = iota
	// over: it was not renewed in time.
	over
	// silent: the watch has been open long enough, and the Lease must be read again.
	silent
	// unknown: it cannot be watched, or the wait was canceled.
	unknown
)

// await watches a held lease until it is no longer renewed. It also returns the last record
// that it saw.
func (l *Lock) await(ctx context.Context, record *resourcelock.LeaderElectionRecord) (*resourcelock.LeaderElectionRecord, end) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.NewTimer(durationOf(record))
	defer limit.Stop()
	events, enough, err := l.watch(ctx, "")
	if err != nil {
		return record, unknown
	}
	defer events.Stop()
	l.standBy(ctx, record.HolderIdentity)
	for {
		select {
		case event, open := <-events.ResultChan():
			lease, isLease := event.Object.(*coordinationv1.Lease)
			if !open || !isLease {
				return record, unknown
			}
			_ = l.isOlder(lease) // A watch may lag behind.
			renewed := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
			if event.Type == watch.Deleted || !l.isHeld(renewed) {
				return renewed, free
			}
			if !isSame(renewed, record) { // The first event is the current state.
				record = renewed
				limit.Reset(durationOf(record))
			}
		case <-limit.C:
			return record, over
		case <-enough:
			return record, silent
		case <-ctx.Done():
			return record, unknown
		}
	}
}

// standBy logs each new leader once.
func (l *Lock) standBy(ctx context.Context, leader string) {
	if l.leader != leader {
		l.leader = leader
		logr.FromContextOrDiscard(ctx).Info("standing by", "leader", leader)
	}
}
