// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarcache

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Clusters returns all ClusterVectorSidecars in the cache, with their last written statuses. The caller must not
// change them.
func (l *Lister) Clusters(ctx context.Context) []v1alpha1.ClusterVectorSidecar {
	if !l.hasClusters {
		return nil
	}
	var list v1alpha1.ClusterVectorSidecarList
	if err := l.cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing ClusterVectorSidecars")
	}
	for i := range list.Items {
		l.applyWritten(&list.Items[i])
	}
	return list.Items
}

// clustersIn returns the VectorSidecars that stand for ClusterVectorSidecars in a namespace, or in all namespaces if
// the name is "".
func (l *Lister) clustersIn(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	return l.filterClusters(ctx, namespace, false, func(*v1alpha1.ClusterVectorSidecar) bool { return true })
}

// clustersByIndex returns the VectorSidecars that stand for ClusterVectorSidecars in a namespace, for the
// ClusterVectorSidecars that have one of the keys in an index. Unless the index is IndexSelector, it includes
// namespaces that are not selected, because the ClusterVectorSidecar may own objects there.
func (l *Lister) clustersByIndex(ctx context.Context, namespace, index string, keys ...string) []v1alpha1.VectorSidecar {
	return l.filterClusters(ctx, namespace, index != IndexSelector, func(cluster *v1alpha1.ClusterVectorSidecar) bool {
		return slices.ContainsFunc(clusterKeys(index, cluster), func(key string) bool { return slices.Contains(keys, key) })
	})
}

// filterClusters returns a VectorSidecar for each matching ClusterVectorSidecar and each namespace that it selects,
// in one namespace or, if the name is "", in all. If isByOwner is true, it includes namespaces that are not selected,
// except those that are being deleted.
func (l *Lister) filterClusters(ctx context.Context, namespace string, isByOwner bool, matches func(*v1alpha1.ClusterVectorSidecar) bool) []v1alpha1.VectorSidecar {
	var sidecars []v1alpha1.VectorSidecar
	var namespaces []metav1.PartialObjectMetadata
	clusters := l.Clusters(ctx)
	for i := range clusters {
		if !matches(&clusters[i]) {
			continue
		}
		if namespaces == nil {
			namespaces = l.Namespaces(ctx, namespace)
		}
		selector, _ := l.Selector(&clusters[i])
		for n := range namespaces {
			isSelected := selector.Selects(&namespaces[n])
			if isSelected || isByOwner && namespaces[n].DeletionTimestamp == nil {
				sidecars = append(sidecars, *selector.NewSidecar(&clusters[i], namespaces[n].Name, isSelected))
			}
		}
	}
	return sidecars
}

// getInNamespace returns the VectorSidecar that stands for a ClusterVectorSidecar in a namespace. It returns nil if
// one of the two does not exist. It also returns nil if the namespace is being deleted, because the operator neither
// acts there nor waits for it.
func (l *Lister) getInNamespace(ctx context.Context, namespace, name string) (*v1alpha1.VectorSidecar, error) {
	cluster, err := l.Cluster(ctx, name)
	if err != nil || cluster == nil {
		return nil, err
	}
	for _, object := range l.Namespaces(ctx, namespace) {
		if object.DeletionTimestamp == nil {
			selector, _ := l.Selector(cluster)
			return selector.NewSidecar(cluster, namespace, selector.Selects(&object)), nil
		}
	}
	return nil, nil //nolint:nilnil // A missing object is not an error.
}

// Cluster returns a copy of a ClusterVectorSidecar, or nil if it does not exist.
func (l *Lister) Cluster(ctx context.Context, name string) (*v1alpha1.ClusterVectorSidecar, error) {
	if !l.hasClusters {
		return nil, nil //nolint:nilnil // A disabled kind does not have objects.
	}
	cluster := &v1alpha1.ClusterVectorSidecar{}
	if err := l.cached.Get(ctx, types.NamespacedName{Name: name}, cluster); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	l.applyWritten(cluster)
	return cluster, nil
}

// LiveClusters lists all ClusterVectorSidecars from the API server, each with its name and UID only.
func (l *Lister) LiveClusters(ctx context.Context, live *livelist.Client) ([]v1alpha1.ClusterVectorSidecar, error) {
	if !l.hasClusters {
		return nil, nil
	}
	clusters, err := livelist.Collect(ctx, live, livelist.Metadata(v1alpha1.GroupVersion.WithKind("ClusterVectorSidecar")), func(listed client.Object) (v1alpha1.ClusterVectorSidecar, bool) {
		return v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: listed.GetName(), UID: listed.GetUID()}}, true
	})
	if err != nil {
		return nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	return clusters, nil
}

