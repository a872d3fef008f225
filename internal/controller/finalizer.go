// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// releaseRetry is when to check workloads again that still carry the sidecar although every removal
	// was accepted: another writer may have restored it.
	releaseRetry = time.Second
	// blockedRetry is when to check them if it cannot be taken out of any of them: what frees it is a
	// change of the workload, which is seen.
	blockedRetry = time.Minute
)

// finalizer keeps a VectorSidecar until no workload carries its sidecar any more.
type finalizer struct {
	live   client.Reader
	writer *apply.Writer
	kinds  []*workload.Kind
	// lag returns how long an API server may still put the sidecar in.
	lag func(*v1alpha1.VectorSidecar) time.Duration
}

// holdBeforeWriting adds the finalizer before the first workload or companion is written, because
// nobody else would clean them up. It also adds it if a workload carries the sidecar already, which
// an earlier VectorSidecar of the same name may have left.
func (f *finalizer) holdBeforeWriting(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision) error {
	concerned := func(p plan.Plan) bool { return p.Writes() || p.Carries }
	holds := len(decided.Missing)+len(decided.Offers) > 0 || slices.ContainsFunc(decided.Plans, concerned)
	if sidecar.DeletionTimestamp != nil || !holds {
		return nil
	}
	if sidecar.Cluster == nil {
		return f.writer.AddFinalizer(ctx, sidecar)
	}
	if !controllerutil.ContainsFinalizer(sidecar, meta.Finalizer) {
		return fmt.Errorf("waiting for the finalizer, which its own pass adds: %w", apply.ErrStale)
	}
	return nil
}

// deleted returns the VectorSidecar as cached, or, if it is being deleted and too large for the
// cache, as the API server has it, with its annotations and finalizers. It returns nil if it is
// gone.
func (f *finalizer) deleted(ctx context.Context, cached *v1alpha1.VectorSidecar) (*v1alpha1.VectorSidecar, error) {
	if cached.DeletionTimestamp == nil || cached.Cluster != nil || !desired.IsReduced(cached) {
		return cached, nil
	}
	// This lists because the operator's permission is that of the watch.
	var found v1alpha1.VectorSidecarList
	err := f.live.List(ctx, &found, client.InNamespace(cached.Namespace), client.MatchingFields{metav1.ObjectNameField: cached.Name})
	if err != nil {
		return nil, fmt.Errorf("reading a VectorSidecar that is too large for the cache: %w", err)
	}
	if len(found.Items) == 0 {
		return nil, nil //nolint:nilnil // What is gone is no error.
	}
	return &found.Items[0], nil
}

// release removes the finalizer once nothing carries the sidecar any more and no API server puts it
// in, or if the sidecars are to stay.
func (f *finalizer) release(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(sidecar, meta.Finalizer) {
		return reconcile.Result{}, nil
	}
	// Until then what is put in is seen, and taken out like all else.
	if wait := f.lag(sidecar); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	if again, err := f.settle(ctx, sidecar); err != nil || again > 0 {
		return reconcile.Result{RequeueAfter: again}, err
	}
	if sidecar.Cluster != nil {
		return reconcile.Result{}, nil // Its own pass removes it, when it is out of all namespaces.
	}
	return reconcile.Result{}, f.writer.RemoveFinalizer(ctx, sidecar)
}

// settle cleans up, or orphans, what a deleted VectorSidecar leaves behind. It returns when to try again
// while a workload still carries something that has to go, else 0.
func (f *finalizer) settle(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (again time.Duration, err error) {
	if sidecar.Orphans() {
		isMarked, err := f.orphanWorkloads(ctx, sidecar)
		switch {
		case err != nil:
			return 0, err
		case !isMarked:
			return releaseRetry, nil
		}
		return 0, f.orphanCompanions(ctx, sidecar)
	}
	carried, err := f.carriers(ctx, sidecar)
	switch {
	case err != nil:
		return 0, err
	case slices.ContainsFunc(carried, func(view workload.View) bool { return view.Unread.Template == "" }):
		return releaseRetry, nil
	case len(carried) > 0:
		return blockedRetry, nil
	}
	return 0, f.deleteCompanions(ctx, sidecar)
}

// carriers returns the workloads that carry the sidecar. It asks the API server because a cache
// that lags behind our own write would show none.
func (f *finalizer) carriers(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]workload.View, error) {
	var views []workload.View
	for _, kind := range f.kinds {
		found := kind.NewList()
		err := f.live.List(ctx, found, client.InNamespace(sidecar.Namespace))
		if kind.Lacks(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("finding workloads that still carry the sidecar: %w", err)
		}
		for _, object := range workload.Items(found) {
			view := workload.Of(object)
			if _, carries := view.Owned[meta.Manager(sidecar.Name)]; carries && !view.Deleting {
				views = append(views, view)
			}
		}
	}
	return views, nil
}

// orphanWorkloads marks the workloads that keep their sidecars, so that it is clear why they have
// no VectorSidecar. It returns false if one was changed concurrently.
func (f *finalizer) orphanWorkloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (bool, error) {
	views, err := f.carriers(ctx, sidecar)
	if err != nil {
		return false, err
	}
	manager := meta.Manager(sidecar.Name)
	group := errgroup.Group{}
	group.SetLimit(writers)
	isStale := atomic.Bool{}
	for i := range views {
		view := &views[i]
		if view.Owned[manager].Orphan != "" {
			continue
		}
		group.Go(func() error {
			ctx, cancel := detached(ctx)
			defer cancel()
			switch err := f.orphan(ctx, view, manager); {
			case errors.Is(err, apply.ErrStale):
				isStale.Store(true)
			case !errors.Is(err, apply.ErrGone):
				return err
			}
			return nil
		})
	}
	err = group.Wait()
	return !isStale.Load(), err
}

// orphan marks a workload as keeping its sidecar. One that has only waited for it has none.
func (f *finalizer) orphan(ctx context.Context, view *workload.View, manager string) error {
	if removal := plan.ForRemoval(manager, view); !removal.Carries {
		_, err := f.writer.Workload(ctx, &removal)
		return err
	}
	return f.writer.Orphan(ctx, view, manager)
}

// orphanCompanions removes the owner reference of companions that orphaned sidecars read, so that
// they are not garbage collected. Companions written by an earlier release have one.
func (f *finalizer) orphanCompanions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	companions, err := source.Reader{Reader: f.live}.Companions(ctx, sidecar)
	if err != nil {
		return err
	}
	for i := range companions {
		if len(companions[i].OwnerReferences) == 0 {
			continue
		}
		if err := f.writer.Companion(ctx, &companions[i]); err != nil {
			return err
		}
	}
	return nil
}

// deleteCompanions deletes the companions of a VectorSidecar, including those that old ReplicaSets
// refer to. What a run still starts pods with stays, because they would hang without it; it is a stray
// when the run has ended. deleteCompanions asks the API server because the cache may not have the latest
// ones yet.
func (f *finalizer) deleteCompanions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	companions, err := source.Reader{Reader: f.live}.Companions(ctx, sidecar)
	if err != nil || len(companions) == 0 {
		return err
	}
	running := slices.DeleteFunc(workload.HoldersOf(f.kinds), func(of workload.Holder) bool { return !of.Starts })
	used, err := usedBy(ctx, f.live, running, sidecar.Namespace)
	if err != nil {
		return err
	}
	for i := range companions {
		if used[companions[i].Name] {
			continue
		}
		if err := f.writer.DeleteCompanion(ctx, client.ObjectKeyFromObject(&companions[i])); err != nil {
			return err
		}
	}
	return nil
}
