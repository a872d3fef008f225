// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package finalizer keeps a deleted VectorSidecar until its sidecar is removed. The input is a decision and the results of its
// writes; the output is the finalizer, and marks on workloads that keep their sidecar.
package finalizer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// ReleaseRetry is the time until the next check of workloads that still have the sidecar although every removal
	// was accepted. Another writer may have restored the sidecar.
	ReleaseRetry = time.Second
	// blockedRetry is the time until the next check if the sidecar cannot be removed from any of the workloads. Only
	// a change of a workload unblocks the removal, and the change causes an event.
	blockedRetry = time.Minute
	// writers is the maximum number of workloads that are written concurrently.
	writers = 16
)

// Finalizer keeps a deleted VectorSidecar until its sidecar has been removed from all workloads.
type Finalizer struct {
	live   *livelist.Client
	writer *apply.Writer
	owned  *ownedObjectLister
}

// New returns a Finalizer for the workloads of some kinds.
func New(live *livelist.Client, writer *apply.Writer, kinds []*workload.Kind, clock func() time.Time) *Finalizer {
	return &Finalizer{live: live, writer: writer, owned: &ownedObjectLister{
		live: live, kinds: kinds, now: clock, namespaces: map[string]*ownedObjectList{},
	}}
}

// Forget drops the state of a VectorSidecar that does not exist anymore.
func (f *Finalizer) Forget(name types.NamespacedName) { f.owned.forget(name) }

// AddBeforeWriting adds the finalizer before the first workload or companion is written, because only the operator
// removes them. It also adds the finalizer if a workload already has the sidecar or marks of the VectorSidecar, which
// an earlier VectorSidecar of the same name may have left. The error is apply.ErrStale if another reconcile must add
// the finalizer.
func (f *Finalizer) AddBeforeWriting(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision) error {
	concerned := func(p plan.Plan) bool { return p.Writes() || p.Existing.IsOwned || p.Existing.IsMarked }
	needsFinalizer := decision.LeavesMarks || len(decision.Missing)+len(decision.Overlays) > 0 || slices.ContainsFunc(decision.Plans, concerned)
	if sidecar.DeletionTimestamp != nil || !needsFinalizer {
		return nil
	}
	if !meta.IsOfCluster(sidecar.Name) {
		return f.writer.AddFinalizer(ctx, sidecar)
	}
	if !controllerutil.ContainsFinalizer(sidecar, meta.Finalizer) {
		return fmt.Errorf("waiting for the finalizer, which another reconcile adds: %w", apply.ErrStale)
	}
	return nil
}

// HasMarksToRemove reports whether a workload still has marks that must be removed, but nothing else of the
// VectorSidecar: the removal waits for other rollouts, or was not made because the workload has changed since it was
// read. Other remaining marks do not keep the finalizer, because other clients may restore them forever.
func HasMarksToRemove(decision *decision.Decision, results decision.Results) bool {
	return slices.ContainsFunc(decision.Plans, func(p plan.Plan) bool {
		return p.Existing.IsMarked && !p.Existing.IsOwned && (p.IsWaiting() || p.Writes() && results.HasStale())
	})
}

// RefreshIfDeleting returns the VectorSidecar from the cache. If it is being deleted and too large for the cache, it
// is read from the API server, with its annotations and finalizers. The result is nil if the VectorSidecar does not
// exist any more.
func (f *Finalizer) RefreshIfDeleting(ctx context.Context, cached *v1alpha1.VectorSidecar) (*v1alpha1.VectorSidecar, error) {
	if cached.DeletionTimestamp == nil || meta.IsOfCluster(cached.Name) || !desired.IsReduced(cached) {
		return cached, nil
	}
	sidecar := &v1alpha1.VectorSidecar{}
	exists, err := f.live.Find(ctx, &v1alpha1.VectorSidecarList{}, client.ObjectKeyFromObject(cached), sidecar)
	if err != nil {
		return nil, fmt.Errorf("reading a VectorSidecar that is too large for the cache: %w", err)
	}
	if !exists {
		return nil, nil //nolint:nilnil // A deleted object is not an error.
	}
	return sidecar, nil
}

