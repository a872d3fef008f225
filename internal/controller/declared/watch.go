// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// valuesKey is the key of the reconcile that reports values that cannot be parsed. It is not the name of an object.
var valuesKey = types.NamespacedName{Name: declared.Key}

// queue is the queue of the reconcile requests.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager adds the Reconciler to a manager. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	changes := predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletions(),
	)
	objectEvents := handler.EnqueueRequestsFromMapFunc(r.requestForObject)
	builder := ctrl.NewControllerManagedBy(mgr).Named("declared").
		WithOptions(controller.Options{
			RateLimiter:        state.NewRateLimiter(),
			SkipNameValidation: new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return telemetry.ControllerLogger(mgr.GetLogger()) }).
		Watches(&corev1.ConfigMap{}, r.valuesEvents(), ctrlbuilder.WithPredicates(predicate.NewPredicateFuncs(r.isValues))).
		Watches(&v1alpha1.VectorSidecar{}, objectEvents, ctrlbuilder.WithPredicates(changes))
	if r.ClusterSidecars {
		builder = builder.Watches(&v1alpha1.ClusterVectorSidecar{}, objectEvents, ctrlbuilder.WithPredicates(changes))
	}
	if len(r.WatchNamespaces) == 0 {
		builder = builder.WatchesMetadata(clusterwide.NewNamespaceMetadata(""), handler.EnqueueRequestsFromMapFunc(r.requestsForNamespace), ctrlbuilder.WithPredicates(deletions()))
	}
	return builder.Complete(shutdown.StopReconciles(ctx, r))
}

// deletions selects the events of objects that are created, start to be deleted, or are deleted.
func deletions() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

// requestForObject requests the reconcile of a changed object, if the object is declared or has the installation's
// label.
func (r *Reconciler) requestForObject(_ context.Context, object client.Object) []reconcile.Request {
	key := client.ObjectKeyFromObject(object)
	if object.GetLabels()[meta.LabelDeclaredBy] != meta.InstallationLabel(r.WrittenBy) && !r.watched.Load().Has(key) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

// requestsForNamespace requests the reconciles of the objects that are declared in a namespace.
func (r *Reconciler) requestsForNamespace(_ context.Context, namespace client.Object) (requests []reconcile.Request) {
	for _, key := range r.watched.Load().Keys() {
		if key.Namespace == namespace.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
	}
	return requests
}

// valuesEvents returns the handler for changes of the ConfigMap of values. See enqueueDeclared.
func (r *Reconciler) valuesEvents() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { r.enqueueDeclared(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { r.enqueueDeclared(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, q queue) {
			r.enqueueDeclared(ctx, &corev1.ConfigMap{}, q)
		},
	}
}

// enqueueDeclared requests reconciles after a change of the ConfigMap of values: of all objects that are or were
// declared, and of all objects with the installation's label. The ConfigMap is empty if it was deleted.
func (r *Reconciler) enqueueDeclared(ctx context.Context, object client.Object, q queue) {
	var data map[string]string
	if values, ok := object.(*corev1.ConfigMap); ok {
		data = values.Data
	}
	sidecars, err := declared.Parse(data)
	previous := r.watched.Load()
	if err == nil && !previous.IsEnabled() && !sidecars.IsEnabled() {
		return
	}
	keys := map[types.NamespacedName]bool{valuesKey: true}
	if err == nil {
		r.watched.Store(sidecars)
		for _, key := range slices.Concat(previous.Keys(), sidecars.Keys(), r.labeledKeys(ctx)) {
			keys[key] = true
		}
	}
	for key := range keys {
		q.Add(reconcile.Request{NamespacedName: key})
	}
}

// labeledKeys returns the keys of the objects with the installation's label.
func (r *Reconciler) labeledKeys(ctx context.Context) (keys []types.NamespacedName) {
	labeled := client.MatchingLabels{meta.LabelDeclaredBy: meta.InstallationLabel(r.WrittenBy)}
	lists := []client.ObjectList{&v1alpha1.VectorSidecarList{}}
	if r.ClusterSidecars {
		lists = append(lists, &v1alpha1.ClusterVectorSidecarList{})
	}
	for _, list := range lists {
		if err := r.Cached.List(ctx, list, labeled, client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "listing declared objects") // A cache returns an error only while it is shutting down.
		}
		_ = apimeta.EachListItem(list, func(item runtime.Object) error {
			if object, ok := item.(client.Object); ok {
				keys = append(keys, client.ObjectKeyFromObject(object))
			}
			return nil
		})
	}
	return keys
}

// isValues reports whether an object is the ConfigMap of values.
func (r *Reconciler) isValues(object client.Object) bool {
	return client.ObjectKeyFromObject(object) == r.Installation
}
