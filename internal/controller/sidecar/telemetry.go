// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Instruments observe the VectorSidecarReconciler without changing its behavior. Metrics and Reports are required.
type Instruments struct {
	Metrics *telemetry.Metrics
	Tracer  telemetry.Tracer
	Reports *telemetry.Reporter
}

// instruments are the instruments and the liveness of one VectorSidecarReconciler.
type instruments struct {
	Instruments
	liveness *liveness
	// now is the clock of the process, for durations. clock is the clock of the API server.
	now, clock func() time.Time
}

// step is a step of a reconcile, or the whole reconcile.
type step struct {
	instruments *instruments
	name        string
	start       time.Time
	span        telemetry.Span
	run         *reconcileRun
	log         logr.Logger
}

// startStep starts a step of the reconcile of the context.
func (i *instruments) startStep(ctx context.Context, name string) (context.Context, step) {
	current := currentRun(ctx)
	i.liveness.recordProgress(current, i.now())
	ctx, span := i.Tracer.Start(ctx, name)
	return ctx, step{instruments: i, name: name, start: i.now(), span: span, run: current, log: log.FromContext(ctx)}
}

// end ends a step, with an error if the step failed.
func (s *step) end(err error) {
	now := s.instruments.now()
	s.instruments.Metrics.RecordDuration(s.name, now.Sub(s.start))
	s.span.End(err)
	s.instruments.liveness.recordProgress(s.run, now)
	logStep(s.log, s.name, now.Sub(s.start), err)
}

// startReconcile starts a reconcile. Its span is the parent of the spans of all steps, and its log lines contain the
// trace ID.
func (i *instruments) startReconcile(ctx context.Context, name types.NamespacedName) (context.Context, step) {
	ctx = i.liveness.startReconcile(ctx, name, i.now())
	ctx, reconcileStep := i.startStep(ctx, "reconcile")
	reconcileStep.span.Set(telemetry.AttributeNamespace, name.Namespace)
	reconcileStep.span.Set(telemetry.AttributeSidecar, name.Name)
	if id := reconcileStep.span.TraceID(); id != "" {
		reconcileStep.span.Set(telemetry.AttributeReconcileID, string(controller.ReconcileIDFromContext(ctx)))
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues(telemetry.KeyTraceID, id))
	}
	return ctx, reconcileStep
}

// endReconcile ends a reconcile with its result for metrics. It reports a panic and panics again.
func (i *instruments) endReconcile(reconcileStep *step, result string, err error, panicked any) {
	if panicked != nil {
		i.Reports.ReportPanic(panicked)
		result, err = telemetry.ResultFailed, errors.New("panic")
		defer panic(panicked)
	}
	i.Metrics.RecordReconcile(result)
	reconcileStep.span.Set(telemetry.AttributeResult, result)
	reconcileStep.end(err)
	i.liveness.endReconcile(reconcileStep.run)
}

// observeStep is the desired.Observer of a reconcile.
func (i *instruments) observeStep(ctx context.Context, name desired.Step) func(error) {
	_, s := i.startStep(ctx, string(name))
	return func(err error) {
		if name == desired.Render {
			i.Metrics.RecordRender(err == nil)
		}
		s.end(err)
	}
}

// reconcileResult returns the label for metrics of a reconcile that did not write workloads.
func reconcileResult(err error) string {
	if err != nil {
		return telemetry.ResultFailed
	}
	return telemetry.ResultUnchanged
}

// newRequestLogger returns a function that adds the controller, and the namespace and name of a request, to the log lines of a
// reconcile. Users search by these keys.
func newRequestLogger(base logr.Logger) func(*reconcile.Request) logr.Logger {
	base = telemetry.ControllerLogger(base)
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return base
		}
		return base.WithValues(telemetry.KeyNamespace, request.Namespace, telemetry.KeyName, request.Name)
	}
}
