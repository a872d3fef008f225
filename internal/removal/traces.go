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
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// pageSize is how many objects a list request returns.
const pageSize = 500

// Traces are what the operator left in a cluster.
type Traces struct {
	// Workloads have something of it.
	Workloads []workload.View
	// Sidecars are all VectorSidecars, and ClusterVectorSidecars if it is about all
	// namespaces.
	Sidecars []client.Object
	// Companions are the ConfigMaps created for them, each with the workloads that need it:
	// without it their new pods do not start.
	Companions map[client.ObjectKey][]workload.Ref
	// OverlaySets are the namespaces in which the API server may still inject.
	OverlaySets []string
}

// None reports whether there is nothing left.
func (t *Traces) None() bool {
	return len(t.Workloads)+len(t.Sidecars)+len(t.Companions)+len(t.OverlaySets) == 0
}

// FindTraces finds traces in a namespace, "" for all. There may be some even if the CRD is
// no longer installed.
func FindTraces(ctx context.Context, cluster client.Reader, namespace string) (*Traces, error) {
	traces := &Traces{Companions: map[client.ObjectKey][]workload.Ref{}}
	inNamespace := client.InNamespace(namespace)
	var err error
	if traces.Sidecars, err = listSidecars(ctx, cluster, namespace, namespace == metav1.NamespaceAll); err != nil {
		return nil, err
	}
	var sets v1alpha1.OverlaySetList
	err = cluster.List(ctx, &sets, inNamespace)
	if err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("listing OverlaySets: %w", err)
	}
	for i := range sets.Items {
		if sets.Items[i].Name == meta.OverlaySet {
			traces.OverlaySets = append(traces.OverlaySets, sets.Items[i].Namespace)
		}
	}
	// They are listed before the workloads, so that one that comes in between counts.
	var companions corev1.ConfigMapList
	if err := cluster.List(ctx, &companions, inNamespace, client.HasLabels{meta.LabelSidecar}); err != nil {
		return nil, fmt.Errorf("listing ConfigMaps: %w", err)
	}
	for i := range companions.Items {
		if !companion.IsCopy(&companions.Items[i]) {
			traces.Companions[client.ObjectKeyFromObject(&companions.Items[i])] = nil
		}
	}
	for _, kind := range workload.Kinds() {
		if err := traces.find(ctx, cluster, kind, inNamespace); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// leaveOut takes out what is in namespaces where something has failed, and ClusterVectorSidecars if
// there are any: these are in all of them.
func (t *Traces) leaveOut(failed map[string]error) {
	isLeft := func(namespace string) bool { return failed[namespace] != nil || namespace == "" && len(failed) > 0 }
	t.Workloads = slices.DeleteFunc(t.Workloads, func(view workload.View) bool { return isLeft(view.Namespace) })
	t.Sidecars = slices.DeleteFunc(t.Sidecars, func(sidecar client.Object) bool { return isLeft(sidecar.GetNamespace()) })
	t.OverlaySets = slices.DeleteFunc(t.OverlaySets, isLeft)
	maps.DeleteFunc(t.Companions, func(key client.ObjectKey, _ []workload.Ref) bool { return isLeft(key.Namespace) })
}

// listSidecars lists the VectorSidecars of a namespace, or of all if "", and the
// ClusterVectorSidecars if withClusters. Without the CRDs there are none.
func listSidecars(ctx context.Context, cluster client.Reader, namespace string, withClusters bool) ([]client.Object, error) {
	kinds := []client.ObjectList{&v1alpha1.VectorSidecarList{}}
	if withClusters {
		kinds = append(kinds, &v1alpha1.ClusterVectorSidecarList{})
	}
	var all []client.Object
	for _, found := range kinds {
		err := cluster.List(ctx, found, client.InNamespace(namespace))
		if err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("listing VectorSidecars: %w", err)
		}
		_ = apimeta.EachListItem(found, func(item runtime.Object) error { // It fails only if the function does.
			if object, isObject := item.(client.Object); isObject {
				all = append(all, object)
			}
			return nil
		})
	}
	return all, nil
}

// find adds the workloads of a kind that have something of the operator, page by page, and those
// that need its ConfigMaps.
func (t *Traces) find(ctx context.Context, cluster client.Reader, kind *workload.Kind, inNamespace client.InNamespace) error {
	page := kind.NewList()
	for isFirst := true; isFirst || page.GetContinue() != ""; isFirst = false {
		err := cluster.List(ctx, page, inNamespace, client.Limit(pageSize), client.Continue(page.GetContinue()))
		if kind.Lacks(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", kind.Plural, err)
		}
		_ = apimeta.EachListItem(page, func(item runtime.Object) error { // It fails only if the function does.
			if object, isObject := item.(client.Object); isObject {
				t.addUser(object)
			}
			return nil
		})
		for _, object := range workload.Items(page) {
			// What cannot be changed keeps its sidecar until it ends.
			if view := viewOf(object); len(view.Owned)+len(view.Marks) > 0 && !view.Deleting && kind.Traits.Immutable == "" {
				t.Workloads = append(t.Workloads, view)
			}
		}
	}
	return nil
}

// addUser adds an object to the users of the ConfigMaps that it needs.
func (t *Traces) addUser(object client.Object) {
	of, names := Needs(object)
	for _, name := range names {
		key := client.ObjectKey{Namespace: of.Namespace, Name: name}
		if users, isThere := t.Companions[key]; isThere {
			t.Companions[key] = append(users, of)
		}
	}
}
