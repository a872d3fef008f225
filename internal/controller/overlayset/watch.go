// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Watch watches OverlaySets, if they are enabled.
func (o *Sets) Watch(builder *ctrlbuilder.Builder) *ctrlbuilder.Builder {
	if o == nil {
		return builder
	}
	return builder.Watches(&v1alpha1.OverlaySet{}, o.events(), ctrlbuilder.WithPredicates(predicate.GenerationChangedPredicate{}))
}

// events handles changes of OverlaySets by other clients and, at startup, overlays of deleted VectorSidecars.
func (o *Sets) events() handler.EventHandler {
	changed := func(ctx context.Context, object client.Object, q queue) {
		for _, request := range o.changedSetRequests(ctx, object) {
			q.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				changed(ctx, e.Object, q)
				return
			}
			for _, request := range o.goneSidecarRequests(ctx, e.Object) {
				q.Add(request)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { changed(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { changed(ctx, e.Object, q) },
	}
}

// changedSetRequests returns one VectorSidecar of a namespace if another client has changed or deleted the OverlaySet.
func (o *Sets) changedSetRequests(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != meta.OverlaySet {
		return nil
	}
	namespaceState := o.lockNamespace(object.GetNamespace())
	defer namespaceState.mu.Unlock()
	if namespaceState.written != nil && namespaceState.written.ResourceVersion == object.GetResourceVersion() {
		namespaceState.written = nil // The cache has this write now.
		return nil
	}
	sidecars := o.sidecars.ListIn(ctx, object.GetNamespace())
	if existing, err := o.current(ctx, object.GetNamespace(), namespaceState); len(sidecars) == 0 && err == nil {
		o.forget(object.GetNamespace(), namespaceState, existing)
	}
	return newRequests(sidecarcache.Keys(sidecars[:min(len(sidecars), 1)]))
}

// goneSidecarRequests returns the VectorSidecars in an OverlaySet that do not exist any more. It also returns
// ClusterVectorSidecars that do not select the namespace any more. After a restart, no other event requeues them.
func (o *Sets) goneSidecarRequests(ctx context.Context, object client.Object) []reconcile.Request {
	set, ok := object.(*v1alpha1.OverlaySet)
	if !ok || set.Name != meta.OverlaySet {
		return nil
	}
	var strayKeys []types.NamespacedName
	for _, name := range overlayOwners(set) {
		key := types.NamespacedName{Namespace: set.Namespace, Name: name}
		sidecar, err := o.sidecars.Get(ctx, key)
		if err != nil {
			log.FromContext(ctx).Error(err, "reading the owner of an overlay")
		}
		if sidecar == nil || sidecar.DeletionTimestamp != nil {
			strayKeys = append(strayKeys, key)
		}
	}
	return newRequests(strayKeys)
}

// Namespaces returns the namespaces with an OverlaySet that has overlays of a VectorSidecar of this name.
func (o *Sets) Namespaces(ctx context.Context, name string) []string {
	if o == nil {
		return nil
	}
	var list v1alpha1.OverlaySetList
	if err := o.cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing overlay sets")
	}
	var namespaces []string
	for i := range list.Items {
		for _, owner := range overlayOwners(&list.Items[i]) {
			if owner == name {
				namespaces = append(namespaces, list.Items[i].Namespace)
			}
		}
	}
	return namespaces
}

// overlayOwners returns the names of the VectorSidecars that have overlays in an OverlaySet.
func overlayOwners(set *v1alpha1.OverlaySet) (names []string) {
	for i := range set.Spec.Overlays {
		if name := set.Spec.Overlays[i].VectorSidecar; len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

func newRequests(names []types.NamespacedName) []reconcile.Request {
	var reconcileRequests []reconcile.Request
	for _, name := range names {
		reconcileRequests = append(reconcileRequests, reconcile.Request{NamespacedName: name})
	}
	return reconcileRequests
}
