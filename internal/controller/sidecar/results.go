// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// newResult returns the result of the write of a plan.
func newResult(p *plan.Plan, writeState decision.WriteState) decision.Result {
	return decision.Result{Object: status.WorkloadTitle(p.Target), Plan: p, State: writeState}
}

// newFailure returns the result of a failed request for an object that is not a workload. The request is retried.
func newFailure(object string, err error) decision.Result {
	return decision.Result{Object: object, State: decision.WriteFailed, Err: err, Reason: meta.ReasonRetrying}
}

// newRejection returns the result of a write that failed.
func newRejection(p *plan.Plan, err error) decision.Result {
	result := newResult(p, decision.WriteFailed)
	if isRejection(err) {
		result.State = decision.WriteRejected
	}
	reason, isPermanent := explainError(err)
	result.Err, result.Reason, result.IsGeneral = err, reason, isGeneral(err)
	result.IsPermanent = isPermanent && p.Change != plan.Remove // A finalizer waits for the removal.
	if result.IsPermanent && !p.StartsPods() {
		result.Reason = "" // The sidecar is correct without this write.
	}
	return result
}

// newStaleResult returns the result of a write that was not made because its workload had changed. It has an error if
// the API server repeatedly responds as if the workload had changed, although it has not. err is that response, or nil.
func newStaleResult(p *plan.Plan, requeueAfter time.Duration, err error) decision.Result {
	result := newResult(p, decision.WriteStale)
	result.RequeueAfter = requeueAfter
	if err == nil {
		return result
	}
	cause := &apierrors.StatusError{}
	if errors.As(err, &cause) { // Drop the cause that the response was mistaken for.
		err = cause
	}
	result.Err, result.Reason = fmt.Errorf("writing %s: conflict, although the object has not changed: %w", result.Object, err), meta.ReasonRetrying
	return result
}

// overlaySetResults returns the result of the last failed write of an OverlaySet, or none if err is nil.
func overlaySetResults(namespace string, err error) decision.Results {
	if err == nil {
		return nil
	}
	return decision.Results{newFailure("OverlaySet "+namespace+"/"+meta.OverlaySet, err)}
}

// resultLabel returns the result of a reconcile for metrics.
func resultLabel(sidecar *v1alpha1.VectorSidecar, results decision.Results) string {
	switch {
	case len(results.Written()) > 0:
		return telemetry.ResultChanged
	case apimeta.IsStatusConditionTrue(sidecar.Status.Conditions, meta.ConditionStalled):
		return telemetry.ResultStalled
	}
	return telemetry.ResultUnchanged
}

// reportedError is an error that the status reports already, or the error of writing the status.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// isRejection reports whether the API server has rejected a write. It returns false if the API server was not reached.
func isRejection(err error) bool {
	_, permanent := explainError(err)
	return permanent || errors.As(err, new(*apply.DeniedError))
}

// isGeneral reports whether the API server would also deny other writes, so that they are not retried faster.
func isGeneral(err error) bool {
	var denied *apply.DeniedError
	return errors.As(err, &denied) && denied.IsGeneral
}

// explainError returns the condition reason for an error, and whether the same request would fail again.
func explainError(err error) (reason string, permanent bool) {
	var conflict *apply.ConflictError
	var refused *apply.RejectedError
	switch {
	case errors.As(err, &conflict):
		return meta.ReasonConflict, true
	case errors.As(err, &refused):
		return meta.ReasonApplyRejected, true
	default:
		return meta.ReasonRetrying, false
	}
}
