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
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// ObjectOverlay presents files, a cluster, or both as one cluster. Objects in files replace objects of the cluster. It
// is a client.Reader of workloads, VectorSidecars, ConfigMaps and the metadata of Namespaces. NewObjectOverlay creates
// it.
type ObjectOverlay struct {
	// MissingKinds are the kinds of workloads that the API server does not have.
	MissingKinds []string

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

// NewObjectOverlay returns an empty ObjectOverlay. It reads missing ConfigMaps and Namespaces from the cluster, which
// may be nil.
func NewObjectOverlay(cluster client.Reader) *ObjectOverlay {
	return &ObjectOverlay{
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
func (w *ObjectOverlay) Put(object client.Object) {
	switch o := object.(type) {
	case *corev1.Namespace:
		w.namespaces.putObject(o)
	case *corev1.ConfigMap:
		w.configMaps.putObject(o)
	case *corev1.ServiceAccount:
		w.accounts.putObject(o)
	case *v1alpha1.VectorSidecar:
		w.sidecars.putObject(o)
	case *v1alpha1.ClusterVectorSidecar:
		w.clusters.putObject(o)
	default:
		if workloadObject, ok := workload.ToObject(object); ok {
			ref := withoutUID(workload.NewRef(workloadObject))
			if w.workloads[ref.Kind] == nil {
				w.workloads[ref.Kind] = index[workload.Object]{}
			}
			w.workloads[ref.Kind].putObject(workloadObject)
			w.managers[ref] = workload.Managers(workloadObject)
		}
	}
}

// Workloads returns all workloads, by namespace, name and kind.
func (w *ObjectOverlay) Workloads() []workload.Object {
	var objects []workload.Object
	for _, kind := range slices.Sorted(maps.Keys(w.workloads)) {
		objects = append(objects, w.workloads[kind].list("")...)
	}
	slices.SortStableFunc(objects, func(a, b workload.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects
}

// OnEveryNode returns the workloads of the kinds that run a pod on every node, such as DaemonSets.
func (w *ObjectOverlay) OnEveryNode() []*workloadcache.Record {
	var records []*workloadcache.Record
	for _, kind := range workload.Kinds() {
		if !kind.Traits.OnEveryNode {
			continue
		}
		for _, object := range w.workloads[kind.Kind].list("") {
			records = append(records, workloadcache.NewRecord(object))
		}
	}
	return records
}

// Workload returns a workload, or nil if it does not exist. It ignores the UID.
func (w *ObjectOverlay) Workload(ref workload.Ref) workload.Object {
	object, _ := w.workloads[ref.Kind].lookUp(client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	return object
}

// withoutUID returns a reference without its UID, because workloads in files have none.
func withoutUID(ref workload.Ref) workload.Ref {
	ref.UID = ""
	return ref
}

// Sidecars returns all VectorSidecars in order of precedence: the oldest first, and VectorSidecars of equal age by
// namespace and name. The VectorSidecars that Expand added are last.
func (w *ObjectOverlay) Sidecars() []*v1alpha1.VectorSidecar {
	sidecars := w.sidecars.list("")
	rank := func(sidecar *v1alpha1.VectorSidecar) int {
		if meta.IsOfCluster(sidecar.Name) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(sidecars, func(a, b *v1alpha1.VectorSidecar) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	return sidecars
}

// Clusters returns all ClusterVectorSidecars, by name.
func (w *ObjectOverlay) Clusters() []*v1alpha1.ClusterVectorSidecar { return w.clusters.list("") }

// Get reads one object of a supported kind. ConfigMaps, Namespaces and ServiceAccounts that are not in the files come
// from the cluster.
func (w *ObjectOverlay) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	switch o := into.(type) {
	case *v1alpha1.VectorSidecar:
		return getObject(w.sidecars, key, o, "vectorsidecars")
	case *metav1.PartialObjectMetadata:
		if o.Kind != "Namespace" {
			return fmt.Errorf("reading only the metadata of a %s is not supported", o.Kind)
		}
		return w.getNamespace(ctx, key, o, options...)
	case *corev1.ConfigMap:
		if _, exists := w.configMaps.lookUp(key); exists || w.cluster == nil {
			return getObject(w.configMaps, key, o, "configmaps")
		}
		if err := w.cluster.Get(ctx, key, o, options...); err != nil {
			return err
		}
		w.configMaps.putObject(o.DeepCopy()) // Other VectorSidecars may refer to it, too.
		return nil
	case *corev1.ServiceAccount:
		if _, exists := w.accounts.lookUp(key); exists || w.cluster == nil {
			return getObject(w.accounts, key, o, "serviceaccounts")
		}
		return w.cluster.Get(ctx, key, o, options...)
	}
	if workloadObject, ok := workload.ToObject(into); ok {
		kind := workload.KindByName(workload.NewRef(workloadObject).Kind)
		stored, exists := w.workloads[kind.Kind].lookUp(key)
		if !exists {
			return newNotFound(kind.Resource, key)
		}
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(stored).Elem())
		return nil
	}
	return fmt.Errorf("objects of type %T are not supported", into)
}

// getNamespace reads the metadata of a Namespace, from the files or else from the cluster.
func (w *ObjectOverlay) getNamespace(ctx context.Context, key client.ObjectKey, into *metav1.PartialObjectMetadata, options ...client.GetOption) error {
	if stored, exists := w.namespaces.lookUp(key); exists {
		into.ObjectMeta = *stored.ObjectMeta.DeepCopy()
		return nil
	}
	if w.cluster == nil {
		return newNotFound("namespaces", key)
	}
	if err := w.cluster.Get(ctx, key, into, options...); err != nil {
		return err
	}
	w.namespaces.putObject(&corev1.Namespace{ObjectMeta: *into.ObjectMeta.DeepCopy()})
	return nil
}

// List lists VectorSidecars, ConfigMaps or workloads. It supports the options for a namespace and for labels, and for
// workloads the index IndexManager.
func (w *ObjectOverlay) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var listOptions client.ListOptions
	listOptions.ApplyOptions(options)
	if listOptions.LabelSelector == nil {
		listOptions.LabelSelector = labels.Everything()
	}
	switch list := into.(type) {
	case *v1alpha1.VectorSidecarList:
		list.Items = filter(w.sidecars, &listOptions)
	case *v1alpha1.ClusterVectorSidecarList:
		list.Items = filter(w.clusters, &listOptions)
	case *corev1.ConfigMapList:
		list.Items = filter(w.configMaps, &listOptions)
	default:
		if kind := workload.KindForList(into); kind != nil {
			return apimeta.SetList(into, w.listWorkloads(kind, &listOptions))
		}
		return fmt.Errorf("lists of type %T are not supported", into)
	}
	return nil
}

// listWorkloads returns the workloads of a kind that match the options.
func (w *ObjectOverlay) listWorkloads(kind *workload.Kind, options *client.ListOptions) []runtime.Object {
	manager, isAsked := "", false
	if options.FieldSelector != nil {
		manager, isAsked = options.FieldSelector.RequiresExactMatch(IndexManager)
	}
	var objects []runtime.Object
	for _, object := range w.workloads[kind.Kind].list(options.Namespace) {
		isManaged := !isAsked || slices.Contains(w.managers[withoutUID(workload.NewRef(object))], manager)
		if isManaged && hasLabels(object, options) {
			objects = append(objects, object)
		}
	}
	return objects
}

// hasLabels reports whether an object matches the label selector of the options.
func hasLabels(object client.Object, options *client.ListOptions) bool {
	return options.LabelSelector.Matches(labels.Set(object.GetLabels()))
}

// filter returns copies of the objects that match the options.
func filter[T any, P interface {
	*T
	client.Object
}](among index[P], options *client.ListOptions) []T {
	var items []T
	for _, object := range among.list(options.Namespace) {
		if hasLabels(object, options) {
			items = append(items, *object)
		}
	}
	return items
}

// getObject copies the object with a key, or returns a NotFound error with the name of the resource.
func getObject[T any, P interface {
	*T
	client.Object
}](among index[P], key client.ObjectKey, into P, resource string) error {
	object, ok := among.lookUp(key)
	if !ok {
		return newNotFound(resource, key)
	}
	*into = *object
	return nil
}

// newNotFound returns the NotFound error of the API server for a resource and a key.
func newNotFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.String())
}
