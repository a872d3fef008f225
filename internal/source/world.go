// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// World presents files, a cluster, or files on top of a cluster as one cluster: a client.Reader of workloads,
// VectorSidecars, ConfigMaps and the metadata of Namespaces. Use NewWorld.
type World struct {
	// Lacking are the kinds of workloads that the API server does not have.
	Lacking []string

	cluster    client.Reader
	namespaces index[*corev1.Namespace]
	configMaps index[*corev1.ConfigMap]
	accounts   index[*corev1.ServiceAccount]
	workloads  map[string]index[workload.Object] // by kind
	sidecars   index[*v1alpha1.VectorSidecar]
	clusters   index[*v1alpha1.ClusterVectorSidecar]
	// managers are the operator's field managers that own fields of the workloads.
	managers map[workload.Ref][]string
}

// NewWorld returns an empty World. It reads missing ConfigMaps and Namespaces from the cluster, which may be nil.
func NewWorld(cluster client.Reader) *World {
	return &World{
		cluster:    cluster,
		namespaces: index[*corev1.Namespace]{},
		configMaps: index[*corev1.ConfigMap]{},
		accounts:   index[*corev1.ServiceAccount]{},
		workloads:  map[string]index[workload.Object]{},
		sidecars:   index[*v1alpha1.VectorSidecar]{},
		clusters:   index[*v1alpha1.ClusterVectorSidecar]{},
		managers:   map[workload.Ref][]string{},
	}
}

// Put adds an object, or replaces the object of the same name. Objects of other kinds are ignored.
func (w *World) Put(object client.Object) {
	switch o := object.(type) {
	case *corev1.Namespace:
		w.namespaces.put(o)
	case *corev1.ConfigMap:
		w.configMaps.put(o)
	case *corev1.ServiceAccount:
		w.accounts.put(o)
	case *v1alpha1.VectorSidecar:
		w.sidecars.put(o)
	case *v1alpha1.ClusterVectorSidecar:
		w.clusters.put(o)
	default:
		if one, isOne := workload.ToObject(object); isOne {
			ref := withoutUID(workload.NewRef(one))
			if w.workloads[ref.Kind] == nil {
				w.workloads[ref.Kind] = index[workload.Object]{}
			}
			w.workloads[ref.Kind].put(one)
			w.managers[ref] = workload.Managers(one)
		}
	}
}

// Workloads returns all workloads, by namespace, name and kind.
func (w *World) Workloads() []workload.Object {
	var all []workload.Object
	for _, kind := range slices.Sorted(maps.Keys(w.workloads)) {
		all = append(all, w.workloads[kind].list("")...)
	}
	slices.SortStableFunc(all, func(a, b workload.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// Workload returns a workload, nil if it does not exist. The UID is ignored.
func (w *World) Workload(ref workload.Ref) workload.Object {
	found, _ := w.workloads[ref.Kind].get(client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	return found
}

// withoutUID returns the reference that files use.
func withoutUID(ref workload.Ref) workload.Ref {
	ref.UID = ""
	return ref
}

// Sidecars returns all VectorSidecars in order of precedence: the oldest first, and VectorSidecars of equal age by
// namespace and name. The VectorSidecars that Expand added are last.
func (w *World) Sidecars() []*v1alpha1.VectorSidecar {
	all := w.sidecars.list("")
	rank := func(sidecar *v1alpha1.VectorSidecar) int {
		if sidecar.Cluster != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *v1alpha1.VectorSidecar) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	return all
}

// Clusters returns all ClusterVectorSidecars, by name.
func (w *World) Clusters() []*v1alpha1.ClusterVectorSidecar { return w.clusters.list("") }

// Get reads one object.
func (w *World) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	switch o := into.(type) {
	case *v1alpha1.VectorSidecar:
		return take(w.sidecars, key, o, "vectorsidecars")
	case *metav1.PartialObjectMetadata:
		if o.Kind != "Namespace" {
			return fmt.Errorf("metadata of kind %q is not supported", o.Kind)
		}
		return w.namespace(ctx, key, o, options...)
	case *corev1.ConfigMap:
		if _, given := w.configMaps.get(key); given || w.cluster == nil {
			return take(w.configMaps, key, o, "configmaps")
		}
		if err := w.cluster.Get(ctx, key, o, options...); err != nil {
			return err
		}
		w.configMaps.put(o.DeepCopy()) // Other VectorSidecars may refer to it, too.
		return nil
	case *corev1.ServiceAccount:
		if _, given := w.accounts.get(key); given || w.cluster == nil {
			return take(w.accounts, key, o, "serviceaccounts")
		}
		return w.cluster.Get(ctx, key, o, options...)
	}
	if one, isOne := workload.ToObject(into); isOne {
		kind := workload.KindByName(workload.NewRef(one).Kind)
		found, isThere := w.workloads[kind.Kind].get(key)
		if !isThere {
			return notFound(kind.Resource, key)
		}
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	return fmt.Errorf("objects of type %T are not supported", into)
}

// namespace reads the metadata of a Namespace.
func (w *World) namespace(ctx context.Context, key client.ObjectKey, into *metav1.PartialObjectMetadata, options ...client.GetOption) error {
	if found, given := w.namespaces.get(key); given {
		into.ObjectMeta = *found.ObjectMeta.DeepCopy()
		return nil
	}
	if w.cluster == nil {
		return notFound("namespaces", key)
	}
	if err := w.cluster.Get(ctx, key, into, options...); err != nil {
		return err
	}
	w.namespaces.put(&corev1.Namespace{ObjectMeta: *into.ObjectMeta.DeepCopy()})
	return nil
}

// List supports namespace, labels, and IndexManager.
func (w *World) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var given client.ListOptions
	given.ApplyOptions(options)
	if given.LabelSelector == nil {
		given.LabelSelector = labels.Everything()
	}
	switch list := into.(type) {
	case *v1alpha1.VectorSidecarList:
		list.Items = filter(w.sidecars, &given)
	case *corev1.ConfigMapList:
		list.Items = filter(w.configMaps, &given)
	default:
		if kind := workload.KindForList(into); kind != nil {
			return apimeta.SetList(into, w.listed(kind, &given))
		}
		return fmt.Errorf("lists of type %T are not supported", into)
	}
	return nil
}

// listed returns the workloads of a kind that match the options.
func (w *World) listed(kind *workload.Kind, options *client.ListOptions) []runtime.Object {
	manager, isAsked := "", false
	if options.FieldSelector != nil {
		manager, isAsked = options.FieldSelector.RequiresExactMatch(IndexManager)
	}
	var found []runtime.Object
	for _, object := range w.workloads[kind.Kind].list(options.Namespace) {
		isManaged := !isAsked || slices.Contains(w.managers[withoutUID(workload.NewRef(object))], manager)
		if isManaged && hasLabels(object, options) {
			found = append(found, object)
		}
	}
	return found
}

func hasLabels(object client.Object, options *client.ListOptions) bool {
	return options.LabelSelector.Matches(labels.Set(object.GetLabels()))
}

func filter[T any, P interface {
	*T
	client.Object
}](among index[P], options *client.ListOptions) []T {
	var found []T
	for _, object := range among.list(options.Namespace) {
		if hasLabels(object, options) {
			found = append(found, *object)
		}
	}
	return found
}

func take[T any, P interface {
	*T
	client.Object
}](among index[P], key client.ObjectKey, into P, resource string) error {
	found, ok := among.get(key)
	if !ok {
		return notFound(resource, key)
	}
	*into = *found
	return nil
}

func notFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.String())
}
