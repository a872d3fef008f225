// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// watches maps events to the VectorSidecars that depend on the changed object.
type watches struct {
	sidecars   sidecarLister
	workloads  *workloadcache.Cache
	namespaces *namespaces
	memory     *state.Memory
	notifier   *notify.Notifier
	leftovers  *leftoverSignal
	sets       *overlaySets
	clusters   *clusters
	apis       discovery.ServerResourcesInterface
	kinds      *workloadWatch
}

// add adds the watches of workloads, VectorSidecars, ConfigMaps and namespaces to a controller.
func (w *watches) add(builder *ctrlbuilder.Builder) *ctrlbuilder.Builder {
	builder = w.namespaces.watch(builder)
	builder = w.clusters.watch(w.sets.watch(builder), w.namespaces)
	return builder.
		Watches(&v1alpha1.VectorSidecar{}, handler.EnqueueRequestsFromMapFunc(w.neighbors), ctrlbuilder.WithPredicates(laterChanges())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(w.sidecarsOfConfigMap), ctrlbuilder.WithPredicates(configMapChanges())).
		WatchesRawSource(w.notifier.Source()).
		WatchesRawSource(&workloadEvents{concerns: w.sidecarsOfWorkload, workloadAPIs: &workloadAPIs{
			apis: w.apis, listing: w.sidecarsListing, notifier: w.notifier, workloadWatch: w.kinds,
		}})
}

// sidecarsListing returns the VectorSidecars that list a workload kind.
func (w *watches) sidecarsListing(ctx context.Context, kind *workload.Kind) []types.NamespacedName {
	sidecars := w.sidecars.list(ctx, "")
	return keysOf(slices.DeleteFunc(slices.Clone(sidecars), func(sidecar v1alpha1.VectorSidecar) bool {
		return !slices.Contains(sidecar.Spec.Kinds(), v1alpha1.WorkloadKind(kind.Kind))
	}))
}

// sidecarsOfWorkload returns the VectorSidecars that may match a workload in one of its states. It also returns the
// VectorSidecars that own fields of the workload.
func (w *watches) sidecarsOfWorkload(ctx context.Context, states ...*workloadcache.Record) []types.NamespacedName {
	sidecarKeys := map[types.NamespacedName]bool{}
	labels, managers := map[string]bool{workloadcache.AnyLabels: true}, map[string]bool{}
	for _, record := range states {
		addKeys(labels, record.Labels().Keys())
		if runner := record.Runner(); runner != nil {
			addKeys(labels, runner.Labels().Keys())
		}
		addKeys(managers, record.Managers())
		for _, owner := range w.memory.Writers(record.UID) {
			sidecarKeys[owner] = true
		}
	}
	w.addMatching(ctx, sidecarKeys, labels, states)
	for manager := range managers {
		owners := keysOf(w.sidecars.having(ctx, states[0].Namespace, indexManager, manager))
		for _, owner := range owners {
			sidecarKeys[owner] = true
		}
		if len(owners) == 0 {
			w.leftovers.wake()
		}
	}
	return slices.Collect(maps.Keys(sidecarKeys))
}

func addKeys(set map[string]bool, keys []string) {
	for _, key := range keys {
		set[key] = true
	}
}

// addMatching adds the VectorSidecars that have one of the labels in the index and match one of the states of a
// workload.
func (w *watches) addMatching(ctx context.Context, sidecarKeys map[types.NamespacedName]bool, labels map[string]bool, states []*workloadcache.Record) {
	for _, sidecar := range w.sidecars.having(ctx, states[0].Namespace, indexSelector, slices.Collect(maps.Keys(labels))...) {
		selector, err := workload.NewSelector(&sidecar)
		matches := func(record *workloadcache.Record) bool { return record.IsSelectedBy(selector) }
		if err == nil && slices.ContainsFunc(states, matches) {
			sidecarKeys[client.ObjectKeyFromObject(&sidecar)] = true
		}
	}
}

// sidecarsOfConfigMap returns the VectorSidecars that read a ConfigMap and the VectorSidecar that the ConfigMap was
// generated for.
func (w *watches) sidecarsOfConfigMap(ctx context.Context, object client.Object) []reconcile.Request {
	name := client.ObjectKeyFromObject(object)
	keys := w.memory.Referrers(name)
	if label := object.GetLabels()[meta.LabelSidecar]; label != "" {
		keys = append(keys, keysOf(w.sidecars.having(ctx, name.Namespace, indexLabel, label))...)
	}
	return requests(keys)
}

// neighbors returns the VectorSidecars that may select the same workloads as the changed VectorSidecar. The oldest
// VectorSidecar takes precedence, so the changed one may affect the others.
func (w *watches) neighbors(ctx context.Context, object client.Object) []reconcile.Request {
	w.leftovers.claim()
	candidates := w.workloads.WithLabels(object.GetNamespace(), selectorKeys(object))
	labels := func(n int) iter.Seq2[string, string] { return candidates[n].Labels().All() }
	return requests(keysOf(w.sidecars.selecting(ctx, object.GetNamespace(), len(candidates), labels)))
}
