// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// writers is the maximum number of workloads of one VectorSidecar that are written concurrently. It keeps an API
// server with two cores busy while responses are pending.
const writers = 16

// applier carries out decisions.
type applier struct {
	instruments *instrument.Observer
	writer      *apply.Writer
	events      *events.Recorder
	views       *stalenessGuard
	// overlays requests changes of OverlaySets.
	overlays *overlayset.Memory
	uses     *companionuse.Tracker
	// isStopped reports whether only removals may be written.
	isStopped func() bool
}

// canApply reports whether a plan may still be written. While writes are stopped, only removals may be.
func (a *applier) canApply(ctx context.Context, p *plan.Plan) bool {
	return ctx.Err() == nil && (p.Desired == nil || p.Change == plan.Remove || !a.isStopped())
}

// apply carries out a decision. It writes the companions first, then the workloads, and then deletes unreferenced
// companions.
func (a *applier) apply(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, d *decision.Decision) decision.Results {
	if failure := a.writeCompanions(ctx, d.Missing); failure != nil {
		return decision.Results{*failure} // Pods without their configuration would not start.
	}
	// Injected sidecars need the companions.
	if overlayset.CanInject(sidecar) {
		a.overlays.RequestUpdate(sidecar, d)
	}
	results := overlaySetResults(sidecar.Namespace, a.overlays.Err(client.ObjectKeyFromObject(sidecar)))
	logSkipped(ctx, d)
	announceOwned(a.events, sidecar, d)
	workloadResults := a.writeWorkloads(ctx, sidecarState, d.Plans)
	results = append(results, workloadResults...)
	if overlayset.CanInject(sidecar) {
		a.overlays.RecordWrites(sidecar, d, workloadResults)
	}
	results = append(results, a.deleteUnusedCompanions(ctx, client.ObjectKeyFromObject(sidecar), d)...)
	sidecarState.KeepExpectations(d.Plans)
	return results
}

// writeCompanions writes companions until a write fails. It returns that result, or nil if all were written.
func (a *applier) writeCompanions(ctx context.Context, companions []corev1.ConfigMap) *decision.Result {
	for i := range companions {
		if ctx.Err() != nil || a.isStopped() {
			break // Workloads that need the companion are not written either.
		}
		err := a.writeCompanion(ctx, &companions[i])
		if err == nil {
			continue
		}
		failure := newFailure(fmt.Sprintf("ConfigMap %s/%s", companions[i].Namespace, companions[i].Name), err)
		failure.Reason, failure.IsPermanent = explainError(err)
		if errors.Is(err, apply.ErrTerminating) { // The workloads are deleted with the namespace, too.
			logNotWritten(ctx, failure.Object, err)
			failure.Reason = ""
		}
		return &failure
	}
	return nil
}

// writeWorkloads carries out the plans that write, several at a time. The results have the order of the plans.
func (a *applier) writeWorkloads(ctx context.Context, sidecarState *state.Sidecar, plans []plan.Plan) decision.Results {
	var pending []*plan.Plan
	for i := range plans {
		if p := &plans[i]; p.Writes() || p.IsWithheld() {
			pending = append(pending, p)
		}
	}
	results, group := make(decision.Results, len(pending)), errgroup.Group{}
	group.SetLimit(writers)
	for i, p := range pending {
		if !p.Writes() {
			logNotWritten(ctx, status.WorkloadTitle(p.Target), fmt.Errorf("the same write was rejected: %w", p.Rejection.Err))
			results[i] = newRejection(p, p.Rejection.Err)
			results[i].State = decision.WriteWithheld
			continue
		}
		group.Go(func() error {
			results[i] = a.writeWorkload(ctx, sidecarState, p)
			return nil
		})
	}
	_ = group.Wait() // The results have the errors.
	return results
}

// deleteUnusedCompanions deletes the companions that no workload can be rolled back to, and returns the failures.
func (a *applier) deleteUnusedCompanions(ctx context.Context, sidecar types.NamespacedName, d *decision.Decision) (failures decision.Results) {
	if !d.HasSettled || ctx.Err() != nil {
		return nil // The last request remains, or the next reconcile deletes them.
	}
	unused, err := a.uses.UnusedCompanions(sidecar, d.Obsolete, func(yield func(types.UID) bool) {
		for i := range d.Plans {
			if !yield(d.Plans[i].Target.UID) {
				return
			}
		}
	})
	if err != nil {
		failures = append(failures, newFailure("ReplicaSets of "+sidecar.Namespace, err))
	}
	for _, name := range unused {
		if err := a.writer.DeleteCompanion(ctx, types.NamespacedName{Namespace: sidecar.Namespace, Name: name}); err != nil {
			failures = append(failures, newFailure("ConfigMap "+name, err))
		}
	}
	return failures
}

// writeWorkload carries out one plan, unless the cache does not show the current workload. It returns the result.
func (a *applier) writeWorkload(ctx context.Context, sidecarState *state.Sidecar, p *plan.Plan) decision.Result {
	if !a.canApply(ctx, p) {
		return newResult(p, decision.WriteNotSent)
	}
	if result, isCurrent := a.views.checkView(ctx, sidecarState, p); !isCurrent {
		return result
	}
	written, err := a.applyPlan(ctx, p)
	a.events.RecordWrite()
	switch {
	case err == nil:
		sidecarState.RecordWrite(p, written.Generation, written.ResourceVersion)
		if p.StartsPods() && p.Change != plan.Remove && sidecarState.RecordInjection(p.Target.UID, p.InjectedHash()) || p.Write.Repairs {
			a.instruments.Metrics.RecordCorrection()
		}
		log.FromContext(ctx).Info("wrote workload", "action", p.Action(), telemetry.KeyWorkload, status.WorkloadTitle(p.Target), telemetry.KeyHash, p.InjectedHash(), telemetry.KeyChangeCause, p.Write.Cause, "generation", written.Generation)
		return newResult(p, decision.WriteAccepted)
	case errors.Is(err, apply.ErrGone), errors.Is(err, apply.ErrStale), isAhead(sidecarState, p, err):
		logNotWritten(ctx, status.WorkloadTitle(p.Target), err)
		wait := sidecarState.RecordMiss(p, err)
		stale, _ := sidecarState.StaleWrite(p)
		return newStaleResult(p, wait, stale.UnexplainedConflict())
	}
	result := newRejection(p, err)
	if result.State == decision.WriteRejected {
		sidecarState.RecordRejection(p, err, result.IsPermanent)
	}
	return result
}

// applyPlan carries out one plan. The write is not canceled if the operator stops.
func (a *applier) applyPlan(ctx context.Context, p *plan.Plan) (apply.WriteResult, error) {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	ctx, applying := a.instruments.StartStep(ctx, "apply")
	applying.Span.Set(telemetry.AttributeKind, p.Target.Kind)
	applying.Span.Set(telemetry.AttributeWorkload, p.Target.Name)
	applying.Span.Set(telemetry.AttributeAction, p.Action())
	applying.Span.Set(telemetry.AttributeHash, p.InjectedHash())
	written, err := a.writer.ApplyWorkload(ctx, p)
	result := apply.ResultLabel(err)
	applying.Span.Set(telemetry.AttributeResult, result)
	applying.End(err)
	a.instruments.Metrics.RecordWrite(p.Target.Kind, p.Action(), result)
	return written, err
}

// writeCompanion writes a companion. The write is not canceled if the operator stops.
func (a *applier) writeCompanion(ctx context.Context, companion *corev1.ConfigMap) error {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	return a.writer.WriteCompanion(ctx, companion)
}
