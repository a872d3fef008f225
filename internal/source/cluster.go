// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Scope selects the objects to load from a cluster.
type Scope struct {
	// Namespace is the namespace to load, or "" for all namespaces.
	Namespace string
	// WithoutWorkloads and WithoutSidecars exclude these kinds, because they come from files.
	WithoutWorkloads, WithoutSidecars bool
}

// Load reads the objects in a scope of a cluster. It also returns the plurals of the kinds that a decision may need but
// that the user may not read.
func Load(ctx context.Context, cluster client.Reader, scope Scope) (*ObjectOverlay, []string, error) {
	w := NewObjectOverlay(cluster)
	if scope.Namespace == "" {
		// If the user may not list Namespaces, they are read one by one later.
		if err := w.loadList(ctx, &corev1.NamespaceList{}, "Namespaces"); err != nil && !apierrors.IsForbidden(err) {
			return nil, nil, err
		}
	}
	inNamespace := client.InNamespace(scope.Namespace)
	if !scope.WithoutSidecars {
		if err := w.loadList(ctx, &v1alpha1.VectorSidecarList{}, "VectorSidecars", inNamespace); err != nil {
			return nil, nil, err
		}
	}
	var unreadable []string
	if !scope.WithoutSidecars {
		reason, err := w.loadClusters(ctx)
		if err != nil {
			return nil, nil, err
		}
		if reason != "" {
			unreadable = append(unreadable, reason)
		}
	}
	for _, kind := range workload.Kinds() {
		if scope.WithoutWorkloads {
			break
		}
		switch err := w.loadList(ctx, kind.NewList(), kind.Plural, inNamespace); {
		case apierrors.IsForbidden(err) && kind != workload.Default():
			if scope.WithoutSidecars || w.isKindSelected(kind) {
				unreadable = append(unreadable, "the "+kind.Plural+": "+err.Error())
			}
		case kind.IsMissingAPI(err):
			w.MissingKinds = append(w.MissingKinds, kind.Kind)
		case err != nil:
			return nil, nil, err
		}
	}
	err := w.loadList(ctx, &corev1.ConfigMapList{}, "ConfigMaps", inNamespace, client.HasLabels{meta.LabelSidecar})
	if apierrors.IsForbidden(err) {
		unreadable = append(unreadable, "the ConfigMaps made for VectorSidecars: "+err.Error())
	} else if err != nil {
		return nil, nil, err
	}
	return w, unreadable, nil
}

// isKindSelected reports whether one of the VectorSidecars selects workloads of a kind.
func (w *ObjectOverlay) isKindSelected(kind *workload.Kind) bool {
	for _, sidecar := range w.sidecars.list("") {
		if slices.Contains(sidecar.Spec.Kinds(), v1alpha1.WorkloadKind(kind.Kind)) {
			return true
		}
	}
	for _, cluster := range w.Clusters() {
		if slices.Contains(cluster.Spec.Kinds(), v1alpha1.WorkloadKind(kind.Kind)) {
			return true
		}
	}
	return false
}

// loadList adds the objects of a kind, page by page.
func (w *ObjectOverlay) loadList(ctx context.Context, empty client.ObjectList, plural string, options ...client.ListOption) error {
	accept := func(object client.Object) (client.Object, bool) { return object, true } // A decision may need any of its fields.
	listed, err := livelist.Collect(ctx, livelist.New(w.cluster), empty, accept, options...)
	if err != nil {
		return fmt.Errorf("listing %s: %w", plural, err)
	}
	for _, object := range listed {
		w.Put(object)
	}
	return nil
}

// ReplaceSidecar replaces a live VectorSidecar by the VectorSidecar in a file, as an update of the cluster would. It
// keeps the UID and the status, so that companions still belong to the VectorSidecar. If the spec differs, the status
// counts as outdated.
func (w *ObjectOverlay) ReplaceSidecar(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	if w.cluster != nil {
		live := &v1alpha1.VectorSidecar{}
		err := w.cluster.Get(ctx, client.ObjectKeyFromObject(sidecar), live)
		if err != nil && !isAbsent(err) {
			return fmt.Errorf("reading VectorSidecar %s/%s: %w", sidecar.Namespace, sidecar.Name, err)
		}
		sidecar.UID, sidecar.CreationTimestamp, sidecar.Generation = live.UID, live.CreationTimestamp, live.Generation
		sidecar.Status = live.Status
		if !equality.Semantic.DeepEqual(live.Spec, sidecar.Spec) {
			sidecar.Generation++
			if live.Spec.Environment != sidecar.Spec.Environment {
				sidecar.Status.Environment = ""
			}
		}
	}
	w.Put(sidecar)
	return nil
}
