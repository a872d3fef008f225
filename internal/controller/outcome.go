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
	// behind are the plans that were carried out before, which the cache does not show yet.
	behind []*plan.Plan
	// answers are the API server's to the plans that were carried out; nil is consent.
	answers  map[*plan.Plan]error
	failures []status.Failure
	// isNews is true if the API server has refused rollouts that were not refused before, for what is in them.
	isNews bool
	// missed is when to check a workload that had changed since it was read, 0 for never.
	missed time.Duration
	// lookAgain is when Vector is to be asked again, or the OverlaySet is written; 0 for never.
	lookAgain time.Duration
	// rollout is how far the VectorSidecar is with what its installation gives out, nil without
	// waves; staged is when it may go on, 0 for not by itself.
	rollout *v1alpha1.RolloutStatus
	staged  time.Duration
	// own is what the status says of the VectorSidecar's own spec; of a ClusterVectorSidecar part is what
	// the pass over the namespace has seen of that.
	own  lastgood.Kept
	part *lastgood.Part
	// asking is the value of the annotation that requested the pass, "" if none did.
	asking string
	// statusWait is how long a status write is held back, 0 if it is not.
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

// pend notes that a plan was carried out before, which the cache does not show yet.
func (o *outcome) pend(p *plan.Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.behind = append(o.behind, p)
}

// unwritten is the message about a workload whose write was not made.
const unwritten = "not written: the workload has changed since it was read, or another object has to be written first; the operator retries"

// carriedOut returns a decision as it was carried out: a sidecar that was to be written and was not is Waiting.
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

// refuse notes that the write of a plan has failed, and reports whether the same one would fail again.
func (o *outcome) refuse(p *plan.Plan, err error) (isPermanent bool) {
	reason, isPermanent := explain(err)
	isPermanent = isPermanent && p.Action != plan.Remove // A finalizer waits for a removal.
	if !isPermanent || p.StartsPods() {                  // Else the sidecar is as it should be all the same.
		o.fail(status.Object(p.Target), reason, err, isPermanent)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isNews = o.isNews || p.Denied == nil && p.StartsPods() && isRefusal(err) && !isGeneral(err)
	return isPermanent
}

// withhold notes a failure if a plan is not carried out because it was refused.
func (o *outcome) withhold(ctx context.Context, p *plan.Plan) {
	if p.Withheld && !p.Waiting {
		tellUndone(ctx, status.Object(p.Target), fmt.Errorf("the same write was refused: %w", p.Denied.Err))
		o.refuse(p, p.Denied.Err)
	}
}

// frees reports whether writes were refused so that others need not wait for them any longer.
func (o *outcome) frees(plans []plan.Plan) bool {
	return o.isNews && slices.ContainsFunc(plans, func(p plan.Plan) bool {
		return p.WaitsForOthers() || p.Waiting && p.Reason == meta.ReasonWaitingForGlobalSlot
	})
}

// unexplained notes a failure if the API server answers again and again as if a workload had changed that has not.
func (o *outcome) unexplained(p *plan.Plan, missed *state.Missed) {
	err := missed.Unexplained()
	if err == nil {
		return
	}
	cause := &apierrors.StatusError{}
	if errors.As(err, &cause) { // Without what it was taken for.
		err = cause
	}
	o.fail(status.Object(p.Target), meta.ReasonRetrying, fmt.Errorf("writing %s: conflict, although the object has not changed: %w", status.Object(p.Target), err), false)
}

// offered notes what came of writing the OverlaySet, or when it will be written.
func (o *outcome) offered(sidecar *v1alpha1.VectorSidecar, wait time.Duration, err error) {
	o.lookAgain = minNonZero(o.lookAgain, wait)
	if err != nil {
		o.fail("OverlaySet "+sidecar.Namespace+"/"+meta.OverlaySet, meta.ReasonRetrying, err, false)
	}
}

// name returns the result of the pass as a whole, for metrics.
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

// goesOn returns when something of a decision goes on although writes have failed, 0 for never: a soak ends, the next
// wave begins, or the status may be written. again is what the decision says.
func (o *outcome) goesOn(requeueAfter time.Duration) time.Duration {
	return minNonZero(requeueAfter, minNonZero(o.staged, o.statusWait))
}

// toldError is an error that the status tells already, or that of writing it.
type toldError struct{ error }

func (e *toldError) Unwrap() error { return e.error }

// isRefusal reports whether an error is the API server's refusal of a write, and not a failure to be heard by it.
func isRefusal(err error) bool {
	_, permanent := explain(err)
	return permanent || errors.As(err, new(*apply.DeniedError))
}

// isGeneral reports whether the writes of others would be refused likewise, so that they are tried no faster.
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
