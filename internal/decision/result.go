// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Result is the result of one write of a reconcile.
type Result struct {
	// Object is the object of the write, such as "Deployment shop/cart".
	Object string
	// Plan is the plan of a workload, nil for another object.
	Plan  *plan.Plan
	State WriteState
	// Err is the error of the write, nil for none. Reason is the reason of package meta for the error in the status. It
	// is "" if the status does not report the error.
	Err    error
	Reason string
	// IsPermanent is true if the API server would reject the same write again. IsGeneral is true if it would reject
	// other writes, too.
	IsPermanent, IsGeneral bool
	// RequeueAfter is the wait before the next attempt, 0 if an event or the backoff of the reconcile starts it.
	RequeueAfter time.Duration
}

// WriteState is the outcome of a write.
type WriteState int

const (
	// WriteNotSent means that the write was not sent, because the reconcile ended or writes were stopped before.
	WriteNotSent WriteState = iota
	// WriteAccepted means that the API server accepted the write.
	WriteAccepted
	// WritePending means that an earlier reconcile made the write, and that the cache does not show it yet.
	WritePending
	// WriteStale means that the workload had changed after the plan was made.
	WriteStale
	// WriteRejected means that the API server rejected the write.
	WriteRejected
	// WriteWithheld means that the write was not sent, because the API server rejected the same write before.
	WriteWithheld
	// WriteFailed means that the write failed for another reason, such as a timeout.
	WriteFailed
)

// Results are the results of all writes of a reconcile, in the order of the plans.
type Results []Result

// Written returns the plans with a write that the API server accepted.
func (r Results) Written() []*plan.Plan {
	var written []*plan.Plan
	for i := range r {
		if r[i].Plan != nil && r[i].State == WriteAccepted {
			written = append(written, r[i].Plan)
		}
	}
	return written
}

// Failures returns the results with an error that the status reports, sorted by object.
func (r Results) Failures() Results {
	var failures Results
	for i := range r {
		if r[i].Reason != "" {
			failures = append(failures, r[i])
		}
	}
	slices.SortStableFunc(failures, func(a, b Result) int { return strings.Compare(a.Object, b.Object) })
	return failures
}

// Retryable returns the errors that may disappear without a change of an object, nil if there are none.
func (r Results) Retryable() error {
	var errs []error
	for _, failure := range r.Failures() {
		if !failure.IsPermanent {
			errs = append(errs, failure.Err)
		}
	}
	return errors.Join(errs...)
}

// HasStale reports whether a workload was not written because it had changed after its plan was made.
func (r Results) HasStale() bool {
	return slices.ContainsFunc(r, func(result Result) bool { return result.State == WriteStale })
}

// CanUnblockOthers reports whether writes were rejected for the first time, so that workloads that wait for a slot may
// be written instead.
func (r Results) CanUnblockOthers(plans []plan.Plan) bool {
	isNewRejection := func(result Result) bool {
		return result.State == WriteRejected && !result.IsGeneral && result.Plan.Rejection == nil && result.Plan.StartsPods()
	}
	return slices.ContainsFunc(r, isNewRejection) && slices.ContainsFunc(plans, func(p plan.Plan) bool {
		return p.Block != nil && p.Block.Kind.EndsByItself()
	})
}

// unwritten is the message of a workload that was not written.
const unwritten = "not written: the workload has changed since it was read, or another object has to be written first; the operator retries"

// CarriedOut returns the decision after its writes, for the status. A plan without its write gets a block.
func (d *Decision) CarriedOut(results Results) *Decision {
	written := make(map[*plan.Plan]bool, len(results))
	for i := range results {
		written[results[i].Plan] = results[i].State == WriteAccepted || results[i].State == WritePending
	}
	carriedOut := d
	for i := range d.Plans {
		p := &d.Plans[i]
		if !p.Writes() || !p.StartsPods() || p.Change == plan.Remove || written[p] {
			continue
		}
		if carriedOut == d {
			carriedOut = ptr.To(*d)
			carriedOut.Plans = slices.Clone(d.Plans)
		}
		carriedOut.Plans[i] = p.WithBlock(&plan.Block{Kind: plan.BlockedByRetry, Reason: meta.ReasonRetrying, Message: unwritten})
	}
	return carriedOut
}
