// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// outcome is the result of carrying out a decision.
type outcome struct {
	mu   sync.Mutex
	done []*plan.Plan
	// behind has the plans that were carried out in an earlier reconcile and that the cache does not show yet.
	behind []*plan.Plan
	// answers has the API server's response to each plan that was carried out, nil if the plan was accepted.
	answers  map[*plan.Plan]error
	failures []status.Failure
	// isNews is true if the API server has rejected rollouts because of their content for the first time.
	isNews bool
	// missed is how long until the check of a workload that had changed since it was read, 0 for never.
	missed time.Duration
	// lookAgain is how long until Vector is asked for validation again, workloads may be ready, or the OverlaySet is
	// written; 0 for never.
	lookAgain time.Duration
	// rollout is the progress of the VectorSidecar with the target revision, nil without waves. staged is how long
	// until it may continue without an event, 0 for never.
	rollout *v1alpha1.RolloutStatus
	staged  time.Duration
	// own has the status fields about the VectorSidecar's own spec. For a ClusterVectorSidecar, part is the report of
	// the reconcile of the namespace about the spec.
	own  lastgood.Kept
	part *lastgood.Part
	// asking is the value of the annotation that requested the reconcile, "" for none.
	asking string
	// statusWait is how long the status write is delayed, 0 if it is not delayed.
	statusWait time.Duration
}

func (o *outcome) miss(wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missed = minNonZero(o.missed, wait)
}

func (o *outcome) answer(p *plan.Plan, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answers == nil {
		o.answers = map[*plan.Plan]error{}
	}
	o.answers[p] = err
}

func (o *outcome) succeed(p *plan.Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, p)
}

// pend records that a plan was carried out in an earlier reconcile, and that the cache does not show this yet.
func (o *outcome) pend(p *plan.Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.behind = append(o.behind, p)
}

// unwritten is the message about a workload that was not written.
const unwritten = "not written: the workload has changed since it was read, or another object has to be written first; the operator retries"

// carriedOut returns a decision as it was carried out. A sidecar that should have been written, but was not, is
// Waiting.
func (o *outcome) carriedOut(decision *decision.Decision) *decision.Decision {
	written := make(map[*plan.Plan]bool, len(o.done)+len(o.behind))
	for _, p := range slices.Concat(o.done, o.behind) {
		written[p] = true
	}
	reported := decision
	for i := range decision.Plans {
		p := &decision.Plans[i]
		if !p.Writes() || !p.StartsPods() || p.Action == plan.Remove || written[p] {
			continue
		}
		if reported == decision {
			reported = ptr.To(*decision)
			reported.Plans = slices.Clone(decision.Plans)
		}
		reported.Plans[i].Wait(meta.ReasonRetrying, unwritten)
	}
	return reported
}

func (o *outcome) fail(object, reason string, err error, permanent bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures = append(o.failures, status.Failure{Object: object, Reason: reason, Err: err, Permanent: permanent})
}

// refuse records that the write of a plan has failed, and reports whether the same write would fail again.
func (o *outcome) refuse(p *plan.Plan, err error) (isPermanent bool) {
	reason, isPermanent := explain(err)
	isPermanent = isPermanent && p.Action != plan.Remove // A finalizer waits for the removal.
	if !isPermanent || p.StartsPods() {                  // Otherwise, the sidecar is correct without this write.
		o.fail(status.Object(p.Target), reason, err, isPermanent)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isNews = o.isNews || p.Denied == nil && p.StartsPods() && isRefusal(err) && !isGeneral(err)
	return isPermanent
}

// withhold records a failure if a plan is not carried out because the same write was rejected before.
func (o *outcome) withhold(ctx context.Context, p *plan.Plan) {
	if p.Withheld && !p.Waiting {
		tellUndone(ctx, status.Object(p.Target), fmt.Errorf("the same write was refused: %w", p.Denied.Err))
		o.refuse(p, p.Denied.Err)
	}
}

// frees reports whether rejected writes unblock other workloads.
func (o *outcome) frees(plans []plan.Plan) bool {
	return o.isNews && slices.ContainsFunc(plans, func(p plan.Plan) bool {
		return p.WaitsForOthers() || p.Waiting && p.Reason == meta.ReasonWaitingForGlobalSlot
	})
}

// unexplained records a failure if the API server repeatedly responds as if a workload had changed, although it has
// not.
func (o *outcome) unexplained(p *plan.Plan, missed *state.Missed) {
	err := missed.Unexplained()
	if err == nil {
		return
	}
	cause := &apierrors.StatusError{}
	if errors.As(err, &cause) { // Drop the cause that the response was mistaken for.
		err = cause
	}
	o.fail(status.Object(p.Target), meta.ReasonRetrying, fmt.Errorf("writing %s: conflict, although the object has not changed: %w", status.Object(p.Target), err), false)
}

// offered records the result of writing the OverlaySet, or how long until the write.
func (o *outcome) offered(sidecar *v1alpha1.VectorSidecar, wait time.Duration, err error) {
	o.lookAgain = minNonZero(o.lookAgain, wait)
	if err != nil {
		o.fail("OverlaySet "+sidecar.Namespace+"/"+meta.OverlaySet, meta.ReasonRetrying, err, false)
	}
}

// name returns the result of the reconcile for metrics.
func (o *outcome) name(sidecar *v1alpha1.VectorSidecar) string {
	switch {
	case len(o.done) > 0:
		return telemetry.ResultChanged
	case apimeta.IsStatusConditionTrue(sidecar.Status.Conditions, meta.ConditionStalled):
		return telemetry.ResultStalled
	}
	return telemetry.ResultUnchanged
}

// sort makes the outcome independent of the order in which writes were answered.
func (o *outcome) sort() {
	slices.SortFunc(o.done, func(a, b *plan.Plan) int { return strings.Compare(a.Target.Name, b.Target.Name) })
	slices.SortFunc(o.failures, func(a, b status.Failure) int { return strings.Compare(a.Object, b.Object) })
}

// retry returns the errors that are worth a retry, nil if there are none.
func (o *outcome) retry() error {
	var errs []error
	for _, failure := range o.failures {
		if !failure.Permanent {
			errs = append(errs, failure.Err)
		}
	}
	return errors.Join(errs...)
}

// goesOn returns how long until a decision continues although writes have failed, 0 for never. A soak ends, the next
// wave starts, or the status may be written.
func (o *outcome) goesOn(requeueAfter time.Duration) time.Duration {
	return minNonZero(requeueAfter, minNonZero(o.staged, o.statusWait))
}

// toldError is an error that the status reports already, or the error of writing the status.
type toldError struct{ error }

func (e *toldError) Unwrap() error { return e.error }

// isRefusal reports whether the API server has rejected a write. It returns false if the API server was not reached.
func isRefusal(err error) bool {
	_, permanent := explain(err)
	return permanent || errors.As(err, new(*apply.DeniedError))
}

// isGeneral reports whether other writes would be denied, too, so that they are not retried faster.
func isGeneral(err error) bool {
	var denied *apply.DeniedError
	return errors.As(err, &denied) && denied.IsGeneral
}

// explain returns the reason for an error, and whether the same request would fail again.
func explain(err error) (reason string, permanent bool) {
	var conflict *apply.ConflictError
	var refused *apply.RefusedError
	switch {
	case errors.As(err, &conflict):
		return meta.ReasonConflict, true
	case errors.As(err, &refused):
		return meta.ReasonApplyRejected, true
	default:
		return meta.ReasonRetrying, false
	}
}
