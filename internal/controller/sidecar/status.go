// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// statusWriter writes the status of VectorSidecars, and the events of status changes.
type statusWriter struct {
	instruments *instrument.Observer
	writer      *apply.Writer
	events      *events.Recorder
	// clusters receives the status of ClusterVectorSidecars in namespaces.
	clusters *state.Clusters
}

// write emits events about the written workloads. If the status has changed, it writes the status and emits the events
// of that change. Both are delayed if the status is rate limited. write then returns how long to wait. For a
// ClusterVectorSidecar, it passes the status and the report of the namespace on instead.
func (w *statusWriter) write(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, facts status.Facts, report *lastgood.NamespaceReport) (wait time.Duration, err error) {
	original := sidecar.DeepCopy()
	original.Status = *sidecarState.Status(sidecar)
	written := facts.Results.Written()
	planned := facts.Decision
	facts.Sidecar, facts.Decision, facts.Changed = original, planned.CarriedOut(facts.Results), sidecarState.MarkChanged(len(written) > 0)
	if err := sidecarState.FinalizerError(); err != nil {
		facts.Results = append(slices.Clone(facts.Results), newFailure(sidecar.Name, err))
	}
	sidecar.Status = status.NewSidecarStatus(facts, metav1.Now())
	w.count(sidecar, facts)
	w.announce(sidecar, written)
	announceObstacles(w.events, sidecarState, sidecar, original.Status.Workloads, planned)
	if meta.IsOfCluster(sidecar.Name) {
		announceOwnerRemovals(w.events, sidecar, original.Status.RemovedByOwners, sidecar.Status.RemovedByOwners, planned)
		sidecarState.MarkStatusWritten(sidecar)
		w.clusters.Report(sidecar, report, len(written) > 0)
		return 0, nil
	}
	if !sidecarState.IsStatusUnknown() && equality.Semantic.DeepEqual(original.Status, sidecar.Status) {
		sidecarState.SetRollout(nil)
		return 0, nil
	}
	if wait := sidecarState.ReserveStatus(); wait > 0 {
		log.FromContext(ctx).V(1).Info("delaying status update", "for", wait)
		return wait, nil
	}
	announceOwnerRemovals(w.events, sidecar, original.Status.RemovedByOwners, sidecar.Status.RemovedByOwners, planned)
	w.events.AnnounceRevertEnd(sidecar, &sidecar.Spec, original.Status.Reverted, sidecar.Status.Reverted)
	return 0, w.send(ctx, sidecarState, original, sidecar)
}

// fail writes the error of a failed reconcile to the status. All other fields stay as they are, or as in a delayed
// status.
func (w *statusWriter) fail(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, failure error) {
	original := sidecar.DeepCopy()
	original.Status = *sidecarState.Status(sidecar)
	updated := original.DeepCopy()
	updated.Status = status.NewFailureStatus(original, failure, metav1.Now())
	updated.Status.Rollout = sidecarState.Rollout(&original.Status) // A delayed status may have a newer rollout.
	w.instruments.Metrics.SetSidecarState(client.ObjectKeyFromObject(updated), telemetry.SidecarState{Ready: string(metav1.ConditionFalse), Reason: meta.ReasonRetrying})
	if equality.Semantic.DeepEqual(original.Status, updated.Status) || sidecarState.ReserveStatus() > 0 {
		return // The next attempt may report the failure.
	}
	if err := w.send(ctx, sidecarState, original, updated); err != nil {
		log.FromContext(ctx).V(1).Info("writing the failure to the status", "cause", err.Error())
	}
}

// failNamespace records the error of the reconcile of a ClusterVectorSidecar in a namespace. isTold is true if the
// status of the namespace reports the error already.
func (w *statusWriter) failNamespace(sidecar *v1alpha1.VectorSidecar, failure error, isTold bool) {
	clusterState := w.clusters.StateFor(sidecar)
	report := &lastgood.NamespaceReport{Attempt: lastgood.NewAttempt(sidecar), IsRetrying: true}
	report.CopyTimes(clusterState.ReportIn(sidecar.Namespace), sidecar, w.instruments.Clock())
	if isTold {
		w.clusters.ReportRetry(sidecar, report)
		return
	}
	if previous := clusterState.StatusIn(sidecar.Namespace); previous != nil {
		sidecar.Status = *previous
	}
	sidecar.Status = status.NewFailureStatus(sidecar, failure, metav1.Now())
	w.clusters.Report(sidecar, report, false)
}

