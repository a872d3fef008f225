// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package election makes the lock by which one of several operators leads, and the
// fence that keeps all others from writing. Those that stand by watch the Lease, and so
// notice at once that it is free; the one that leads watches it, and so notices at once
// that it is not its own any more. Who may lead is for client-go's elector to say.
package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a Lease that the elector of client-go takes. It is used by one elector,
// and by one goroutine at a time, as that one does. Start runs beside it.
type Lock struct {
	*resourcelock.LeaseLock

	// IsUnused reports whether no operator can have written anything yet: then nobody
	// is waited for where there is no Lease. Nil for never.
	IsUnused func(context.Context) (bool, error)

	watcher     coordinationclient.LeasesGetter
	retryPeriod time.Duration
	watchedFor  time.Duration
	now         func() time.Time
	freed       time.Time // when another operator was last found not to hold it any more
	leader      string    // the last other one that was told of
	// isSuspect tells that nobody has given up the Lease that was found free: it was
	// not there, or had lost its holder. Somebody may still write on the strength of it.
	isSuspect bool

	mu sync.Mutex
	// until is when others may write at the earliest; zero for now.
	until time.Time
	// seen is the last resource version of the Lease that this operator has seen.
	seen string
	// leads is closed when this operator has had the lease.
	leads chan struct{}
	// lost ends, with its cause, when the lease is lost for good.
	lost context.Context
	lose context.CancelCauseFunc
}

// Options are those of a Lock. All are required.
type Options struct {
	// Namespace and Name are those of the Lease, which need not exist yet.
	Namespace, Name string
	// RenewDeadline and RetryPeriod are the elector's.
	RenewDeadline, RetryPeriod time.Duration
}

// New returns a Lock. Its requests but for watches end after half of the deadline, so
// that there is time for another one. Events are recorded once LockConfig has a recorder.
func New(config *rest.Config, options Options) (*Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding a name for this operator: %w", err)
	}
	config = rest.CopyConfig(config)
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent()) + "/leader-election"
	watcher, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	config.Timeout = max(options.RenewDeadline/2, time.Second)
	client, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	l := &Lock{watcher: watcher, retryPeriod: options.RetryPeriod, watchedFor: watchedFor, now: time.Now, leads: make(chan struct{})}
	l.lost, l.lose = context.WithCancelCause(context.Background())
	l.LeaseLock = &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: options.Namespace, Name: options.Name},
		Client:     observedLeases{client, l},
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}
	return l, nil
}

// Get returns the record, and while another operator holds the lease waits until it
// does not: because it gave the lease up, or has not renewed it for as long as it
// said. A lease that is over is returned as nobody's. Where it cannot be watched,
// Get returns at once, and the elector waits as it would have without. An operator that
// has led gets no record but its own.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	for {
		record, raw, err := l.look(ctx)
		if err != nil || !l.isHeld(record) {
			return record, raw, err
		}
		last, is := l.await(ctx, record)
		switch is {
		case unknown:
			return record, raw, nil
		case silent:
			continue
		}
		record, raw, err = l.look(ctx)
		// The watch may have been behind; only the API server knows.
		if err == nil && is == over && isSame(record, last) {
			record.HolderIdentity, l.isSuspect = "", false
		}
		if err != nil || !l.isHeld(record) {
			l.freed = l.now()
			return record, raw, err
		}
	}
}

// look asks for the record, and finds out what it means for this operator.
func (l *Lock) look(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.isLost(); err != nil {
		return nil, nil, err
	}
	record, raw, err := l.LeaseLock.Get(ctx)
	isMissing := apierrors.IsNotFound(err)
	l.isSuspect = isMissing || err == nil && record.HolderIdentity == "" && record.LeaseDurationSeconds > givenUpSeconds
	if l.hasLed() && (isMissing || err == nil && record.HolderIdentity != l.Identity()) {
		l.lose(l.takenFrom(record))
	}
	if lost := l.isLost(); lost != nil {
		return nil, nil, lost
	}
	return record, raw, err
}

// isHeld tells whether another operator holds the lease.
func (l *Lock) isHeld(record *resourcelock.LeaderElectionRecord) bool {
	return record.HolderIdentity != "" && record.HolderIdentity != l.Identity()
}

// Create makes the Lease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.LeaseLock.Create)
}

// Update writes the record. The elector takes its times from before it asked Get,
// which may be long ago.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	record.RenewTime = metav1.NewTime(l.now())
	if record.AcquireTime.Time.Before(l.freed) {
		record.AcquireTime = metav1.NewTime(l.freed)
	}
	return l.write(ctx, record, l.LeaseLock.Update)
}

// write writes the record and notes what that says of who may write. A Lease that nobody
// has given up is the operator's own only after others can have noticed.
func (l *Lock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, request func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	if err := l.isLost(); err != nil {
		return err
	}
	asked, err := l.toTheEnd(ctx, record, request)
	if err != nil {
		return err
	}
	if l.isSuspect && record.HolderIdentity == l.Identity() && !l.hasLed() {
		if asked, err = l.waitForOthers(ctx, record, asked); err != nil {
			return err
		}
	}
	l.held(record.HolderIdentity, asked, durationOf(&record))
	return l.isLost()
}

// toTheEnd makes a request that a stop does not end once it has begun: nobody would know
// whether it was made, and so nobody give a Lease up that was just taken. What limits it
// is the deadline, and the client's. It returns when it was made. One that is refused
// lowers the fence: somebody else has written the Lease, or deleted it.
func (l *Lock) toTheEnd(ctx context.Context, record resourcelock.LeaderElectionRecord, request func(context.Context, resourcelock.LeaderElectionRecord) error) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	whole := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithDeadline(whole, deadline)
		defer cancel()
		whole = limited
	}
	asked := l.now()
	err := request(whole, record)
	if isRefusal(err) {
		l.lower()
	}
	return asked, err
}

// isRefusal reports whether the API server has said no, and not that it is busy.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

func durationOf(record *resourcelock.LeaderElectionRecord) time.Duration {
	return time.Duration(record.LeaseDurationSeconds) * time.Second
}

// isSame tells whether a lease has been renewed by nobody.
func isSame(a, b *resourcelock.LeaderElectionRecord) bool {
	return a.HolderIdentity == b.HolderIdentity && a.LeaderTransitions == b.LeaderTransitions && a.RenewTime.Equal(&b.RenewTime)
}
