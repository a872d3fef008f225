// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sidecarcache finds VectorSidecars and ClusterVectorSidecars in the cache. The input is a namespace, a name or the key
// of an index; the output is objects, or the keys of their reconciles. A ClusterVectorSidecar is also found as the
// VectorSidecar of each namespace.
package sidecarcache

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Lister finds VectorSidecars and ClusterVectorSidecars in the cache.
type Lister struct {
	cached client.Reader
	live   *livelist.Client
	// namespace is the operator namespace.
	namespace string
	// hasClusters is true if ClusterVectorSidecars are enabled. Otherwise, the Lister does not find any.
	hasClusters bool

	mu sync.Mutex
	// written are the last writes of statuses of ClusterVectorSidecars, by name.
	written map[string]*workloadcache.LastWrite[v1alpha1.ClusterVectorSidecar]
}

// New returns a Lister for the operator namespace.
func New(cached client.Reader, live *livelist.Client, namespace string, hasClusters bool) *Lister {
	return &Lister{cached: cached, live: live, namespace: namespace, hasClusters: hasClusters, written: map[string]*workloadcache.LastWrite[v1alpha1.ClusterVectorSidecar]{}}
}

// HasClusters reports whether ClusterVectorSidecars are enabled.
func (l *Lister) HasClusters() bool { return l.hasClusters }

// Get returns a VectorSidecar by name, or nil if it does not exist. For the name of a ClusterVectorSidecar in a
// namespace, it returns the VectorSidecar that stands for the ClusterVectorSidecar. It reads a VectorSidecar that is not
// cached whole from the API server.
func (l *Lister) Get(ctx context.Context, name types.NamespacedName) (*v1alpha1.VectorSidecar, error) {
	if cluster, isCluster := meta.ParseClusterName(name.Name); isCluster {
		return l.getInNamespace(ctx, name.Namespace, cluster)
	}
	sidecar := &v1alpha1.VectorSidecar{}
	if err := l.cached.Get(ctx, name, sidecar); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return l.Complete(ctx, sidecar)
}

// Complete returns a VectorSidecar from the cache with all its content. It returns nil if the cache omits content and the
// VectorSidecar does not exist anymore. The live VectorSidecar may be newer than the cached one.
func (l *Lister) Complete(ctx context.Context, cached *v1alpha1.VectorSidecar) (*v1alpha1.VectorSidecar, error) {
	if cached.OmittedBytes == 0 {
		return cached, nil
	}
	sidecar := &v1alpha1.VectorSidecar{}
	exists, err := l.live.Find(ctx, &v1alpha1.VectorSidecarList{}, client.ObjectKeyFromObject(cached), sidecar)
	if err != nil {
		return nil, fmt.Errorf("reading large VectorSidecar %s: %w", client.ObjectKeyFromObject(cached), err)
	}
	if !exists {
		return nil, nil //nolint:nilnil // A missing object is not an error.
	}
	return desired.DropOversizedParts(sidecar), nil
}

// WithDisabledClusters returns a check like exists. If ClusterVectorSidecars are not enabled, all of them count as
// existing, because an installation that enables them cleans up after them.
func (l *Lister) WithDisabledClusters(exists func(namespace, manager string) bool) func(namespace, manager string) bool {
	if l.hasClusters {
		return exists
	}
	return companion.AssumeClusters(exists)
}

// manyLabels is the number of labels above which a check of every VectorSidecar of a namespace is cheaper than a lookup
// of each label.
const manyLabels = 200

// ListSelecting returns the VectorSidecars of a namespace that select at least one of the workloads.
func (l *Lister) ListSelecting(ctx context.Context, namespace string, records []*workloadcache.Record) []v1alpha1.VectorSidecar {
	isSelecting := func(sidecar *v1alpha1.VectorSidecar) bool { return workloadcache.IsAnySelectedBy(records, sidecar) }
	keys := map[string]bool{workloadcache.AnyLabels: true}
	for _, record := range records {
		addPairs(keys, record.Labels())
		if runner := record.Runner(); runner != nil {
			addPairs(keys, runner.Labels())
		}
		if len(keys) > manyLabels {
			return slices.DeleteFunc(l.ListIn(ctx, namespace), func(sidecar v1alpha1.VectorSidecar) bool { return !isSelecting(&sidecar) })
		}
	}
	return l.listByIndex(ctx, namespace, IndexSelector, slices.Collect(maps.Keys(keys)), isSelecting)
}

