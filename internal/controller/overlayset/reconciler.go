// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package overlayset writes the OverlaySets, from which the API server injects sidecars. The input is the admission
// overlays in decisions on VectorSidecars; the output is the OverlaySet of each namespace.
package overlayset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

const (
	// crowd is the maximum number of VectorSidecars in a namespace for which each change is written to the OverlaySet
	// at once. With more, changes are written together, once per writePause, because every write has the overlays of
	// all of them.
	crowd      = 10
	writePause = time.Second
	// cacheLag is the maximum time for which the cache may not show a write.
	cacheLag = 10 * time.Second
)

// Options are the dependencies of a Reconciler. All fields are required.
type Options struct {
	Cached   client.Reader
	Live     client.Reader
	Writer   *apply.Writer
	Sidecars *sidecarcache.Lister
	Policies *PolicyAPI
	Memory   *Memory
	// Notifier wakes the reconciles of VectorSidecars.
	Notifier *notify.Notifier
	Clock    func() time.Time
	// Concurrency is the number of namespaces that are reconciled concurrently.
	Concurrency int
}

// Reconciler writes OverlaySets. It runs on the leader only.
type Reconciler struct{ Options }

// New returns a Reconciler.
func New(options Options) *Reconciler { return &Reconciler{options} }

// Reconcile writes the OverlaySet of one namespace. The Memory wakes it after a decision on a VectorSidecar of the
// namespace, and events of the OverlaySet wake it. It reads the requests of decisions from the Memory, and VectorSidecars,
// ClusterVectorSidecars and the OverlaySet from the cache. It makes dry runs of new overlays. It writes or deletes the
// OverlaySet, writes the results to the Memory, and wakes the VectorSidecars that wait for them.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if request.Name != meta.OverlaySet {
		return reconcile.Result{}, nil
	}
	namespaceState, requests := r.Memory.pendingRequests(request.Namespace)
	errs := map[string]error{}
	existing, err := r.readExisting(ctx, request.Namespace, namespaceState)
	var wait time.Duration
	if err == nil {
		var isReduced bool
		errs, isReduced = r.updateOverlays(ctx, request.Namespace, namespaceState, requests)
		wait, err = r.writeIfChanged(ctx, request.Namespace, namespaceState, existing, isReduced)
	}
	failure := errors.Join(append(slices.Collect(maps.Values(errs)), err)...)
	if failure != nil && (errors.Is(failure, election.ErrNotLeading) || shutdown.IsStopping(ctx)) {
		log.FromContext(ctx).V(1).Info("stopped reconcile at the end of leadership", "cause", failure.Error())
		return reconcile.Result{RequeueAfter: state.FirstRetry}, nil
	}
	if wait > 0 && failure == nil {
		return reconcile.Result{RequeueAfter: wait}, nil // The requests are pending until they are written.
	}
	for name := range requests {
		if errs[name] == nil {
			errs[name] = err
		}
	}
	r.Notifier.Notify(r.Memory.finishRequests(request.Namespace, requests, errs)...)
	if namespaceState.written != nil && failure == nil {
		wait = cacheLag // Read the OverlaySet again, even if the events of this write and of a deletion come as one.
	}
	return reconcile.Result{RequeueAfter: wait}, failure
}

// SetupWithManager adds the Reconciler to a manager. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	base := telemetry.ControllerLogger(mgr.GetLogger())
	return ctrl.NewControllerManagedBy(mgr).Named("overlayset").
		For(&v1alpha1.OverlaySet{}, ctrlbuilder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(r.Memory.notifier.Source()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.Concurrency,
			RateLimiter:             state.NewRateLimiter(),
			SkipNameValidation:      new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(request *reconcile.Request) logr.Logger {
			if request == nil {
				return base
			}
			return base.WithValues(telemetry.KeyNamespace, request.Namespace)
		}).
		Complete(shutdown.StopReconciles(ctx, r))
}

// readExisting returns the existing OverlaySet of a namespace, or nil if there is none. While the cache does not show
// the last write, it returns the written OverlaySet. The first call for a namespace also reads the overlays of
// VectorSidecars from the OverlaySet.
func (r *Reconciler) readExisting(ctx context.Context, namespace string, namespaceState *namespaceState) (*v1alpha1.OverlaySet, error) {
	existing, err := r.readCached(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if namespaceState.overlays == nil {
		namespaceState.overlays = map[string]overlayset.SidecarOverlays{}
		if existing != nil {
			namespaceState.overlays = overlayset.SplitBySidecar(&existing.Spec)
			for i := range existing.Spec.Overlays { // The dry run was made before they were written.
				namespaceState.dryRuns[existing.Spec.Overlays[i].Digest] = ""
			}
		}
	}
	isRecent := r.Clock().Sub(namespaceState.wroteAt).Abs() < cacheLag
	if namespaceState.written != nil && isRecent && resourceVersion(existing) == namespaceState.replaced {
		return namespaceState.written, nil
	}
	namespaceState.written = nil
	return existing, nil
}

// readCached returns the OverlaySet of a namespace from the cache, or nil if there is none.
func (r *Reconciler) readCached(ctx context.Context, namespace string) (*v1alpha1.OverlaySet, error) {
	cached := &v1alpha1.OverlaySet{}
	err := r.Cached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: meta.OverlaySet}, cached)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // A missing OverlaySet is not an error.
	}
	if err != nil {
		return nil, fmt.Errorf("reading OverlaySet %s/%s: %w", namespace, meta.OverlaySet, err)
	}
	return cached, nil
}

