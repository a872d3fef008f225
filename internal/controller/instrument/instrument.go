// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package instrument observes the reconciles of a controller. The input is the start and the end of each reconcile and of its
// steps; the output is metrics, traces, log lines at DEBUG, and an error while a reconcile is stuck.
package instrument

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Instruments observe reconciles without changing their behavior. Metrics and Reports are required.
type Instruments struct {
	Metrics *telemetry.Metrics
	Tracer  telemetry.Tracer
	Reports *telemetry.Reporter
}

// Observer observes the reconciles of the controllers of one operator.
type Observer struct {
	Instruments

	liveness *liveness
	// Clock returns the time of the API server.
	Clock func() time.Time
}

// New returns an Observer. timeout is the maximum time in a reconcile without a step, before the reconcile counts as
// stuck; 0 means stuckAfter.
func New(instruments Instruments, timeout time.Duration, clock func() time.Time) *Observer {
	return &Observer{Instruments: instruments, liveness: newLiveness(timeout), Clock: clock}
}

// Alive returns an error while a reconcile is stuck.
func (o *Observer) Alive() error { return o.liveness.check(time.Now()) }

// ReportTerminal logs and reports an object that waits for a user, because of a condition. A nil condition is ignored.
func (o *Observer) ReportTerminal(ctx context.Context, condition *metav1.Condition) {
	if condition != nil {
		telemetry.Warn(log.FromContext(ctx), "waiting for user action", "reason", condition.Reason, "cause", condition.Message)
		o.Reports.ReportTerminal(condition.Reason)
	}
}

// Step is a step of a reconcile, or the whole reconcile.
type Step struct {
	Span telemetry.Span

	observer *Observer
	name     string
	start    time.Time
	run      *reconcileRun
	log      logr.Logger
}

// StartStep starts a step of the reconcile of the context.
func (o *Observer) StartStep(ctx context.Context, name string) (context.Context, Step) {
	current := currentRun(ctx)
	o.liveness.recordProgress(current, time.Now())
	ctx, span := o.Tracer.Start(ctx, name)
	return ctx, Step{Span: span, observer: o, name: name, start: time.Now(), run: current, log: log.FromContext(ctx)}
}

// End ends a step, with an error if the step failed.
func (s *Step) End(err error) {
	now := time.Now()
	s.observer.Metrics.RecordDuration(s.name, now.Sub(s.start))
	s.Span.End(err)
	s.observer.liveness.recordProgress(s.run, now)
	logStep(s.log, s.name, now.Sub(s.start), err)
}

// StartReconcile starts a reconcile. Its span is the parent of the spans of all steps, and its log lines contain the
// trace ID.
func (o *Observer) StartReconcile(ctx context.Context, name types.NamespacedName) (context.Context, Step) {
	ctx = o.liveness.startReconcile(ctx, name, time.Now())
	ctx, reconcileStep := o.StartStep(ctx, "reconcile")
	reconcileStep.Span.Set(telemetry.AttributeNamespace, name.Namespace)
	reconcileStep.Span.Set(telemetry.AttributeSidecar, name.Name)
	if id := reconcileStep.Span.TraceID(); id != "" {
		reconcileStep.Span.Set(telemetry.AttributeReconcileID, string(controller.ReconcileIDFromContext(ctx)))
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues(telemetry.KeyTraceID, id))
	}
	return ctx, reconcileStep
}

// EndReconcile ends a reconcile with its result for metrics. It reports a panic and panics again.
func (o *Observer) EndReconcile(reconcileStep *Step, result string, err error, panicked any) {
	if panicked != nil {
		o.Reports.ReportPanic(panicked)
		result, err = telemetry.ResultFailed, errors.New("panic")
		defer panic(panicked)
	}
	o.Metrics.RecordReconcile(result)
	reconcileStep.Span.Set(telemetry.AttributeResult, result)
	reconcileStep.End(err)
	o.liveness.endReconcile(reconcileStep.run)
}

// ObserveStep is the desired.Observer of a reconcile.
func (o *Observer) ObserveStep(ctx context.Context, name desired.Step) func(error) {
	_, s := o.StartStep(ctx, string(name))
	return func(err error) {
		if name == desired.Render {
			o.Metrics.RecordRender(err == nil)
		}
		s.End(err)
	}
}

// NewRequestLogger returns a function that adds the controller, and the namespace and name of a request, to the log lines of a
// reconcile. Users search by these keys.
func NewRequestLogger(base logr.Logger) func(*reconcile.Request) logr.Logger {
	base = telemetry.ControllerLogger(base)
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return base
		}
		return base.WithValues(telemetry.KeyNamespace, request.Namespace, telemetry.KeyName, request.Name)
	}
}

// logStep logs the end of a step.
func logStep(log logr.Logger, name string, duration time.Duration, err error) {
	debug := log.V(1)
	switch {
	case !debug.Enabled():
	case err != nil:
		debug.Info("step ended", "step", name, "took", duration, "cause", err.Error())
	default:
		debug.Info("step ended", "step", name, "took", duration)
	}
}