// Selector returns the selector of a ClusterVectorSidecar. A selector that cannot be parsed because of an invalid label
// value selects nothing. The error then has the reason.
func (l *Lister) Selector(cluster *v1alpha1.ClusterVectorSidecar) (clusterwide.Selector, error) {
	return clusterwide.NewSelector(&cluster.Spec, l.namespace)
}

// Scopes returns the scopes of all ClusterVectorSidecars.
func (l *Lister) Scopes(ctx context.Context) desired.ParentScopes {
	return clusterwide.NewParentScopes(l.Clusters(ctx))
}

// Namespaces returns the metadata of a namespace if it exists, or of all namespaces if the name is "".
func (l *Lister) Namespaces(ctx context.Context, name string) []metav1.PartialObjectMetadata {
	if name != "" {
		namespace := clusterwide.NewNamespaceMetadata("")
		if err := l.cached.Get(ctx, types.NamespacedName{Name: name}, namespace, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		return []metav1.PartialObjectMetadata{*namespace}
	}
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(clusterwide.NewNamespaceMetadata("").GroupVersionKind())
	list.Kind += "List"
	if err := l.cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing namespaces")
	}
	return list.Items
}

// NamespacesByWave returns the namespaces that a ClusterVectorSidecar selects, by the number of their wave. The error
// says why the selector is invalid. The namespaces are unknown then.
func (l *Lister) NamespacesByWave(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, defaultEnvironment string, platform *desired.Platform) (map[int][]string, error) {
	selector, err := l.Selector(cluster)
	if err != nil {
		return nil, err
	}
	namespaces := map[int][]string{}
	objects := l.Namespaces(ctx, "")
	for i := range objects {
		if selector.Selects(&objects[i]) {
			wave := platform.WaveFor(&cluster.Spec.VectorSidecarSpec, objects[i].Labels, defaultEnvironment)
			namespaces[wave] = append(namespaces[wave], objects[i].Name)
		}
	}
	return namespaces, nil
}

// NamespacesWithObjects returns the namespaces that have companions of a ClusterVectorSidecar, or an OverlaySet with its
// sidecar if the API server injects from OverlaySets.
func (l *Lister) NamespacesWithObjects(ctx context.Context, cluster string, hasOverlaySets bool) (namespaces []string) {
	name := meta.ClusterSidecarName(cluster)
	var companions corev1.ConfigMapList
	if err := l.cached.List(ctx, &companions, client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(name)}, client.UnsafeDisableDeepCopy); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing companions")
	}
	for i := range companions.Items {
		namespaces = append(namespaces, companions.Items[i].Namespace)
	}
	if !hasOverlaySets {
		return namespaces
	}
	var overlaySets v1alpha1.OverlaySetList
	if err := l.cached.List(ctx, &overlaySets, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing OverlaySets")
	}
	for i := range overlaySets.Items {
		if slices.ContainsFunc(overlaySets.Items[i].Spec.Overlays, func(overlay v1alpha1.Overlay) bool { return overlay.VectorSidecar == name }) {
			namespaces = append(namespaces, overlaySets.Items[i].Namespace)
		}
	}
	return namespaces
}

// clusterKeys returns the keys of a ClusterVectorSidecar in an index of VectorSidecars: the keys of the VectorSidecar
// that it stands for.
func clusterKeys(index string, cluster *v1alpha1.ClusterVectorSidecar) []string {
	name := meta.ClusterSidecarName(cluster.Name)
	switch index {
	case IndexManager:
		return []string{meta.Manager(name)}
	case IndexLabel:
		return []string{meta.LabelValue(name)}
	}
	return SelectorKeys(clusterwide.NewSidecarWithoutNamespace(cluster))
}

// SetWritten records a ClusterVectorSidecar after a write of its status. The reconciles of all namespaces follow that
// status before the cache shows it.
func (l *Lister) SetWritten(cluster *v1alpha1.ClusterVectorSidecar) {
	l.mu.Lock()
	defer l.mu.Unlock()
	write := &workloadcache.LastWrite[v1alpha1.ClusterVectorSidecar]{}
	write.Set(cluster, cluster.DeepCopy())
	l.written[cluster.Name] = write
}

// ForgetWritten drops the last write of a deleted ClusterVectorSidecar.
func (l *Lister) ForgetWritten(cluster string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.written, cluster)
}

// applyWritten gives a ClusterVectorSidecar from the cache the last written status, unless the cache has a later
// version. It also sets the finalizers and the resource version of that write, because writes of finalizers need both
// of one version.
func (l *Lister) applyWritten(cluster *v1alpha1.ClusterVectorSidecar) {
	l.mu.Lock()
	defer l.mu.Unlock()
	write := l.written[cluster.Name]
	if write == nil {
		return
	}
	if written, ok := write.Get(cluster); ok {
		written.Status.DeepCopyInto(&cluster.Status)
		cluster.ResourceVersion, cluster.Finalizers = written.ResourceVersion, slices.Clone(written.Finalizers)
	}
}