// resourceVersion returns the resource version of an OverlaySet, or "" for nil.
func resourceVersion(set *v1alpha1.OverlaySet) string {
	if set == nil {
		return ""
	}
	return set.ResourceVersion
}

// updateOverlays makes the requested changes in the state of the namespace. errs has the errors of failed changes, by
// VectorSidecar. isReduced is true if the API server must inject less than before.
func (r *Reconciler) updateOverlays(ctx context.Context, namespace string, namespaceState *namespaceState, requests map[string]*request) (errs map[string]error, isReduced bool) {
	errs = map[string]error{}
	validator := &overlayValidator{ctx, r.Writer, r.Policies.definitions, namespace, namespaceState.dryRuns}
	for name, request := range requests {
		if request.sidecar == nil {
			delete(namespaceState.overlays, name)
			isReduced = true
			continue
		}
		overlays, err := overlayset.NewSidecarOverlays(request.sidecar, request.overlays, request.skipReason, validator)
		if err != nil {
			errs[name] = err
			continue
		}
		previous := namespaceState.overlays[name]
		isReduced = isReduced || previous.CanInject() && !overlays.CanInject()
		namespaceState.overlays[name] = overlays
	}
	return errs, isReduced
}

// writeIfChanged writes the overlays in the state to the OverlaySet, if the existing OverlaySet differs. In a
// namespace with many VectorSidecars, it may delay the write, and then returns the remaining time. It does not delay
// a write after which the API server must inject less.
func (r *Reconciler) writeIfChanged(ctx context.Context, namespace string, namespaceState *namespaceState, existing *v1alpha1.OverlaySet, isReduced bool) (wait time.Duration, err error) {
	scopes := r.Sidecars.Scopes(ctx)
	sidecars, names := r.sidecarsAtAdmission(ctx, namespace, scopes), map[string]bool{}
	for i := range sidecars {
		names[sidecars[i].Name] = true
	}
	maps.DeleteFunc(namespaceState.overlays, func(name string, _ overlayset.SidecarOverlays) bool { return !names[name] })
	spec := overlayset.Compose(sidecars, scopes, namespaceState.overlays)
	if existing == nil && len(spec.Overlays) == 0 || existing != nil && equality.Semantic.DeepEqual(spec, existing.Spec) {
		return 0, nil
	}
	// A time in the future was set by another clock.
	if elapsed := r.Clock().Sub(namespaceState.wroteAt); !isReduced && elapsed >= 0 && elapsed < writePause && len(namespaceState.overlays) > crowd {
		return writePause - elapsed, nil
	}
	return 0, r.replaceSpec(ctx, namespace, namespaceState, existing, spec)
}

// replaceSpec writes a spec to the OverlaySet of a namespace, or deletes the OverlaySet if the spec is empty. After a
// write it records the written OverlaySet, because the cache may still have the earlier one.
func (r *Reconciler) replaceSpec(ctx context.Context, namespace string, namespaceState *namespaceState, existing *v1alpha1.OverlaySet, spec v1alpha1.OverlaySetSpec) error {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	if len(spec.Overlays) == 0 {
		return r.Writer.DeleteOverlaySet(ctx, namespace)
	}
	set := &v1alpha1.OverlaySet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: meta.OverlaySet, Labels: map[string]string{meta.LabelManagedBy: meta.Operator}, ResourceVersion: resourceVersion(existing)},
		Spec:       spec,
	}
	err := r.Writer.WriteOverlaySet(ctx, set)
	if errors.Is(err, apply.ErrStale) {
		live := &v1alpha1.OverlaySet{}
		if client.IgnoreNotFound(r.Live.Get(ctx, client.ObjectKeyFromObject(set), live)) != nil {
			return err
		}
		set.ResourceVersion = live.ResourceVersion
		err = r.Writer.WriteOverlaySet(ctx, set)
	}
	if errors.Is(err, apply.ErrTerminating) {
		return nil // The workloads are deleted with the namespace, too.
	}
	if err != nil {
		return err
	}
	namespaceState.wroteAt = r.Clock()
	cached, _ := r.readCached(ctx, namespace) // A missing OverlaySet does not have a version.
	if namespaceState.written = nil; resourceVersion(cached) != set.ResourceVersion {
		namespaceState.replaced, namespaceState.written = resourceVersion(cached), set
	}
	log.FromContext(ctx).Info("wrote overlay set", "overlays", len(spec.Overlays))
	return nil
}

// sidecarsAtAdmission returns the VectorSidecars of a namespace that may inject, including ClusterVectorSidecars, in the order
// of precedence.
func (r *Reconciler) sidecarsAtAdmission(ctx context.Context, namespace string, scopes desired.ParentScopes) []v1alpha1.VectorSidecar {
	sidecars := slices.Clone(r.Sidecars.ListIn(ctx, namespace))
	sidecars = slices.DeleteFunc(sidecars, func(sidecar v1alpha1.VectorSidecar) bool { return !CanInject(&sidecar) })
	decision.SortByPrecedence(sidecars, scopes)
	return sidecars
}

// CanInject reports whether the API server may inject the sidecar of a VectorSidecar.
func CanInject(sidecar *v1alpha1.VectorSidecar) bool {
	return sidecar.DeletionTimestamp == nil && sidecar.Spec.IsEnabled()
}
