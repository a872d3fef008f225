// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package election makes the lock by which one of several operators leads. Those
// that stand by watch it, and so notice at once that it is free: client-go's own
// lock is only looked at every few seconds. Who may lead is for client-go's elector
// to say.
package election

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a Lease that the elector of client-go takes. It is used by one elector,
// and by one goroutine at a time, as that one does.
type Lock struct {
	*resourcelock.LeaseLock

	watcher coordinationclient.LeasesGetter
	now     func() time.Time
	freed   time.Time // when another operator was last found not to hold it any more
	until   atomic.Pointer[time.Time]
}

// New returns a Lock on a Lease that need not exist yet. Requests but for watches
// end after half of the deadline, so that there is time for another one. Events are
// recorded once LockConfig has a recorder.
func New(config *rest.Config, namespace, name string, renewDeadline time.Duration) (*Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding a name for this operator: %w", err)
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	watcher, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	config.Timeout = max(renewDeadline/2, time.Second)
	client, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	return &Lock{watcher: watcher, now: time.Now, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}}, nil
}

// Get returns the record, and while another operator holds the lease waits until it
// does not: because it gave the lease up, or has not renewed it for as long as it
// said. A lease that is over is returned as nobody's. Where it cannot be watched,
// Get returns at once, and the elector waits as it would have without.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	for {
		record, raw, err := l.LeaseLock.Get(ctx)
		if err != nil || !l.isHeld(record) {
			return record, raw, err
		}
		last, is := l.await(ctx, record)
		if is == unknown {
			return record, raw, nil
		}
		record, raw, err = l.LeaseLock.Get(ctx)
		// The watch may have been behind; only the API server knows.
		if err == nil && is == over && isSame(record, last) {
			record.HolderIdentity = ""
		}
		if err != nil || !l.isHeld(record) {
			l.freed = l.now()
			return record, raw, err
		}
	}
}

// isHeld tells whether another operator holds the lease.
func (l *Lock) isHeld(record *resourcelock.LeaderElectionRecord) bool {
	return record.HolderIdentity != "" && record.HolderIdentity != l.Identity()
}

// Create makes the Lease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel, err := toTheEnd(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	asked := l.now()
	if err := l.LeaseLock.Create(ctx, record); err != nil {
		return err
	}
	l.held(record.HolderIdentity, asked, durationOf(&record))
	return nil
}

// Update writes the record. The elector takes its times from before it asked Get,
// which may be long ago.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel, err := toTheEnd(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	asked := l.now()
	record.RenewTime = metav1.NewTime(asked)
	if record.AcquireTime.Time.Before(l.freed) {
		record.AcquireTime = metav1.NewTime(l.freed)
	}
	if err := l.LeaseLock.Update(ctx, record); err != nil {
		return err
	}
	l.held(record.HolderIdentity, asked, durationOf(&record))
	return nil
}

// toTheEnd is a context that a stop does not end, for a write that has begun: nobody
// would know whether it was made, and so nobody give a Lease up that was just taken.
// What limits it is its deadline, and the client's.
func toTheEnd(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	whole := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithDeadline(whole, deadline)
		return limited, cancel, nil
	}
	return whole, func() {}, nil
}

// end is how waiting for a lease ended.
type end int

const (
	// free: somebody gave the lease up, or deleted it.
	free end = iota
	// over: it was not renewed in time.
	over
	// unknown: it cannot be watched, or the wait was broken off.
	unknown
)

// await follows a held lease until it is not renewed any more. It also returns the
// last record that it saw.
func (l *Lock) await(ctx context.Context, record *resourcelock.LeaderElectionRecord) (*resourcelock.LeaderElectionRecord, end) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.NewTimer(durationOf(record))
	defer limit.Stop()
	only := fields.OneTermEqualSelector("metadata.name", l.LeaseMeta.Name).String()
	events, err := l.watcher.Leases(l.LeaseMeta.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: only})
	if err != nil {
		return record, unknown
	}
	defer events.Stop()
	logr.FromContextOrDiscard(ctx).Info("standing by", "leader", record.HolderIdentity)
	for {
		select {
		case event, open := <-events.ResultChan():
			lease, isLease := event.Object.(*coordinationv1.Lease)
			if !open || !isLease {
				return record, unknown
			}
			renewed := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
			if event.Type == watch.Deleted || !l.isHeld(renewed) {
				return renewed, free
			}
			if !isSame(renewed, record) { // The first event is the state that there is.
				record = renewed
				limit.Reset(durationOf(record))
			}
		case <-limit.C:
			return record, over
		case <-ctx.Done():
			return record, unknown
		}
	}
}

func durationOf(record *resourcelock.LeaderElectionRecord) time.Duration {
	return time.Duration(record.LeaseDurationSeconds) * time.Second
}

// isSame tells whether a lease has been renewed by nobody.
func isSame(a, b *resourcelock.LeaderElectionRecord) bool {
	return a.HolderIdentity == b.HolderIdentity && a.LeaderTransitions == b.LeaderTransitions && a.RenewTime.Equal(&b.RenewTime)
}
