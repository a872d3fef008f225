// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"

	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
)

// clusterNamespaces requests the reconciles of ClusterVectorSidecars in namespaces that have changed.
type clusterNamespaces struct {
	sidecars   *sidecarcache.Lister
	namespaces *namespaces
}

// watch watches the namespaces that ClusterVectorSidecars may select, if the kind is enabled.
func (c *clusterNamespaces) watch(builder *ctrlbuilder.Builder) *ctrlbuilder.Builder {
	if !c.sidecars.HasClusters() {
		return builder
	}
	return builder.WatchesMetadata(clusterwide.NewNamespaceMetadata(""), c.eventHandler())
}

// eventHandler handles namespaces that are created, deleted, selected or no longer selected. The cost of an event
// depends only on the ClusterVectorSidecars.
func (c *clusterNamespaces) eventHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList { // At startup, every namespace is reconciled anyway.
				c.enqueue(ctx, e.Object, e.Object, true, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			c.enqueue(ctx, e.ObjectOld, e.ObjectNew, c.namespaces.hasChanged(e.ObjectOld, e.ObjectNew), q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { c.enqueue(ctx, e.Object, nil, true, q) },
	}
}

// enqueue requests the reconciles of ClusterVectorSidecars in a namespace after a change of a namespace. A deleted namespace
// concerns all of them. Otherwise, the change concerns each one that now selects the namespace or no longer selects
// it. If isOther is true, because the change may affect decisions, it also concerns each one that still selects the
// namespace. after is nil if the namespace does not exist any more.
func (c *clusterNamespaces) enqueue(ctx context.Context, before, after client.Object, isOther bool, q queue) {
	clusters := c.sidecars.Clusters(ctx)
	for i := range clusters {
		selector, _ := c.sidecars.Selector(&clusters[i])
		wasSelected, isSelected := selector.Selects(before), after != nil && selector.Selects(after)
		isGoing := after == nil || after.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil
		if wasSelected != isSelected || wasSelected && isOther || isGoing {
			q.Add(reconcile.Request{NamespacedName: clusterwide.KeyIn(before.GetName(), clusters[i].Name)})
		}
	}
}
