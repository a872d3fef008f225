// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// revisionLedger caches the stored revisions, with their order and their marks for failed revisions. It reads them
// once, and again after this process has stored or deleted a revision.
type revisionLedger struct {
	options *Options

	mu     sync.Mutex
	stored []fleet.StoredRevision
	isRead bool
	// reading and marking retry requests that failed.
	reading, marking revisionRequest
}

// read returns the stored revisions, newest first. The error is an *UnstoredError.
func (l *revisionLedger) read(ctx context.Context) ([]fleet.StoredRevision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.load(ctx)
}

// forget drops the cache: the next call reads the revisions again.
func (l *revisionLedger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isRead = false
}

// markFailures marks the failed revisions that are stored and have no mark yet. The error is an *UnstoredError.
func (l *revisionLedger) markFailures(ctx context.Context, failures map[string]fleet.FailureReason) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	stored, err := l.load(ctx)
	if err != nil {
		return err
	}
	for i := range stored {
		reason, ok := failures[stored[i].Revision]
		if !ok || stored[i].Failure != nil {
			continue
		}
		failure := &fleet.RevisionFailure{Reason: reason, Since: l.options.Clock().UTC().Truncate(time.Second)}
		if err := l.writeFailure(ctx, stored[i].Revision, failure); err != nil {
			return err
		}
	}
	return nil
}

// clearFailure removes the mark of a revision, if it has one. The error is an *UnstoredError.
func (l *revisionLedger) clearFailure(ctx context.Context, revision string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeFailure(ctx, revision, nil)
}

// load returns the stored revisions. It reads them only if they are not cached. The caller holds the mutex.
func (l *revisionLedger) load(ctx context.Context) ([]fleet.StoredRevision, error) {
	if l.isRead {
		return l.stored, nil
	}
	err := l.reading.attemptRequest(ctx, "", func() error {
		records, err := source.Revisions(ctx, l.options.Live, l.options.Installation)
		if err == nil {
			l.stored, l.isRead = fleet.StoredRevisions(records), true
		}
		return err
	})
	return l.stored, err
}

// writeFailure sets or removes the mark of a revision, in the cluster and then in the cache. A nil failure removes
// it. The caller holds the mutex.
func (l *revisionLedger) writeFailure(ctx context.Context, revision string, failure *fleet.RevisionFailure) error {
	err := l.marking.attemptRequest(ctx, "", func() error { return l.options.Writer.MarkRevision(ctx, l.options.Installation, revision, failure) })
	if err != nil {
		return err
	}
	log.FromContext(ctx).Info("marked revision", "revision", revision, "failed", failure != nil)
	l.stored = slices.Clone(l.stored) // Callers of read may still use the previous one.
	for i := range l.stored {
		if l.stored[i].Revision == revision {
			l.stored[i].Failure = failure
		}
	}
	return nil
}

// updateMarks marks the failed revisions. If the target revision has succeeded after a retry, it removes the mark of that
// revision. It does nothing until the waves are checked for the target. The error is an *UnstoredError.
func (l *revisionLedger) updateMarks(ctx context.Context, target *fleet.Target) error {
	waves := l.options.Waves.Current()
	if !waves.IsFor(target) {
		return nil
	}
	if err := l.markFailures(ctx, waves.Failures()); err != nil {
		return err
	}
	stored, err := l.read(ctx)
	isMarked := slices.ContainsFunc(stored, func(revision fleet.StoredRevision) bool {
		return revision.Revision == target.Revision && revision.Failure != nil
	})
	if err == nil && isMarked && waves.HasRecovered(l.options.Clock()) {
		err = l.clearFailure(ctx, target.Revision)
	}
	return err
}
