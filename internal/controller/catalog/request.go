// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// UnstoredError is the error of a request to store, record, mark or read revisions that failed, with the time of the
// next attempt.
type UnstoredError struct {
	// revision is "" if the error concerns all revisions.
	revision string
	err      error
	// Until is the time of the next attempt.
	Until time.Time
}

// Error returns the cause, with the revision if the error concerns only one.
func (e *UnstoredError) Error() string {
	if e.revision == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("revision %s cannot be stored: %v", e.revision, e.err)
}
func (e *UnstoredError) Unwrap() error { return e.err }

// revisionRequest is a request about stored revisions that is retried with a backoff, instead of in each reconcile.
type revisionRequest struct {
	// name is the purpose of the request, such as "storing the target revision".
	name    string
	options *Options
	// failed is the error of the last request, or nil if it succeeded.
	failed *UnstoredError
}

// attemptRequest makes a request about a revision, or about all revisions if it is "". After a failure, it returns the error
// of that request until the backoff has passed. The error is an *UnstoredError, except if a retry cannot help or
// another replica leads.
func (r *revisionRequest) attemptRequest(ctx context.Context, revision string, request func() error) error {
	if r.failed != nil && r.failed.revision == revision && r.options.Clock().Before(r.failed.Until) {
		return r.failed
	}
	if r.failed != nil && r.failed.revision != revision {
		r.markSucceeded()
	}
	err := request()
	if err == nil {
		r.markSucceeded()
		return nil
	}
	if ctx.Err() != nil || isGone(err) || errors.Is(err, election.ErrNotLeading) {
		return err
	}
	wait := r.options.Backoff.Next(state.RetryRevision, r.name)
	r.failed = &UnstoredError{revision: revision, err: err, Until: r.options.Clock().Add(wait)}
	log.FromContext(ctx).Error(r.failed, "requesting stored revisions", "request", r.name)
	return r.failed
}

// markSucceeded resets the backoff of the request.
func (r *revisionRequest) markSucceeded() {
	r.failed = nil
	r.options.Backoff.Reset(state.RetryRevision, r.name)
}

// isGone reports whether an error means that a revision cannot be read back, and that a retry does not help.
func isGone(err error) bool {
	recordError := &fleet.RecordError{}
	return errors.As(err, &recordError)
}
