// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Expand adds the VectorSidecars that the ClusterVectorSidecars define in the loaded namespaces and in the given ones.
// home is the operator namespace, or "" if it is unknown. Expand returns the namespaces with unknown labels, which are
// selected only by a selector without labels.
func (w *ObjectOverlay) Expand(ctx context.Context, home string, namespaces ...string) (unlabeled []string, err error) {
	if len(w.clusters) == 0 {
		return nil, nil
	}
	included := map[string]bool{}
	for _, name := range namespaces {
		included[name] = name != metav1.NamespaceAll
	}
	for _, namespace := range w.namespaces.list("") {
		included[namespace.Name] = true
	}
	for _, byNamespace := range w.workloads {
		for name := range byNamespace {
			included[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(included)) {
		if !included[name] {
			continue
		}
		namespace, isKnown, err := w.namespaceMetadata(ctx, name)
		if err != nil {
			return nil, err
		}
		if !isKnown {
			unlabeled = append(unlabeled, name)
		}
		w.expandNamespace(namespace, home)
	}
	return unlabeled, nil
}

// namespaceMetadata returns the metadata of a namespace. isKnown is false if the namespace is in no file and the user
// may not read it. The metadata then has only the label with the namespace's name.
func (w *ObjectOverlay) namespaceMetadata(ctx context.Context, name string) (namespace *metav1.PartialObjectMetadata, isKnown bool, err error) {
	namespace = clusterwide.NewNamespaceMetadata("")
	err = w.getNamespace(ctx, client.ObjectKey{Name: name}, namespace)
	isKnown = err == nil
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, false, fmt.Errorf("reading namespace %s: %w", name, err)
	}
	namespace.Name = name
	if _, isGiven := namespace.Labels[corev1.LabelMetadataName]; !isGiven {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, name)
	}
	return namespace, isKnown, nil
}

// expandNamespace adds the VectorSidecars of the ClusterVectorSidecars that select a namespace, or that still have
// fields in its workloads. A selector that cannot be parsed selects no namespace.
func (w *ObjectOverlay) expandNamespace(namespace *metav1.PartialObjectMetadata, home string) {
	for _, cluster := range w.Clusters() {
		selector, _ := clusterwide.NewSelector(&cluster.Spec, home)
		isSelected := selector.Selects(namespace)
		if isSelected || w.hasManagedFields(namespace.Name, meta.Manager(meta.ClusterSidecarName(cluster.Name))) {
			w.Put(selector.NewSidecar(cluster, namespace.Name, isSelected))
		}
	}
}

// hasManagedFields reports whether a workload of a namespace has fields or marks of a field manager.
func (w *ObjectOverlay) hasManagedFields(namespace, manager string) bool {
	for _, objects := range w.workloads {
		for _, object := range objects.list(namespace) {
			if slices.Contains(w.managers[withoutUID(workload.NewRef(object))], manager) {
				return true
			}
		}
	}
	return false
}

// loadClusters adds the ClusterVectorSidecars. It returns the plural of the kind if the user may not read them, and ""
// otherwise.
func (w *ObjectOverlay) loadClusters(ctx context.Context) (unreadable string, err error) {
	err = w.loadList(ctx, &v1alpha1.ClusterVectorSidecarList{}, "ClusterVectorSidecars")
	switch {
	case apierrors.IsForbidden(err):
		return "the ClusterVectorSidecars: " + err.Error(), nil
	case isAbsent(err):
		return "", nil
	}
	return "", err
}

// isAbsent reports whether an error is the result of a missing object or a missing kind.
func isAbsent(err error) bool { return apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) }

// ReplaceCluster replaces a live ClusterVectorSidecar by the one from a file, as an update would. The
// namespaceSelector of the file must be valid.
func (w *ObjectOverlay) ReplaceCluster(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) error {
	if _, err := clusterwide.NewSelector(&cluster.Spec, ""); err != nil {
		return fmt.Errorf("%s: %w", meta.Title(meta.ClusterSidecarName(cluster.Name)), err)
	}
	if w.cluster != nil {
		live := &v1alpha1.ClusterVectorSidecar{}
		err := w.cluster.Get(ctx, client.ObjectKeyFromObject(cluster), live)
		if err != nil && !isAbsent(err) {
			return fmt.Errorf("reading ClusterVectorSidecar %s: %w", cluster.Name, err)
		}
		cluster.UID, cluster.CreationTimestamp, cluster.Generation, cluster.Status = live.UID, live.CreationTimestamp, live.Generation, live.Status
		if !equality.Semantic.DeepEqual(live.Spec, cluster.Spec) {
			cluster.Generation++
		}
	}
	w.Put(cluster)
	return nil
}
