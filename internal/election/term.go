// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// givenUpSeconds is the duration in a Lease that its holder gave up, as client-go's
// elector writes it. With more, somebody else has taken the holder out.
const givenUpSeconds = 1

// holds tells whether nobody else can have the lease yet.
func (l *Lock) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost.Err() == nil && l.now().Before(l.until)
}

// held notes until when a record that was written secures the lease, if it was
// asked for at a time. Others count from when they see it, which is later.
func (l *Lock) held(holder string, asked time.Time, duration time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
	if holder != l.Identity() {
		return
	}
	l.until = asked.Add(duration)
	select {
	case <-l.leads:
	default:
		close(l.leads)
	}
}

// lower has nothing written until the lease is renewed.
func (l *Lock) lower() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
}

func (l *Lock) hasLed() bool {
	select {
	case <-l.leads:
		return true
	default:
		return false
	}
}

// isLost is nil, or why the lease is lost for good. To whoever asks it is as if the
// process were stopped, which it is to be.
func (l *Lock) isLost() error {
	if err := l.lost.Err(); err != nil {
		return fmt.Errorf("%w: %w", err, context.Cause(l.lost))
	}
	return nil
}

// takenFrom says what has become of the lease of an operator that has led; the record is
// nil if there is no Lease.
func (l *Lock) takenFrom(record *resourcelock.LeaderElectionRecord) error {
	what := "was deleted by somebody else"
	switch {
	case record != nil && record.HolderIdentity == "":
		what = "was taken from it by somebody else"
	case record != nil:
		what = fmt.Sprintf("is held by %s now", record.HolderIdentity)
	}
	return fmt.Errorf("this operator led, and Lease %s %s: it writes nothing more and has to start anew", l.Describe(), what)
}

// waitForOthers has whoever may still write on the strength of a Lease that there is no
// more find out, or run out of its time. Meanwhile it renews the one that it has made. It
// returns when it did so last.
func (l *Lock) waitForOthers(ctx context.Context, record resourcelock.LeaderElectionRecord, asked time.Time) (time.Time, error) {
	log := logr.FromContextOrDiscard(ctx)
	if l.IsUnused != nil {
		isUnused, err := l.IsUnused(ctx)
		if isUnused && err == nil {
			return asked, nil
		}
		if err != nil {
			log.Info("nobody knows whether an operator has written before", "cause", err.Error())
		}
	}
	duration := durationOf(&record)
	log.Info("waiting before the first write, since somebody may still hold the lease that nobody has given up", "for", duration.String())
	for end := asked.Add(duration); ; {
		left := end.Sub(l.now())
		if left <= 0 {
			return asked, nil
		}
		select {
		case <-ctx.Done():
			return asked, l.leaveToOthers(ctx, record)
		case <-time.After(min(left, l.retryPeriod)):
		}
		record.RenewTime = metav1.NewTime(l.now())
		renewed, err := l.toTheEnd(ctx, record, l.LeaseLock.Update)
		switch {
		case err == nil:
			asked = renewed
		case isRefusal(err) || l.now().After(asked.Add(duration)):
			return asked, fmt.Errorf("renewing the lease while waiting for others: %w", err)
		}
	}
}

// leaveToOthers gives up a lease that this operator has never led by. Who takes it has to
// wait in its place, and knows by the duration.
func (l *Lock) leaveToOthers(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	record.HolderIdentity = ""
	record.LeaseDurationSeconds = max(record.LeaseDurationSeconds, givenUpSeconds+1)
	if err := l.LeaseLock.Update(context.WithoutCancel(ctx), record); err != nil {
		return fmt.Errorf("giving up the lease: %w", err)
	}
	return ctx.Err()
}

// Start follows the Lease while this operator leads. It returns nil when the context
// ends, and an error when the lease is lost for good: then the process has to end,
// because what it has read and planned may be somebody else's to write by now.
func (l *Lock) Start(ctx context.Context) error {
	select {
	case <-l.leads:
	case <-l.lost.Done():
	case <-ctx.Done():
	}
	for ctx.Err() == nil && l.lost.Err() == nil {
		pause := l.guard(ctx)
		select {
		case <-ctx.Done():
		case <-l.lost.Done():
		case <-time.After(pause):
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // To be told to stop is no error.
	}
	return context.Cause(l.lost) //nolint:contextcheck // It is the lock's, and ends when that is lost.
}

// NeedLeaderElection says that Start runs in those that stand by, too.
func (*Lock) NeedLeaderElection() bool { return false }

// guard watches the Lease for a while, beginning with what was written to it last, and
// notes its loss. It returns when to watch it again: the renewals tell, too, if later.
func (l *Lock) guard(ctx context.Context) time.Duration {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, enough, err := l.watch(ctx, l.version())
	if isRefusal(err) {
		return l.watchedFor
	} else if err != nil {
		return l.retryPeriod
	}
	defer events.Stop()
	for isOurs := true; isOurs; {
		select {
		case event, isOpen := <-events.ResultChan():
			isOurs = isOpen && l.isOurs(event)
		case <-enough:
			isOurs = false
		case <-l.lost.Done():
			isOurs = false
		case <-ctx.Done():
			isOurs = false
		}
	}
	return l.retryPeriod
}

// isOurs reports whether a watch has told that this operator holds the lease, and notes if
// it does not any more.
func (l *Lock) isOurs(event watch.Event) bool {
	lease, isLease := event.Object.(*coordinationv1.Lease)
	if !isLease {
		return false // The watch has ended.
	}
	if event.Type == watch.Deleted {
		l.lose(l.takenFrom(nil))
		return false
	}
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	if record.HolderIdentity != l.Identity() {
		l.lose(l.takenFrom(record))
	}
	return record.HolderIdentity == l.Identity()
}
