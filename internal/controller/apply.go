// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// writers is the maximum number of workloads of one VectorSidecar that are written concurrently. It keeps an API
// server with two cores busy while responses are pending.
const writers = 16

// applier carries out decisions.
type applier struct {
	*instruments
	writer *apply.Writer
	events *announcer
	views  *views
	sets   *overlaySets
	uses   *companionuse.Tracker
	// isStopped reports whether only removals may be written.
	isStopped func() bool
}

// may reports whether a plan may still be carried out. A plan without a desired sidecar only removes.
func (a *applier) may(ctx context.Context, p *plan.Plan) bool {
	return ctx.Err() == nil && (p.Desired == nil || p.Action == plan.Remove || !a.isStopped())
}

// act carries out a decision. It writes the companions first, then the workloads, and then deletes unreferenced
// companions.
func (a *applier) act(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision) *outcome {
	result := &outcome{}
	for i := range decision.Missing {
		if ctx.Err() != nil || a.isStopped() {
			break // Workloads that need the companion are not written either.
		}
		companion := &decision.Missing[i]
		err := a.provide(ctx, companion)
		if errors.Is(err, apply.ErrTerminating) {
			tellUndone(ctx, fmt.Sprintf("ConfigMap %s/%s", companion.Namespace, companion.Name), err)
			return result // The workloads are deleted with the namespace, too.
		}
		if err != nil {
			reason, permanent := explain(err)
			result.fail(fmt.Sprintf("ConfigMap %s/%s", companion.Namespace, companion.Name), reason, err, permanent)
			return result // Pods without their configuration would not start.
		}
	}
	// Write the OverlaySet after the companions, because injected sidecars need them. Write it before the workloads,
	// so that the API server does not inject a sidecar again after its removal.
	wait, err := a.sets.keep(ctx, sidecar, decision)
	result.offered(sidecar, wait, err)
	tellSkipped(ctx, decision)
	announceOwned(a.events, sidecar, decision)
	group := errgroup.Group{}
	group.SetLimit(writers)
	for i := range decision.Plans {
		p := &decision.Plans[i]
		if !p.Writes() {
			result.withhold(ctx, p)
			continue
		}
		group.Go(func() error {
			if a.may(ctx, p) && a.views.mayWrite(ctx, sidecarState, p, result) {
				a.write(ctx, sidecarState, p, result)
			}
			return nil
		})
	}
	_ = group.Wait() // The functions record their errors in the outcome.
	wait, err = a.sets.learn(ctx, sidecar, decision, result.answers)
	result.offered(sidecar, wait, err)
	a.deleteUnusedCompanions(ctx, client.ObjectKeyFromObject(sidecar), decision, result)
	sidecarState.KeepExpectations(decision.Plans)
	result.sort()
	return result
}

// deleteUnusedCompanions deletes the companions that no workload can be rolled back to.
func (a *applier) deleteUnusedCompanions(ctx context.Context, sidecar types.NamespacedName, decision *decision.Decision, result *outcome) {
	if !decision.HasSettled || ctx.Err() != nil {
		return // The last request remains, or the next reconcile deletes them.
	}
	unused, err := a.uses.UnusedCompanions(sidecar, decision.Obsolete, func(yield func(types.UID) bool) {
		for i := range decision.Plans {
			if !yield(decision.Plans[i].Target.UID) {
				return
			}
		}
	})
	if err != nil {
		result.fail("ReplicaSets of "+sidecar.Namespace, meta.ReasonRetrying, err, false)
	}
	for _, name := range unused {
		if err := a.writer.DeleteCompanion(ctx, types.NamespacedName{Namespace: sidecar.Namespace, Name: name}); err != nil {
			result.fail("ConfigMap "+name, meta.ReasonRetrying, err, false)
		}
	}
}

// write carries out one plan and records the API server's answer.
func (a *applier) write(ctx context.Context, sidecarState *state.Sidecar, p *plan.Plan, result *outcome) {
	object := status.Object(p.Target)
	written, err := a.carryOut(ctx, p)
	a.events.wrote()
	result.answer(p, err)
	switch {
	case err == nil:
		sidecarState.Wrote(p, written.Generation, written.ResourceVersion)
		if p.StartsPods() && p.Action != plan.Remove && sidecarState.Injected(p.Target.UID, p.InjectedHash()) || p.Write.Repairs {
			a.Metrics.RecordCorrection()
		}
		result.succeed(p)
		log.FromContext(ctx).Info("workload written", "action", p.Action, telemetry.KeyWorkload, object, telemetry.KeyHash, p.InjectedHash(), telemetry.KeyChangeCause, p.Write.Cause, "generation", written.Generation)
	case errors.Is(err, apply.ErrGone), errors.Is(err, apply.ErrStale), isAhead(sidecarState, p, err):
		tellUndone(ctx, object, err)
		result.miss(sidecarState.Miss(p, err))
		result.unexplained(p, sidecarState.Missed(p))
	default:
		isPermanent := result.refuse(p, err)
		if isRefusal(err) {
			sidecarState.Refused(p, err, isPermanent)
		}
	}
}

// carryOut carries out one plan to the end, even if the operator is stopping.
func (a *applier) carryOut(ctx context.Context, p *plan.Plan) (apply.Written, error) {
	ctx, cancel := detached(ctx)
	defer cancel()
	ctx, applying := a.begin(ctx, "apply")
	applying.span.Set(telemetry.AttributeKind, p.Target.Kind)
	applying.span.Set(telemetry.AttributeWorkload, p.Target.Name)
	applying.span.Set(telemetry.AttributeAction, string(p.Action))
	applying.span.Set(telemetry.AttributeHash, p.InjectedHash())
	written, err := a.writer.Workload(ctx, p)
	result := resultOf(err)
	applying.span.Set(telemetry.AttributeResult, result)
	applying.end(err)
	a.Metrics.RecordWrite(p.Target.Kind, string(p.Action), result)
	return written, err
}

// provide writes a companion to the end, even if the operator is stopping.
func (a *applier) provide(ctx context.Context, companion *corev1.ConfigMap) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	return a.writer.Companion(ctx, companion)
}