// Release removes the finalizer when its work is done: the sidecars are removed or orphaned, and API servers no
// longer inject them. Otherwise, the result has the time of the next attempt. hasWritten is true if the same
// reconcile has written workloads of the VectorSidecar. admissionLag is the time for which API servers may still
// inject the sidecar.
func (f *Finalizer) Release(ctx context.Context, sidecar *v1alpha1.VectorSidecar, hasWritten bool, admissionLag time.Duration) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(sidecar, meta.Finalizer) {
		return reconcile.Result{}, nil
	}
	// Sidecars that are injected until then are found in that time, and removed like all others.
	if admissionLag > 0 {
		return reconcile.Result{RequeueAfter: admissionLag}, nil
	}
	if requeueAfter, err := f.removeOrOrphan(ctx, sidecar, hasWritten); err != nil || requeueAfter > 0 {
		return reconcile.Result{RequeueAfter: requeueAfter}, err
	}
	if meta.IsOfCluster(sidecar.Name) {
		return reconcile.Result{}, nil // The reconcile of the ClusterVectorSidecar removes the finalizer when all namespaces are without the sidecar.
	}
	return reconcile.Result{}, f.writer.RemoveFinalizer(ctx, sidecar)
}

// removeOrOrphan removes or orphans the objects of a deleted VectorSidecar. It returns the time until the next
// attempt, or 0 if it has finished. An attempt does not finish while a workload still has the sidecar or a mark, or
// is not listed yet.
func (f *Finalizer) removeOrOrphan(ctx context.Context, sidecar *v1alpha1.VectorSidecar, hasWritten bool) (requeueAfter time.Duration, err error) {
	carriers, companions, wait, err := f.owned.findObjects(ctx, client.ObjectKeyFromObject(sidecar), hasWritten)
	switch {
	case err != nil || wait > 0:
		return wait, err
	case sidecar.Orphans():
		return f.orphanWorkloads(ctx, meta.Manager(sidecar.Name), carriers)
	case slices.ContainsFunc(carriers, func(c carrier) bool { return c.isReadable }):
		return ReleaseRetry, nil
	case len(carriers) > 0:
		return blockedRetry, nil
	}
	for _, name := range companions { // Old ReplicaSets may still refer to them.
		if err := f.writer.DeleteCompanion(ctx, types.NamespacedName{Namespace: sidecar.Namespace, Name: name}); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// orphanWorkloads marks the workloads that keep their sidecars. It returns the time until the next attempt if a
// workload was changed at the same time, otherwise 0.
func (f *Finalizer) orphanWorkloads(ctx context.Context, manager string, carriers []carrier) (requeueAfter time.Duration, err error) {
	group := errgroup.Group{}
	group.SetLimit(writers)
	for i := range carriers {
		if carriers[i].isOrphaned {
			continue
		}
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			ctx, cancel := shutdown.Detach(ctx)
			defer cancel()
			if err := f.orphanWorkload(ctx, &carriers[i].Ref, manager); !errors.Is(err, apply.ErrGone) {
				return err
			}
			return nil
		})
	}
	if err := group.Wait(); !errors.Is(err, apply.ErrStale) {
		return 0, err
	}
	return ReleaseRetry, nil
}

// orphanWorkload marks a workload that keeps its sidecar. If the workload was only waiting for the sidecar,
// orphanWorkload removes the other fields of the VectorSidecar instead.
func (f *Finalizer) orphanWorkload(ctx context.Context, ref *workload.Ref, manager string) error {
	object, err := removal.FindWorkload(ctx, f.live, ref)
	if object == nil || err != nil {
		return err
	}
	view := workload.NewView(object)
	if !view.IsOwnedBy(manager) {
		_, err := removal.Remove(ctx, f.writer, &view, manager)
		return err
	}
	return f.writer.OrphanWorkload(ctx, &view, manager)
}
