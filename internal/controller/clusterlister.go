// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// clusterLister reads ClusterVectorSidecars from the cache, and derives their VectorSidecars in namespaces. A nil
// clusterLister returns none, because the kind is disabled.
type clusterLister struct {
	client client.Reader
	// home is the operator namespace.
	home string
	// states has the statuses that the cache does not show yet.
	states *clusterMemory
}

// all returns all ClusterVectorSidecars. The caller must not change them.
func (l *clusterLister) all(ctx context.Context) []v1alpha1.ClusterVectorSidecar {
	if l == nil {
		return nil
	}
	var list v1alpha1.ClusterVectorSidecarList
	if err := l.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		// A cache returns an error only while it is shutting down.
		log.FromContext(ctx).Error(err, "listing ClusterVectorSidecars")
	}
	for i := range list.Items {
		l.states.catchUp(&list.Items[i])
	}
	return list.Items
}

// in returns the VectorSidecars that ClusterVectorSidecars stand for in a namespace, or in all namespaces if the name
// is "".
func (l *clusterLister) in(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	return l.those(ctx, namespace, false, func(*v1alpha1.ClusterVectorSidecar) bool { return true })
}

// having is like in, but only for ClusterVectorSidecars that have one of the keys in the index. Unless the index is
// indexSelector, it includes namespaces that are not selected, because the ClusterVectorSidecar may own objects
// there.
func (l *clusterLister) having(ctx context.Context, namespace, index string, keys ...string) []v1alpha1.VectorSidecar {
	return l.those(ctx, namespace, index != indexSelector, func(cluster *v1alpha1.ClusterVectorSidecar) bool {
		return slices.ContainsFunc(clusterKeys(index, cluster), func(key string) bool { return slices.Contains(keys, key) })
	})
}

func (l *clusterLister) those(ctx context.Context, namespace string, isByOwner bool, matches func(*v1alpha1.ClusterVectorSidecar) bool) []v1alpha1.VectorSidecar {
	var sidecars []v1alpha1.VectorSidecar
	var namespaces []metav1.PartialObjectMetadata
	clusters := l.all(ctx)
	for i := range clusters {
		if !matches(&clusters[i]) {
			continue
		}
		if namespaces == nil {
			namespaces = l.namespaces(ctx, namespace)
		}
		selector := l.selectorOf(&clusters[i])
		for n := range namespaces {
			isSelected := selector.Selects(&namespaces[n])
			if isSelected || isByOwner && namespaces[n].DeletionTimestamp == nil {
				sidecars = append(sidecars, *selector.NewSidecar(&clusters[i], namespaces[n].Name, isSelected))
			}
		}
	}
	return sidecars
}

// get returns the VectorSidecar that a ClusterVectorSidecar stands for in a namespace. It returns nil if one of the
// two does not exist. It also returns nil if the namespace is being deleted, because the operator does not act there
// or wait for it.
func (l *clusterLister) get(ctx context.Context, namespace, name string) (*v1alpha1.VectorSidecar, error) {
	cluster, err := l.named(ctx, name)
	if err != nil || cluster == nil {
		return nil, err
	}
	for _, object := range l.namespaces(ctx, namespace) {
		if object.DeletionTimestamp == nil {
			selector := l.selectorOf(cluster)
			return selector.NewSidecar(cluster, namespace, selector.Selects(&object)), nil
		}
	}
	return nil, nil //nolint:nilnil // A missing object is not an error.
}

// named returns a copy of a ClusterVectorSidecar, nil if it does not exist.
func (l *clusterLister) named(ctx context.Context, name string) (*v1alpha1.ClusterVectorSidecar, error) {
	if l == nil {
		return nil, nil //nolint:nilnil // A disabled kind does not have objects.
	}
	cluster := &v1alpha1.ClusterVectorSidecar{}
	if err := l.client.Get(ctx, types.NamespacedName{Name: name}, cluster); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	l.states.catchUp(cluster)
	return cluster, nil
}

// live lists all ClusterVectorSidecars from the API server, each with its name and UID only.
func (l *clusterLister) live(ctx context.Context, live *livelist.Client) ([]v1alpha1.ClusterVectorSidecar, error) {
	if l == nil {
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

// selectorOf returns the selector of a ClusterVectorSidecar. A selector that cannot be parsed because of an invalid
// label value selects nothing.
func (l *clusterLister) selectorOf(cluster *v1alpha1.ClusterVectorSidecar) clusterwide.Selector {
	selector, _ := clusterwide.NewSelector(&cluster.Spec, l.home)
	return selector
}

// namespaces returns the metadata of a namespace if it exists, or of all namespaces if the name is "".
func (l *clusterLister) namespaces(ctx context.Context, name string) []metav1.PartialObjectMetadata {
	if name != "" {
		namespace := newNamespace("")
		if err := l.client.Get(ctx, types.NamespacedName{Name: name}, namespace, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		return []metav1.PartialObjectMetadata{*namespace}
	}
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(newNamespace("").GroupVersionKind())
	list.Kind += "List"
	if err := l.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing namespaces")
	}
	return list.Items
}

// clusterKeys returns the keys of a ClusterVectorSidecar in an index of VectorSidecars.
func clusterKeys(index string, cluster *v1alpha1.ClusterVectorSidecar) []string {
	name := meta.InNamespace(cluster.Name)
	switch index {
	case indexManager:
		return []string{meta.Manager(name)}
	case indexLabel:
		return []string{meta.LabelValue(name)}
	}
	return selectorKeys(clusterwide.NewSidecar(cluster, "", true))
}
