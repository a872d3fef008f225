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

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// writers is how many workloads of one VectorSidecar are written to at once: as many as
// keep an API server of two cores busy while answers are on their way.
const writers = 16

// outcome is what came of carrying out a decision.
type outcome struct {
	mu       sync.Mutex
	done     []*plan.Plan
	failures []status.Failure
	// missed is when to look at a workload that was not as it had been seen, 0 for
	// never.
	missed time.Duration
	// lookAgain is when an old companion may have become unused, or Vector is
	// to be asked again; 0 for never.
	lookAgain time.Duration
	// asking is the annotation by which a person asked for the pass, "" if none did.
	asking string
	// statusWait is when the status may be written that was held back, 0 for none.
	statusWait time.Duration
}

func (o *outcome) miss(wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missed = sooner(o.missed, wait)
}

func (o *outcome) succeed(p *plan.Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, p)
}

func (o *outcome) fail(object, reason string, err error, permanent bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures = append(o.failures, status.Failure{Object: object, Reason: reason, Err: err, Permanent: permanent})
}

// name tells what came of the pass as a whole, for metrics.
func (o *outcome) name(sidecar *v1alpha1.VectorSidecar) string {
	switch {
	case len(o.done) > 0:
		return telemetry.ResultChanged
	case apimeta.IsStatusConditionTrue(sidecar.Status.Conditions, meta.ConditionStalled):
		return telemetry.ResultStalled
	}
	return telemetry.ResultUnchanged
}

// sort makes the outcome independent of which write was answered first.
func (o *outcome) sort() {
	slices.SortFunc(o.done, func(a, b *plan.Plan) int { return strings.Compare(a.Target.Name, b.Target.Name) })
	slices.SortFunc(o.failures, func(a, b status.Failure) int { return strings.Compare(a.Object, b.Object) })
}

// retry returns the failures that are worth another try, nil if there are none.
func (o *outcome) retry() error {
	var errs []error
	for _, failure := range o.failures {
		if !failure.Permanent {
			errs = append(errs, failure.Err)
		}
	}
	return errors.Join(errs...)
}

// act carries out a decision: companions first, then workloads, then what nothing
// refers to any more.
func (r *Reconciler) act(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision) *outcome {
	result := &outcome{}
	known := r.memory.Of(client.ObjectKeyFromObject(sidecar))
	for i := range decided.Missing {
		companion := &decided.Missing[i]
		err := r.provide(ctx, companion)
		if errors.Is(err, apply.ErrTerminating) {
			tellUndone(ctx, fmt.Sprintf("ConfigMap %s/%s", companion.Namespace, companion.Name), err)
			return result // What it is for goes with it.
		}
		if err != nil {
			reason, permanent := explain(err)
			result.fail(fmt.Sprintf("ConfigMap %s/%s", companion.Namespace, companion.Name), reason, err, permanent)
			return result // Pods without their configuration would not start.
		}
	}
	tellSkipped(ctx, decided)
	group := errgroup.Group{}
	group.SetLimit(writers)
	for i := range decided.Plans {
		p := &decided.Plans[i]
		if !p.Writes() {
			continue
		}
		group.Go(func() error {
			if ctx.Err() == nil && r.mayWrite(ctx, known, p, result) {
				r.write(ctx, known, p, result)
			}
			return nil
		})
	}
	_ = group.Wait() // Its functions report to the outcome.
	r.collect(ctx, known, sidecar.Namespace, decided.Obsolete, result)
	known.KeepExpectations(decided.Plans)
	result.sort()
	return result
}

// collect deletes the companions that no workload can be rolled back to.
func (r *Reconciler) collect(ctx context.Context, known *state.Sidecar, namespace string, obsolete []string, result *outcome) {
	unused, wait, err := r.unusedRevisions(ctx, known, namespace, obsolete)
	if err != nil {
		result.fail("ReplicaSets of "+namespace, meta.ReasonRetrying, err, false)
	}
	result.lookAgain = wait
	for _, name := range unused {
		if err := r.writer.DeleteCompanion(ctx, types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
			result.fail("ConfigMap "+name, meta.ReasonRetrying, err, false)
		}
	}
}

// write carries out one plan and notes the answer.
func (r *Reconciler) write(ctx context.Context, known *state.Sidecar, p *plan.Plan, result *outcome) {
	object := status.Object(p.Target)
	if err := known.Refusal(p); err != nil {
		tellUndone(ctx, object, fmt.Errorf("the same was refused a short while ago: %w", err))
		if reason, _ := explain(err); p.Action != plan.Note {
			result.fail(object, reason, err, true)
		}
		return
	}
	written, err := r.apply(ctx, p)
	r.events.wrote()
	switch reason, permanent := explain(err); {
	case err == nil:
		known.Wrote(p, written.Generation, written.ResourceVersion)
		if p.StartsPods() && p.Action != plan.Remove && known.Injected(p.Target.UID, p.InjectedHash()) || p.Repairs {
			r.Metrics.Repaired()
		}
		result.succeed(p)
		log.FromContext(ctx).Info("workload written", "action", p.Action, telemetry.KeyWorkload, object, telemetry.KeyHash, p.InjectedHash(), telemetry.KeyChangeCause, p.Cause, "generation", written.Generation)
	case errors.Is(err, apply.ErrGone), errors.Is(err, apply.ErrStale), isAhead(known, p, err):
		tellUndone(ctx, object, err)
		result.miss(known.Miss(p))
	case permanent && p.Action == plan.Note: // The sidecar is as it should be all the same.
		known.Refused(p, err)
	case permanent && p.Action != plan.Remove: // A finalizer waits for a removal.
		known.Refused(p, err)
		result.fail(object, reason, err, true)
	default:
		result.fail(object, reason, err, false)
	}
}

// apply carries out one plan to the end, even if the operator is to stop.
func (r *Reconciler) apply(ctx context.Context, p *plan.Plan) (apply.Written, error) {
	ctx, cancel := finishing(ctx)
	defer cancel()
	ctx, applying := r.begin(ctx, "apply")
	applying.span.Set(telemetry.AttributeKind, p.Target.Kind)
	applying.span.Set(telemetry.AttributeWorkload, p.Target.Name)
	applying.span.Set(telemetry.AttributeAction, string(p.Action))
	applying.span.Set(telemetry.AttributeHash, p.InjectedHash())
	written, err := r.writer.Workload(ctx, p)
	applying.end(err)
	r.Metrics.Wrote(string(p.Action), resultOf(err))
	return written, err
}

// provide writes a companion to the end, even if the operator is to stop.
func (r *Reconciler) provide(ctx context.Context, companion *corev1.ConfigMap) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	return r.writer.Companion(ctx, companion)
}

// explain gives the reason for an error and whether the same would fail again.
func explain(err error) (reason string, permanent bool) {
	var conflict *apply.ConflictError
	var refused *apply.RefusedError
	switch {
	case errors.As(err, &conflict):
		return meta.ReasonConflict, true
	case errors.As(err, &refused):
		return meta.ReasonApplyRefused, true
	default:
		return meta.ReasonRetrying, false
	}
}
