// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package election provides the lock for leader election, and the fence that blocks writes
// of all replicas except the leader. client-go's elector decides which replica leads. The
// lock wraps client-go's LeaseLock: it records until when the lease is secured, finishes
// requests that were sent, waits if a previous holder may still write, and reports a lease
// that is lost for good.
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

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is a Lease for client-go's elector. It is used by one elector, and by one goroutine at a
// time, because the elector has only one. Start runs in another goroutine.
type Lock struct {
	*resourcelock.LeaseLock

	// IsUnused reports whether no operator can have written anything yet: then a missing
	// Lease is taken without waiting. Nil means never.
	IsUnused func(context.Context) (bool, error)

	retryPeriod time.Duration
	now         func() time.Time
	leader      string // the last other leader that was logged
	// isSuspect is true if the Lease was found free but not released by its holder: it was
	// missing, or had lost its holder. The holder may still write.
	isSuspect bool

	mu sync.Mutex
	// leaseEnd is when others may write at the earliest; the zero time if they may now.
	leaseEnd time.Time
	// resourceVersion is the latest resource version of the Lease that was seen.
	resourceVersion string
	// leads is closed once this operator has held the lease.
	leads chan struct{}
	// lost is canceled, with its cause, when the lease is lost for good.
	lost context.Context
	lose context.CancelCauseFunc
}

// Options configures a Lock. All fields are required.
type Options struct {
	// Namespace and Name identify the Lease, which may not exist yet.
	Namespace, Name string
	// RenewDeadline and RetryPeriod are the elector's.
	RenewDeadline, RetryPeriod time.Duration
}

// New returns a Lock. Its requests time out after half of the renew deadline, which leaves
// time for another attempt. Events are recorded once LockConfig has a recorder.
func New(config *rest.Config, options Options) (*Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("getting the host name as this operator's identity: %w", err)
	}
	config = rest.CopyConfig(config)
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent()) + "/leader-election"
	config.Timeout = max(options.RenewDeadline/2, time.Second)
	client, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the lease: %w", err)
	}
	l := &Lock{retryPeriod: options.RetryPeriod, now: time.Now, leads: make(chan struct{})}
	l.lost, l.lose = context.WithCancelCause(context.Background())
	l.LeaseLock = &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: options.Namespace, Name: options.Name},
		Client:     observedLeases{client, l},
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}
	return l, nil
}

// Get reads the record of the Lease. An operator that has led gets an error if the record does not name it as the
// holder, or if the Lease does not exist.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.lossErr(); err != nil {
		return nil, nil, err
	}
	record, raw, err := l.LeaseLock.Get(ctx)
	isMissing := apierrors.IsNotFound(err)
	l.isSuspect = isMissing || err == nil && record.HolderIdentity == "" && record.LeaseDurationSeconds > releasedSeconds
	if l.hasLed() && (isMissing || err == nil && record.HolderIdentity != l.Identity()) {
		l.lose(l.lossCause(record))
	}
	if lost := l.lossErr(); lost != nil {
		return nil, nil, lost
	}
	if err == nil && record.HolderIdentity != "" && record.HolderIdentity != l.Identity() {
		l.logStandby(ctx, record.HolderIdentity)
	}
	return record, raw, err
}

// logStandby logs each new leader once.
func (l *Lock) logStandby(ctx context.Context, leader string) {
	if l.leader != leader {
		l.leader = leader
		logr.FromContextOrDiscard(ctx).Info("standing by", "leader", leader)
	}
}

// Create creates the Lease with a record. See writeLease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.writeLease(ctx, record, l.LeaseLock.Create)
}

// Update writes a record to the Lease. See writeLease.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.writeLease(ctx, record, l.LeaseLock.Update)
}

// writeLease writes the record and updates whether this operator may write. A Lease that was not
// released counts as acquired only after its previous holder had time to notice.
func (l *Lock) writeLease(ctx context.Context, record resourcelock.LeaderElectionRecord, request func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	if err := l.lossErr(); err != nil {
		return err
	}
	requestTime, err := l.completeRequest(ctx, record, request)
	if err != nil {
		return err
	}
	if l.isSuspect && record.HolderIdentity == l.Identity() && !l.hasLed() {
		if requestTime, err = l.waitForOthers(ctx, record, requestTime); err != nil {
			return err
		}
	}
	l.recordHolder(record.HolderIdentity, requestTime, recordedDuration(&record))
	return l.lossErr()
}

// completeRequest sends a request that a shutdown does not cancel, and returns the time when it was sent. After a
// canceled request, its success would be unknown, and a Lease that was just acquired would not be released. Only the
// deadline and the client's timeout limit the request. A rejected request closes the fence, because another client
// has written or deleted the Lease.
func (l *Lock) completeRequest(ctx context.Context, record resourcelock.LeaderElectionRecord, request func(context.Context, resourcelock.LeaderElectionRecord) error) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	requestCtx := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithDeadline(requestCtx, deadline)
		defer cancel()
		requestCtx = limited
	}
	requestTime := l.now()
	err := request(requestCtx, record)
	if isRejection(err) {
		l.clearHolder()
	}
	return requestTime, err
}

// isRejection reports whether the API server has rejected a request, other than for being
// busy.
func isRejection(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// recordedDuration returns the lease duration in a record.
func recordedDuration(record *resourcelock.LeaderElectionRecord) time.Duration {
	return time.Duration(record.LeaseDurationSeconds) * time.Second
}
