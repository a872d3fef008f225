// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clustersidecar

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// writeStatus writes the status if it has changed. For an unchanged generation, it first waits until all namespaces
// have reported, for example after a start of the operator. If the selector is invalid, the status has the reason.
func (r *Reconciler) writeStatus(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster, specHistory lastgood.SpecStatus, invalid error) error {
	reports := clusterState.Reports()
	facts := status.ClusterFacts{
		Cluster: cluster, Namespaces: reports.Namespaces, UnreportedNamespaces: reports.Unreported, Changed: reports.HasWritten,
		ReconcileRequest: notify.ReconcileRequest(cluster), Waves: reports.Waves, BlindHalt: r.Access.BlindHalt(ctx, r.Catalog.Rules(), ""),
		Trial: lastgood.NewAttempt(clusterwide.NewSidecarWithoutNamespace(cluster)), SpecStatus: specHistory,
	}
	if invalid != nil && cluster.DeletionTimestamp == nil {
		facts.Invalid, facts.Waves = invalid.Error(), cluster.Status.Waves
	}
	if facts.UnreportedNamespaces > 0 && cluster.Status.ObservedGeneration == cluster.Generation {
		return nil
	}
	previous := *cluster.Status.DeepCopy()
	cluster.Status = status.NewClusterStatus(facts, metav1.Now())
	ready := apimeta.FindStatusCondition(cluster.Status.Conditions, meta.ConditionReady)
	r.setState(cluster.Name, string(ready.Status), ready.Reason)
	if equality.Semantic.DeepEqual(previous, cluster.Status) {
		return nil
	}
	r.Recorder.AnnounceRevertEnd(cluster, &cluster.Spec.VectorSidecarSpec, previous.Reverted, cluster.Status.Reverted)
	announced, terminal := status.NewErrors(previous.Conditions, cluster.Status.Conditions)
	r.Recorder.AnnounceError(cluster, announced)
	r.Observer.ReportTerminal(ctx, terminal)
	if err := r.applyStatus(ctx, cluster); err != nil {
		return &statusError{err}
	}
	clusterState.MarkStatusWritten()
	if specHistory.LastGood != nil && cluster.Status.LastKnownGood == nil {
		clusterState.MarkDropped(cluster)
	}
	return nil
}

// statusError is the error of writing the status, which the status cannot report.
type statusError struct{ error }

func (e *statusError) Unwrap() error { return e.error }

// reportError writes to the status why the reconcile of a ClusterVectorSidecar has failed.
func (r *Reconciler) reportError(ctx context.Context, name string, failure error) {
	if errors.As(failure, new(*statusError)) {
		return
	}
	r.setState(name, string(metav1.ConditionFalse), meta.ReasonRetrying)
	cluster, err := r.Sidecars.Cluster(ctx, name)
	if cluster == nil || err != nil {
		return
	}
	previous := cluster.Status
	cluster.Status = status.NewClusterFailureStatus(cluster, failure, metav1.Now())
	announced, terminal := status.NewErrors(previous.Conditions, cluster.Status.Conditions)
	r.Recorder.AnnounceError(cluster, announced)
	r.Observer.ReportTerminal(ctx, terminal)
	if equality.Semantic.DeepEqual(previous, cluster.Status) {
		return
	}
	if err := r.applyStatus(ctx, cluster); err != nil {
		log.FromContext(ctx).V(1).Info("writing the failure to the status", "cause", err.Error())
	}
}

// setState sets the metrics of a ClusterVectorSidecar. Its workloads count in the metrics of its namespaces.
func (r *Reconciler) setState(name, ready, reason string) {
	r.Observer.Metrics.SetSidecarState(clusterwide.ClusterKey(name), telemetry.SidecarState{
		Ready: ready, Reason: reason, Workloads: func(func(telemetry.WorkloadState) bool) {},
	})
}

// applyStatus writes the whole status.
func (r *Reconciler) applyStatus(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) error {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	if err := r.Writer.ClusterStatus(ctx, cluster); err != nil {
		return err
	}
	r.Sidecars.SetWritten(cluster)
	return nil
}
