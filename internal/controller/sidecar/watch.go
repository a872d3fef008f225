// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/leftovers"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/workloads"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// watches maps events to the VectorSidecars that depend on the changed object.
type watches struct {
	sidecars   *sidecarcache.Lister
	workloads  *workloadcache.Cache
	namespaces *namespaces
	memory     *state.Memory
	notifier   *notify.Notifier
	leftovers  *leftovers.Signal
	clusters   *clusterNamespaces
	source     *workloads.Source
}

// addSource creates the source of workload events.
func (w *watches) addSource(mgr ctrl.Manager, uses *companionuse.Tracker, observed *instrument.Observer) error {
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating a discovery client: %w", err)
	}
	w.source = workloads.New(workloads.Options{
		Cache: mgr.GetCache(), Workloads: w.workloads, Sidecars: w.sidecars, Memory: w.memory, Uses: uses,
		APIs: apis, Dependents: w.sidecarsOfWorkload, Notifier: w.notifier, Metrics: observed.Metrics, Clock: observed.Clock,
	})
	return nil
}

// addWatches adds the watches of workloads, VectorSidecars, ConfigMaps and namespaces to a controller.
func (w *watches) addWatches(builder *ctrlbuilder.Builder) *ctrlbuilder.Builder {
	builder = w.namespaces.watch(builder)
	builder = w.clusters.watch(builder)
	return builder.
		Watches(&v1alpha1.VectorSidecar{}, w.competitorEvents(), ctrlbuilder.WithPredicates(laterChanges())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(w.sidecarsOfConfigMap), ctrlbuilder.WithPredicates(configMapChanges())).
		WatchesRawSource(w.notifier.Source()).
		WatchesRawSource(w.source)
}

// sidecarsOfWorkload returns the VectorSidecars that may match a workload in one of its states. It also returns the
// VectorSidecars that own fields of the workload.
func (w *watches) sidecarsOfWorkload(ctx context.Context, states ...*workloadcache.Record) []types.NamespacedName {
	sidecarKeys, managers := map[types.NamespacedName]bool{}, map[string]bool{}
	for _, record := range states {
		for _, manager := range record.Managers() {
			managers[manager] = true
		}
		for _, owner := range w.memory.Writers(record.UID) {
			sidecarKeys[owner] = true
		}
	}
	for _, sidecar := range w.sidecars.ListSelecting(ctx, states[0].Namespace, states) {
		sidecarKeys[client.ObjectKeyFromObject(&sidecar)] = true
	}
	for manager := range managers {
		owners := sidecarcache.Keys(w.sidecars.ListByIndex(ctx, states[0].Namespace, sidecarcache.IndexManager, manager))
		for _, owner := range owners {
			sidecarKeys[owner] = true
		}
		if len(owners) == 0 {
			w.leftovers.Wake()
		}
	}
	return slices.Collect(maps.Keys(sidecarKeys))
}

// sidecarsOfConfigMap returns the VectorSidecars that read a ConfigMap and the VectorSidecar that the ConfigMap was
// generated for.
func (w *watches) sidecarsOfConfigMap(ctx context.Context, object client.Object) []reconcile.Request {
	name := client.ObjectKeyFromObject(object)
	keys := w.memory.Referrers(name)
	if label := object.GetLabels()[meta.LabelSidecar]; label != "" {
		keys = append(keys, sidecarcache.Keys(w.sidecars.ListByIndex(ctx, name.Namespace, sidecarcache.IndexLabel, label))...)
	}
	return newRequests(keys)
}

// competitorDelay is the delay of a reconcile that a change of a preceding VectorSidecar requests, so that several
// such changes cause one reconcile.
const competitorDelay = time.Second

// competitorEvents handles changes of VectorSidecars that may affect other VectorSidecars.
func (w *watches) competitorEvents() handler.EventHandler {
	changed := func(ctx context.Context, states ...client.Object) {
		w.leftovers.WakeIfFound()
		w.notifier.NotifyAfter(competitorDelay, w.competitors(ctx, states...)...)
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, _ queue) { changed(ctx, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, _ queue) { changed(ctx, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, _ queue) { changed(ctx, e.Object) },
	}
}

// competitors returns the VectorSidecars over which a changed VectorSidecar takes precedence in a workload that one
// of its states selects. Those that take precedence over the changed one do not depend on it.
func (w *watches) competitors(ctx context.Context, states ...client.Object) []types.NamespacedName {
	keys := map[types.NamespacedName]bool{}
	for _, object := range states {
		changed, ok := object.(*v1alpha1.VectorSidecar)
		if !ok {
			continue
		}
		records, scopes := labeledWorkloads(w.workloads, changed), w.sidecars.Scopes(ctx)
		for _, sidecar := range w.sidecars.ListSelecting(ctx, changed.Namespace, records) {
			if sidecar.Name != changed.Name && decision.TakesPrecedence(changed, &sidecar, scopes) {
				keys[client.ObjectKeyFromObject(&sidecar)] = true
			}
		}
	}
	return slices.Collect(maps.Keys(keys))
}
