// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/snapshot"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// releaseRetry is when to look again at workloads that still carry the sidecar
// though every removal was accepted: another writer may have restored it.
const releaseRetry = time.Second

// holdBeforeWriting adds the finalizer before the first workload or companion is
// written: nobody else would take them away.
func (r *Reconciler) holdBeforeWriting(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision) error {
	isWriting := len(decided.Missing) > 0 || slices.ContainsFunc(decided.Plans, func(p plan.Plan) bool { return p.Writes() })
	if sidecar.DeletionTimestamp != nil || !isWriting {
		return nil
	}
	return r.writer.Hold(ctx, sidecar)
}

// release removes the finalizer once nothing carries the sidecar any more, or
// when the sidecars are to stay.
func (r *Reconciler) release(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(sidecar, meta.Finalizer) {
		return reconcile.Result{}, nil
	}
	if settled, err := r.settle(ctx, sidecar); err != nil {
		return reconcile.Result{}, err
	} else if !settled {
		return reconcile.Result{RequeueAfter: releaseRetry}, nil
	}
	return reconcile.Result{}, r.writer.Release(ctx, sidecar)
}

// settle sees to what a deleted VectorSidecar leaves. It returns false while a
// workload still carries what has to go.
func (r *Reconciler) settle(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (bool, error) {
	if sidecar.Orphans() {
		return true, r.orphanCompanions(ctx, sidecar)
	}
	carried, err := r.stillCarried(ctx, sidecar)
	if err != nil || carried {
		return false, err
	}
	return true, r.deleteCompanions(ctx, sidecar)
}

// stillCarried tells whether a workload still carries the sidecar. It asks the
// API server and not the cache: a cache that is behind our own write would say
// that there is nothing to remove.
func (r *Reconciler) stillCarried(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (bool, error) {
	var found appsv1.DeploymentList
	if err := r.live.List(ctx, &found, client.InNamespace(sidecar.Namespace)); err != nil {
		return false, fmt.Errorf("looking for what still carries the sidecar: %w", err)
	}
	for i := range found.Items {
		view := workload.Of(&found.Items[i])
		if _, carries := view.Owned[meta.Manager(sidecar.Name)]; carries && !view.Deleting {
			return true, nil
		}
	}
	return false, nil
}

// orphanCompanions keeps the garbage collector from what orphaned sidecars read:
// companions of an earlier release have an owner.
func (r *Reconciler) orphanCompanions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	companions, err := snapshot.Companions(ctx, r.live, sidecar)
	if err != nil {
		return err
	}
	for i := range companions {
		if len(companions[i].OwnerReferences) == 0 {
			continue
		}
		if err := r.writer.Companion(ctx, &companions[i]); err != nil {
			return err
		}
	}
	return nil
}

// deleteCompanions deletes what was made for a VectorSidecar, also what old ReplicaSets
// still refer to: nobody comes later. It asks the API server, and not the cache, which
// may not have the last ones yet.
func (r *Reconciler) deleteCompanions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	companions, err := snapshot.Companions(ctx, r.live, sidecar)
	if err != nil {
		return err
	}
	for i := range companions {
		if err := r.writer.DeleteCompanion(ctx, client.ObjectKeyFromObject(&companions[i])); err != nil {
			return err
		}
	}
	return nil
}
