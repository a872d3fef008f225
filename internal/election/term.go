// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// releasedSeconds is the lease duration that client-go's elector writes when it releases a Lease. A Lease without a
// holder and with a longer duration was not released by its holder.
const releasedSeconds = 1

// isLeading reports whether the lease is secured: no other replica can hold it yet.
func (l *Lock) isLeading() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost.Err() == nil && l.now().Before(l.leaseEnd)
}

// recordHolder records the end of the lease after a write at requestTime. For another holder, the fence closes at
// once. Other replicas count the duration from the time when they see the write, which is later.
func (l *Lock) recordHolder(holder string, requestTime time.Time, duration time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaseEnd = time.Time{}
	if holder != l.Identity() {
		return
	}
	l.leaseEnd = requestTime.Add(duration)
	select {
	case <-l.leads:
	default:
		close(l.leads)
	}
}

// clearHolder closes the fence until the lease is renewed.
func (l *Lock) clearHolder() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaseEnd = time.Time{}
}

// hasLed reports whether this operator has ever held the lease.
func (l *Lock) hasLed() bool {
	select {
	case <-l.leads:
		return true
	default:
		return false
	}
}

// lossErr returns why the lease is lost for good, or nil if it is not. The error wraps context.Canceled, because the
// process then stops.
func (l *Lock) lossErr() error {
	if err := l.lost.Err(); err != nil {
		return fmt.Errorf("%w: %w", err, context.Cause(l.lost))
	}
	return nil
}

// lossCause returns an error that says how an operator that has led lost its lease; the
// record is nil if there is no Lease.
func (l *Lock) lossCause(record *resourcelock.LeaderElectionRecord) error {
	cause := fmt.Sprintf("another client deleted Lease %s", l.Describe())
	switch {
	case record != nil && record.HolderIdentity == "":
		cause = fmt.Sprintf("another client removed the holder of Lease %s", l.Describe())
	case record != nil:
		cause = fmt.Sprintf("replica %s now owns Lease %s", record.HolderIdentity, l.Describe())
	}
	return fmt.Errorf("lost the leadership: %s; the operator stops writing and restarts", cause)
}

// waitForOthers waits until a previous holder of a Lease that was not released must have noticed
// its loss, or its lease has expired. Until then it renews the Lease that it has just acquired. It
// returns the time of the last renewal.
func (l *Lock) waitForOthers(ctx context.Context, record resourcelock.LeaderElectionRecord, requestTime time.Time) (time.Time, error) {
	log := logr.FromContextOrDiscard(ctx)
	if l.IsUnused != nil {
		isUnused, err := l.IsUnused(ctx)
		if isUnused && err == nil {
			return requestTime, nil
		}
		if err != nil {
			log.Info("cannot check for earlier writes", "cause", err.Error())
		}
	}
	duration := recordedDuration(&record)
	log.Info("waiting before the first write: the lease was not released, so its previous holder may still write", "for", duration.String())
	for end := requestTime.Add(duration); ; {
		remaining := end.Sub(l.now())
		if remaining <= 0 {
			return requestTime, nil
		}
		select {
		case <-ctx.Done():
			return requestTime, l.releaseUnused(ctx, record)
		case <-time.After(min(remaining, l.retryPeriod)):
		}
		record.RenewTime = metav1.NewTime(l.now())
		renewed, err := l.completeRequest(ctx, record, l.LeaseLock.Update)
		switch {
		case err == nil:
			requestTime = renewed
		case isRejection(err) || l.now().After(requestTime.Add(duration)):
			return requestTime, fmt.Errorf("renewing the lease during the wait before the first write: %w", err)
		}
	}
}

// releaseUnused releases a lease under which this operator has not yet led. The lease duration in
// the record makes the next holder wait instead.
func (l *Lock) releaseUnused(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	record.HolderIdentity = ""
	record.LeaseDurationSeconds = max(record.LeaseDurationSeconds, releasedSeconds+1)
	if err := l.LeaseLock.Update(context.WithoutCancel(ctx), record); err != nil {
		return fmt.Errorf("releasing the lease: %w", err)
	}
	return ctx.Err()
}

// Start returns nil when the context is canceled, and an error when the lease is lost for
// good: then the process has to exit, because another leader may write what this operator
// has read and planned.
func (l *Lock) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-l.lost.Done():
		return context.Cause(l.lost) //nolint:contextcheck // It is the lock's own context.
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: Start also runs on standby.
func (*Lock) NeedLeaderElection() bool { return false }