// send writes a status. If the status has another error than before, it also emits an event.
func (w *statusWriter) send(ctx context.Context, sidecarState *state.Sidecar, original, updated *v1alpha1.VectorSidecar) error {
	announced, terminal := status.NewErrors(original.Status.Conditions, updated.Status.Conditions)
	w.events.AnnounceError(updated, announced)
	w.instruments.ReportTerminal(ctx, terminal)
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	ctx, telling := w.instruments.StartStep(ctx, "status")
	err := w.apply(ctx, sidecarState, updated)
	telling.End(err)
	return err
}

// apply writes the whole status.
func (w *statusWriter) apply(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar) error {
	if err := w.writer.Status(ctx, sidecar); err != nil {
		sidecarState.MarkStatusUnknown()
		return err
	}
	sidecarState.MarkStatusWritten(sidecar)
	return nil
}

// count sets the metrics of the VectorSidecar and its workloads.
func (w *statusWriter) count(sidecar *v1alpha1.VectorSidecar, facts status.Facts) {
	ready := apimeta.FindStatusCondition(sidecar.Status.Conditions, meta.ConditionReady)
	w.instruments.Metrics.SetSidecarState(client.ObjectKeyFromObject(sidecar), telemetry.SidecarState{
		Ready: string(ready.Status), Reason: ready.Reason,
		Workloads: func(yield func(telemetry.WorkloadState) bool) {
			for s := range status.Workloads(facts) {
				if !yield(telemetry.WorkloadState{UID: s.Target.UID, Kind: s.Target.Kind, State: s.State, Reason: s.Reason, IsLongWait: s.IsLongWait}) {
					return
				}
			}
		},
	})
}

// announce emits an event on each workload with a changed pod template, and one per kind of change on the VectorSidecar.
func (w *statusWriter) announce(sidecar *v1alpha1.VectorSidecar, plans []*plan.Plan) {
	written, causes := map[plan.Change][]string{}, map[plan.Change][]string{}
	for _, p := range plans {
		if !p.StartsPods() {
			continue // The workload was not changed.
		}
		target := events.Reference(p.Target)
		// The recorder aggregates events of one resource version, with the note of the first event.
		target.ResourceVersion = p.Workload.ResourceVersion
		w.events.Eventf(target, sidecar, corev1.EventTypeNormal, happened[p.Change], string(p.Change),
			"%s the sidecar of %s: %s", happened[p.Change], meta.Title(sidecar.Name), p.Write.Cause)
		written[p.Change] = append(written[p.Change], p.Target.Name)
		if !slices.Contains(causes[p.Change], p.Write.Cause) {
			causes[p.Change] = append(causes[p.Change], p.Write.Cause)
		}
	}
	for _, change := range []plan.Change{plan.Inject, plan.Update, plan.Remove} {
		if names := written[change]; len(names) > 0 {
			note := fmt.Sprintf("%s the sidecar of %d %s: %s: %s", happened[change], len(names), workload.Plural(sidecar.Spec.Kinds()...), strings.Join(humanize.TruncateList(names, mostNames, len(names)), ", "), summarizeCauses(causes[change]))
			w.events.Eventf(sidecar, nil, corev1.EventTypeNormal, happened[change], string(change), "%s", humanize.ShortenMessage(note, events.NoteLimit))
		}
	}
}

// mostNames is the maximum number of workloads that one message names.
const mostNames = 10

// happened has the past participle of each change, for events.
var happened = map[plan.Change]string{
	plan.Inject: meta.ReasonInjected, plan.Update: meta.ReasonUpdated, plan.Remove: meta.ReasonRemoved,
}

// summarizeCauses returns the first cause and the number of other causes.
func summarizeCauses(causes []string) string {
	if len(causes) == 1 {
		return causes[0]
	}
	return fmt.Sprintf("%s (and %d other causes)", causes[0], len(causes)-1)
}
