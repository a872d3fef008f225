// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// sidecarLister finds VectorSidecars in the cache. It also finds the ClusterVectorSidecars in each namespace as
// VectorSidecars.
type sidecarLister struct {
	client   client.Reader
	clusters *clusterLister
}

// get returns a VectorSidecar by name, nil if it does not exist.
func (l sidecarLister) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.VectorSidecar, error) {
	if cluster, isCluster := meta.ParseClusterName(name.Name); isCluster {
		return l.clusters.get(ctx, name.Namespace, cluster)
	}
	sidecar := &v1alpha1.VectorSidecar{}
	if err := l.client.Get(ctx, name, sidecar); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return sidecar, nil
}

// orOffered counts all ClusterVectorSidecars as existing if the kind is not enabled, because an installation that
// enables the kind cleans up after them.
func (l sidecarLister) orOffered(exists func(namespace, manager string) bool) func(namespace, manager string) bool {
	if l.clusters != nil {
		return exists
	}
	return companion.OrCluster(exists)
}

// manyLabels is the number of labels above which a check of every VectorSidecar of a namespace is cheaper than a lookup
// of each label.
const manyLabels = 200

// selecting returns the VectorSidecars that may select one of the workloads of a namespace. The result may include other
// VectorSidecars.
func (l sidecarLister) selecting(ctx context.Context, namespace string, records []*workloadcache.Record) []v1alpha1.VectorSidecar {
	keys := map[string]bool{workloadcache.AnyLabels: true}
	for _, record := range records {
		addKeys(keys, record.Labels().Keys())
		if runner := record.Runner(); runner != nil {
			addKeys(keys, runner.Labels().Keys())
		}
		if len(keys) > manyLabels {
			return l.list(ctx, namespace)
		}
	}
	return l.having(ctx, namespace, indexSelector, slices.Collect(maps.Keys(keys))...)
}

func addKeys(set map[string]bool, keys []string) {
	for _, key := range keys {
		set[key] = true
	}
}

// list returns the VectorSidecars of a namespace from the cache, including ClusterVectorSidecars. An empty name means
// all namespaces.
func (l sidecarLister) list(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	return append(l.own(ctx, namespace), l.clusters.in(ctx, namespace)...)
}

// keys returns the keys of all VectorSidecars and ClusterVectorSidecars. The key of a ClusterVectorSidecar has no
// namespace.
func (l sidecarLister) keys(ctx context.Context) []types.NamespacedName {
	keys := keysOf(l.own(ctx, ""))
	for _, cluster := range l.clusters.all(ctx) {
		keys = append(keys, clusterKey(cluster.Name))
	}
	return keys
}

// readers returns the keys of all reconciles: VectorSidecars, ClusterVectorSidecars, and their namespaces.
func (l sidecarLister) readers(ctx context.Context) []types.NamespacedName {
	keys := keysOf(l.list(ctx, ""))
	for _, cluster := range l.clusters.all(ctx) {
		keys = append(keys, clusterKey(cluster.Name))
	}
	return keys
}

// having returns the VectorSidecars of a namespace that have one of the keys in an index, each of them once.
func (l sidecarLister) having(ctx context.Context, namespace, index string, keys ...string) []v1alpha1.VectorSidecar {
	var sidecars []v1alpha1.VectorSidecar
	added := map[types.UID]bool{}
	for _, key := range keys {
		for _, sidecar := range l.own(ctx, namespace, client.MatchingFields{index: key}) {
			if !added[sidecar.UID] {
				added[sidecar.UID] = true
				sidecars = append(sidecars, sidecar)
			}
		}
	}
	return append(sidecars, l.clusters.having(ctx, namespace, index, keys...)...)
}

// own returns the VectorSidecars of a namespace without ClusterVectorSidecars. An empty name means all namespaces. The
// caller must not change them.
func (l sidecarLister) own(ctx context.Context, namespace string, options ...client.ListOption) []v1alpha1.VectorSidecar {
	var list v1alpha1.VectorSidecarList
	if err := l.client.List(ctx, &list, append(options, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing VectorSidecars")
	}
	return list.Items
}

// keysIn returns the keys of the VectorSidecars of a namespace, without ClusterVectorSidecars.
func (l sidecarLister) keysIn(ctx context.Context, namespace string) []types.NamespacedName {
	return keysOf(l.own(ctx, namespace))
}
