// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// indexSelector finds VectorSidecars by a label that their selector requires.
	indexSelector = "selector"
	// indexManager finds VectorSidecars by their field manager.
	indexManager = "manager"
	// indexLabel finds VectorSidecars by the label of their companions: the name, or its digest if
	// it is too long for a label.
	indexLabel = "label"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		name   string
		keys   client.IndexerFunc
	}{
		{&v1alpha1.VectorSidecar{}, indexSelector, selectorKeys},
		{&v1alpha1.VectorSidecar{}, indexManager, func(object client.Object) []string {
			return []string{meta.Manager(object.GetName())}
		}},
		{&v1alpha1.VectorSidecar{}, indexLabel, func(object client.Object) []string {
			return []string{meta.LabelValue(object.GetName())}
		}},
	} {
		if err := indexer.IndexField(ctx, index.object, index.name, index.keys); err != nil {
			return fmt.Errorf("index %q: %w", index.name, err)
		}
	}
	return nil
}

// selectorKeys returns labels of which every matching workload has at least one: the first required
// pair, or the pairs that an In expression allows, or AnyLabels. A VectorSidecar that is too large
// for the cache selects nothing.
func selectorKeys(object client.Object) []string {
	sidecar, ok := object.(*v1alpha1.VectorSidecar)
	if !ok || desired.IsReduced(sidecar) {
		return nil
	}
	selector := &sidecar.Spec.Selector
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		return []string{workloadcache.Pair(key, selector.MatchLabels[key])}
	}
	for _, expression := range selector.MatchExpressions {
		if expression.Operator == metav1.LabelSelectorOpIn {
			var keys []string
			for _, value := range expression.Values {
				keys = append(keys, workloadcache.Pair(expression.Key, value))
			}
			return keys
		}
	}
	return []string{workloadcache.AnyLabels}
}

// sidecarLister finds VectorSidecars in the cache, and what ClusterVectorSidecars are in namespaces.
type sidecarLister struct {
	client   client.Reader
	clusters *clusterLister
}

// get returns the VectorSidecar of a name, nil if there is none.
func (l sidecarLister) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.VectorSidecar, error) {
	if cluster, isCluster := meta.ClusterOf(name.Name); isCluster {
		return l.clusters.get(ctx, name.Namespace, cluster)
	}
	sidecar := &v1alpha1.VectorSidecar{}
	if err := l.client.Get(ctx, name, sidecar); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return sidecar, nil
}

// orOffered counts all ClusterVectorSidecars as there, if the kind is not offered: whoever offers it
// takes care of what is left of them.
func (l sidecarLister) orOffered(exists func(namespace, manager string) bool) func(namespace, manager string) bool {
	if l.clusters != nil {
		return exists
	}
	return companion.OrCluster(exists)
}

// manyLabels is the number of labels from which it is cheaper to look at every VectorSidecar of a
// namespace than to look up each label.
const manyLabels = 200

// selecting returns the VectorSidecars that may select one of count workloads; labels returns the
// labels of the nth one. It may return more than those.
func (l sidecarLister) selecting(ctx context.Context, namespace string, count int, labels func(int) iter.Seq2[string, string]) []v1alpha1.VectorSidecar {
	keys := map[string]bool{workloadcache.AnyLabels: true}
	for n := range count {
		for key, value := range labels(n) {
			keys[workloadcache.Pair(key, value)] = true
		}
		if len(keys) > manyLabels {
			return l.list(ctx, namespace, "", "")
		}
	}
	var found []v1alpha1.VectorSidecar
	seen := map[types.UID]bool{}
	for key := range keys {
		for _, sidecar := range l.list(ctx, namespace, indexSelector, key) {
			if !seen[sidecar.UID] {
				seen[sidecar.UID] = true
				found = append(found, sidecar)
			}
		}
	}
	return found
}

// list reads VectorSidecars from the cache: those of a namespace, or of all if "", and those with
// an index key, or all if "". With them are the ClusterVectorSidecars in these namespaces.
func (l sidecarLister) list(ctx context.Context, namespace, index, key string) []v1alpha1.VectorSidecar {
	options := []client.ListOption{client.InNamespace(namespace), client.UnsafeDisableDeepCopy}
	if index != "" {
		options = append(options, client.MatchingFields{index: key})
	}
	var found v1alpha1.VectorSidecarList
	if err := l.client.List(ctx, &found, options...); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing VectorSidecars")
	}
	return append(found.Items, l.clusters.in(ctx, namespace, index, key)...)
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