// addPairs adds the keys of labels in IndexSelector to a set.
func addPairs(set map[string]bool, labels map[string]string) {
	for key, value := range labels {
		set[workloadcache.LabelKey(key, value)] = true
	}
}

// ListIn returns the VectorSidecars of a namespace from the cache, including ClusterVectorSidecars. An empty name means
// all namespaces.
func (l *Lister) ListIn(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	return append(l.listSidecars(ctx, namespace), l.clustersIn(ctx, namespace)...)
}

// Keys returns the keys of all VectorSidecars and ClusterVectorSidecars. The key of a ClusterVectorSidecar has no
// namespace.
func (l *Lister) Keys(ctx context.Context) []types.NamespacedName {
	keys := Keys(l.listSidecars(ctx, ""))
	for _, cluster := range l.Clusters(ctx) {
		keys = append(keys, clusterwide.ClusterKey(cluster.Name))
	}
	return keys
}

// AllKeys returns the keys of all reconciles: of VectorSidecars, of ClusterVectorSidecars, and of
// ClusterVectorSidecars in their namespaces.
func (l *Lister) AllKeys(ctx context.Context) []types.NamespacedName {
	return append(l.Keys(ctx), Keys(l.clustersIn(ctx, ""))...)
}

// ListByIndex returns the VectorSidecars of a namespace that have one of the keys in an index, each of them once.
func (l *Lister) ListByIndex(ctx context.Context, namespace, index string, keys ...string) []v1alpha1.VectorSidecar {
	return l.listByIndex(ctx, namespace, index, keys, func(*v1alpha1.VectorSidecar) bool { return true })
}

// listByIndex returns the same VectorSidecars as ListByIndex, but only those that match. Many VectorSidecars may have
// the key of a common label.
func (l *Lister) listByIndex(ctx context.Context, namespace, index string, keys []string, matches func(*v1alpha1.VectorSidecar) bool) (sidecars []v1alpha1.VectorSidecar) {
	added := map[types.NamespacedName]bool{}
	add := func(candidates []v1alpha1.VectorSidecar) {
		for i := range candidates {
			if candidate := &candidates[i]; matches(candidate) && !added[client.ObjectKeyFromObject(candidate)] {
				added[client.ObjectKeyFromObject(candidate)] = true
				sidecars = append(sidecars, *candidate)
			}
		}
	}
	for _, key := range keys {
		add(l.listSidecars(ctx, namespace, client.MatchingFields{index: key}))
	}
	add(l.clustersByIndex(ctx, namespace, index, keys...))
	return sidecars
}

// listSidecars returns the VectorSidecars of a namespace without ClusterVectorSidecars. An empty name means all namespaces. The
// caller must not change them.
func (l *Lister) listSidecars(ctx context.Context, namespace string, options ...client.ListOption) []v1alpha1.VectorSidecar {
	var list v1alpha1.VectorSidecarList
	if err := l.cached.List(ctx, &list, append(options, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing VectorSidecars")
	}
	return list.Items
}

// Sidecars returns all VectorSidecars, without ClusterVectorSidecars. The caller must not change them.
func (l *Lister) Sidecars(ctx context.Context) []v1alpha1.VectorSidecar {
	return l.listSidecars(ctx, "")
}

// KeysIn returns the keys of the VectorSidecars of a namespace, without ClusterVectorSidecars.
func (l *Lister) KeysIn(ctx context.Context, namespace string) []types.NamespacedName {
	return Keys(l.listSidecars(ctx, namespace))
}
