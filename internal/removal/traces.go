// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Traces are the objects and fields of the operator in a cluster.
type Traces struct {
	// Workloads are the workloads with fields or marks of the operator.
	Workloads []Carrier
	// Sidecars are references to all VectorSidecars. For all namespaces, they include all
	// ClusterVectorSidecars.
	Sidecars []metav1.PartialObjectMetadata
	// Companions are the companion ConfigMaps, each with the workloads that need it. Without the ConfigMap, new
	// pods of these workloads do not start.
	Companions map[client.ObjectKey][]workload.Ref
	// OverlaySets are the namespaces in which the API server may still inject.
	OverlaySets []string
}

// Carrier is a workload with fields or marks of the operator.
type Carrier struct {
	workload.Ref
	// Managers are the operator's field managers that own fields in the workload.
	Managers []string
}

// IsEmpty reports whether no traces are left.
func (t *Traces) IsEmpty() bool {
	return len(t.Workloads)+len(t.Sidecars)+len(t.Companions)+len(t.OverlaySets) == 0
}

// FindTraces finds traces in a namespace, or in all namespaces for "". Traces may exist even if the CRD is not
// installed anymore.
func FindTraces(ctx context.Context, live *livelist.Client, namespace string) (*Traces, error) {
	traces := &Traces{Companions: map[client.ObjectKey][]workload.Ref{}}
	inNamespace := client.InNamespace(namespace)
	var err error
	if traces.Sidecars, err = listSidecars(ctx, live, namespace, namespace == metav1.NamespaceAll); err != nil {
		return nil, err
	}
	traces.OverlaySets, err = FindOverlaySets(ctx, live, namespace)
	if err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	// ConfigMaps are listed before the workloads, so that a workload that is created in between counts.
	configMaps := livelist.Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	companions, err := livelist.Collect(ctx, live, configMaps, func(configMap *metav1.PartialObjectMetadata) (client.ObjectKey, bool) {
		return client.ObjectKeyFromObject(configMap), !companion.IsCopy(&corev1.ConfigMap{ObjectMeta: configMap.ObjectMeta})
	}, inNamespace, client.HasLabels{meta.LabelSidecar})
	if err != nil {
		return nil, fmt.Errorf("listing ConfigMaps: %w", err)
	}
	for _, key := range companions {
		traces.Companions[key] = nil
	}
	for _, kind := range workload.Kinds() {
		if err := traces.findInKind(ctx, live, kind, inNamespace); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// FindOverlaySets returns a namespace if it has an OverlaySet of the operator, or all such namespaces for "".
func FindOverlaySets(ctx context.Context, live *livelist.Client, namespace string) ([]string, error) {
	sets := livelist.Metadata(v1alpha1.GroupVersion.WithKind("OverlaySet"))
	namespaces, err := livelist.Collect(ctx, live, sets, func(set client.Object) (string, bool) {
		return set.GetNamespace(), set.GetName() == meta.OverlaySet
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("listing OverlaySets: %w", err)
	}
	return namespaces, nil
}

// exclude drops the entries in namespaces with errors, so that they are not removed. After any error, it also drops
// ClusterVectorSidecars, because they concern all namespaces.
func (t *Traces) exclude(failed map[string]error) {
	isLeft := func(namespace string) bool { return failed[namespace] != nil || namespace == "" && len(failed) > 0 }
	t.Workloads = slices.DeleteFunc(t.Workloads, func(carrier Carrier) bool { return isLeft(carrier.Namespace) })
	t.Sidecars = slices.DeleteFunc(t.Sidecars, func(sidecar metav1.PartialObjectMetadata) bool { return isLeft(sidecar.Namespace) })
	t.OverlaySets = slices.DeleteFunc(t.OverlaySets, isLeft)
	maps.DeleteFunc(t.Companions, func(key client.ObjectKey, _ []workload.Ref) bool { return isLeft(key.Namespace) })
}

// listSidecars returns references to the VectorSidecars of a namespace, or of all namespaces for "". It can
// include the ClusterVectorSidecars. The result is empty without the CRDs.
func listSidecars(ctx context.Context, live *livelist.Client, namespace string, withClusters bool) ([]metav1.PartialObjectMetadata, error) {
	kinds := []string{"VectorSidecar"}
	if withClusters {
		kinds = append(kinds, "ClusterVectorSidecar")
	}
	var references []metav1.PartialObjectMetadata
	for _, kind := range kinds {
		gvk := v1alpha1.GroupVersion.WithKind(kind)
		listed, err := livelist.Collect(ctx, live, livelist.Metadata(gvk), func(sidecar client.Object) (metav1.PartialObjectMetadata, bool) {
			return referTo(gvk, sidecar), true
		}, client.InNamespace(namespace))
		if err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("listing %ss: %w", kind, err)
		}
		references = append(references, listed...)
	}
	return references, nil
}

// referTo returns the kind and the identity of an object, and whether it is being deleted. It leaves out the
// other metadata, which can be large.
func referTo(kind schema.GroupVersionKind, object client.Object) metav1.PartialObjectMetadata {
	reference := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), DeletionTimestamp: object.GetDeletionTimestamp(),
	}}
	reference.SetGroupVersionKind(kind)
	return reference
}

// user is a workload or Job that FindTraces has found: it has fields that the operator manages, or its new pods mount
// ConfigMaps that the operator made.
type user struct {
	Carrier

	isCarrier  bool
	configMaps []string
}

// findInKind adds the workloads of a kind that have fields of the operator, and the workloads that need its
// ConfigMaps.
func (t *Traces) findInKind(ctx context.Context, live *livelist.Client, kind *workload.Kind, inNamespace client.InNamespace) error {
	users, err := livelist.Collect(ctx, live, kind.NewList(), func(object client.Object) (user, bool) {
		candidate := t.readUser(object, kind)
		return candidate, candidate.isCarrier || len(candidate.configMaps) > 0
	}, inNamespace)
	if kind.IsMissingAPI(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", kind.Plural, err)
	}
	for i := range users {
		for _, name := range users[i].configMaps {
			key := client.ObjectKey{Namespace: users[i].Namespace, Name: name}
			t.Companions[key] = append(t.Companions[key], users[i].Ref)
		}
		if users[i].isCarrier {
			t.Workloads = append(t.Workloads, users[i].Carrier)
		}
	}
	return nil
}

// readUser returns the operator's fields in an object, and the ConfigMaps that its new pods need.
func (t *Traces) readUser(object client.Object, kind *workload.Kind) user {
	ref, names := NeededConfigMaps(object)
	result := user{Carrier: Carrier{Ref: ref}, configMaps: slices.DeleteFunc(names, func(name string) bool {
		_, exists := t.Companions[client.ObjectKey{Namespace: ref.Namespace, Name: name}]
		return !exists
	})}
	carrier, isWorkload := workload.ToObject(object)
	// A sidecar of an immutable workload stays until the workload ends.
	if !isWorkload || kind.Traits.Immutable != "" || object.GetDeletionTimestamp() != nil {
		return result
	}
	view := newView(carrier)
	result.Ref, result.isCarrier = view.Ref, len(view.Owned)+len(view.Marks) > 0
	result.Managers = slices.Sorted(maps.Keys(view.Owned))
	return result
}
