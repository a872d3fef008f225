// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// ownChanges lets a VectorSidecar's own events through when its spec changed, its
// deletion began, or somebody asks for a pass; its status is ours.
func ownChanges() ctrlbuilder.ForOption {
	return ctrlbuilder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, asksAnew()))
}

// laterChanges leaves out what is there in the beginning, when each has a pass of
// its own anyway.
func laterChanges() predicate.Predicate {
	return predicate.And(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	})
}

// addWatches maps what happens to workloads, ConfigMaps and namespaces to the
// VectorSidecars that it concerns.
func (r *Reconciler) addWatches(builder *ctrlbuilder.Builder, cached cache.Cache) *ctrlbuilder.Builder {
	builder = r.namespaces.watch(builder, handler.EnqueueRequestsFromMapFunc(r.sidecarsOfNamespace))
	return builder.
		Watches(&v1alpha1.VectorSidecar{}, handler.EnqueueRequestsFromMapFunc(r.neighbours), ctrlbuilder.WithPredicates(laterChanges())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.sidecarsOfConfigMap), ctrlbuilder.WithPredicates(configMapChanges())).
		WatchesRawSource(r.anew.source()).
		WatchesRawSource(&workloads{cache: cached, fleet: r.fleet, concerns: r.sidecarsOfWorkload, awaits: r.memory.IsAwaited, now: r.now})
}

func configMapChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isOld := e.ObjectOld.(*corev1.ConfigMap)
		after, isNew := e.ObjectNew.(*corev1.ConfigMap)
		return !isOld || !isNew || before.Annotations[companion.ContentDigest] != after.Annotations[companion.ContentDigest] || !maps.Equal(before.Data, after.Data) || !reflect.DeepEqual(before.BinaryData, after.BinaryData) ||
			before.Labels[meta.LabelTemplateSet] != after.Labels[meta.LabelTemplateSet]
	}}
}

// namespaceLabels are those of a Namespace that a decision depends on.
var namespaceLabels = []string{meta.LabelEnvironment, api.EnforceLevelLabel, api.EnforceVersionLabel}

// isAnother tells whether a decision may be another one with these labels.
func isAnother(before, after map[string]string) bool {
	return slices.ContainsFunc(namespaceLabels, func(label string) bool { return before[label] != after[label] })
}

func environmentChanges() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return isAnother(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
		},
	}
}

// sidecarsOfWorkload finds those that may match a workload in one of its states, and
// those that own something in it.
func (r *Reconciler) sidecarsOfWorkload(ctx context.Context, states ...*workloadcache.Record) []reconcile.Request {
	found := map[types.NamespacedName]bool{}
	asked := map[string]bool{}
	isNew := func(key string) bool {
		before := asked[key]
		asked[key] = true
		return !before
	}
	for _, record := range states {
		for _, key := range append(record.Labels().Keys(), workloadcache.AnyLabels) {
			if isNew(indexSelector + key) {
				r.addMatching(ctx, found, key, states)
			}
		}
		for _, manager := range record.Managers() {
			if !isNew(indexManager + manager) {
				continue
			}
			owners := keysOf(r.list(ctx, record.Namespace, indexManager, manager))
			for _, owner := range owners {
				found[owner] = true
			}
			if len(owners) == 0 {
				r.sweeper.wake()
			}
		}
		for _, owner := range r.memory.Writers(record.UID) {
			found[owner] = true
		}
	}
	return requests(slices.Collect(maps.Keys(found)))
}

// addMatching adds those that have a key in the index and match one of some workloads
// of a namespace.
func (r *Reconciler) addMatching(ctx context.Context, found map[types.NamespacedName]bool, key string, workloads []*workloadcache.Record) {
	for _, sidecar := range r.list(ctx, workloads[0].Namespace, indexSelector, key) {
		selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
		matches := func(record *workloadcache.Record) bool { return selector.Matches(record.Labels()) }
		if err == nil && slices.ContainsFunc(workloads, matches) {
			found[client.ObjectKeyFromObject(&sidecar)] = true
		}
	}
}

// sidecarsOfConfigMap finds those whose configuration is in a ConfigMap, the one
// that it was made for, and all of them for what the platform gives.
func (r *Reconciler) sidecarsOfConfigMap(ctx context.Context, object client.Object) []reconcile.Request {
	name := client.ObjectKeyFromObject(object)
	if all := r.sidecarsOfPlatform(ctx, object); len(all) > 0 {
		return all
	}
	found := r.memory.Referrers(name)
	if label := object.GetLabels()[meta.LabelSidecar]; label != "" {
		found = append(found, keysOf(r.list(ctx, name.Namespace, indexLabel, label))...)
	}
	return requests(found)
}

// neighbours are the VectorSidecars that may select a workload which this one
// selects: the oldest one's wish decides what the others may do.
func (r *Reconciler) neighbours(ctx context.Context, object client.Object) []reconcile.Request {
	r.sweeper.claim()
	candidates := r.fleet.WithLabels(object.GetNamespace(), selectorKeys(object))
	labels := func(n int) iter.Seq2[string, string] { return candidates[n].Labels().All() }
	return requests(keysOf(r.selecting(ctx, object.GetNamespace(), len(candidates), labels)))
}

// manyLabels is from how many labels on it is cheaper to look at every VectorSidecar
// of a namespace than to ask who requires one of them.
const manyLabels = 200

// selecting finds the VectorSidecars that may select one of some workloads, whose
// labels are given by number. It may find more than those.
func (r *Reconciler) selecting(ctx context.Context, namespace string, count int, labels func(int) iter.Seq2[string, string]) []v1alpha1.VectorSidecar {
	keys := map[string]bool{workloadcache.AnyLabels: true}
	for n := range count {
		for key, value := range labels(n) {
			keys[workloadcache.Pair(key, value)] = true
		}
		if len(keys) > manyLabels {
			return r.list(ctx, namespace, "", "")
		}
	}
	var found []v1alpha1.VectorSidecar
	seen := map[types.UID]bool{}
	for key := range keys {
		for _, sidecar := range r.list(ctx, namespace, indexSelector, key) {
			if !seen[sidecar.UID] {
				seen[sidecar.UID] = true
				found = append(found, sidecar)
			}
		}
	}
	return found
}

func (r *Reconciler) sidecarsOfNamespace(ctx context.Context, object client.Object) []reconcile.Request {
	return requests(keysOf(r.list(ctx, object.GetName(), "", "")))
}

// list reads VectorSidecars from the cache: of a namespace or of all ("") and by
// the key of an index or all of them ("").
func (r *Reconciler) list(ctx context.Context, namespace, index, key string) []v1alpha1.VectorSidecar {
	options := []client.ListOption{client.InNamespace(namespace), client.UnsafeDisableDeepCopy}
	if index != "" {
		options = append(options, client.MatchingFields{index: key})
	}
	var found v1alpha1.VectorSidecarList
	if err := r.client.List(ctx, &found, options...); err != nil {
		// A cache gives an error only while it is being stopped.
		log.FromContext(ctx).Error(err, "listing VectorSidecars")
	}
	return found.Items
}

func keysOf(sidecars []v1alpha1.VectorSidecar) []types.NamespacedName {
	var keys []types.NamespacedName
	for i := range sidecars {
		keys = append(keys, client.ObjectKeyFromObject(&sidecars[i]))
	}
	return keys
}

func requests(names []types.NamespacedName) []reconcile.Request {
	var all []reconcile.Request
	for _, name := range names {
		all = append(all, reconcile.Request{NamespacedName: name})
	}
	return all
}
