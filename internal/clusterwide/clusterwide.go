// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterwide evaluates which namespaces a ClusterVectorSidecar selects, and derives a
// VectorSidecar for each selected namespace. Other packages treat these like any other
// VectorSidecar. It makes no API calls.
package clusterwide

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// systemNamespaces are the namespaces of Kubernetes itself.
var systemNamespaces = []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// NewNamespaceMetadata returns an empty Namespace for a metadata-only read.
func NewNamespaceMetadata(name string) *metav1.PartialObjectMetadata {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	namespace.Name = name
	return namespace
}

// Selector selects namespaces. NewSelector creates it.
type Selector struct {
	labels labels.Selector
	// named lists the namespaces that the selector names. home is the operator namespace.
	named []string
	home  string
	// fault explains why the selector cannot be parsed, "" if it can.
	fault string
}

// NewSelector returns the selector of a ClusterVectorSidecar. The selector selects nothing if it
// cannot be parsed. The operator namespace may be "" if it is unknown.
func NewSelector(spec *v1alpha1.ClusterVectorSidecarSpec, home string) (Selector, error) {
	labelSelector := &spec.NamespaceSelector
	parsed, err := metav1.LabelSelectorAsSelector(labelSelector)
	if err != nil {
		err = fmt.Errorf("spec.namespaceSelector: %w", err)
		return Selector{fault: err.Error()}, err
	}
	selector := Selector{labels: parsed, home: home}
	if name, isNamed := labelSelector.MatchLabels[corev1.LabelMetadataName]; isNamed {
		selector.named = append(selector.named, name)
	}
	for _, expression := range labelSelector.MatchExpressions {
		if expression.Key == corev1.LabelMetadataName && expression.Operator == metav1.LabelSelectorOpIn {
			selector.named = append(selector.named, expression.Values...)
		}
	}
	return selector, nil
}

// Selects reports whether a namespace is selected. A namespace that is being deleted or has opted out is never
// selected. A namespace of Kubernetes itself and the operator namespace are selected only if the selector has their
// names.
func (s *Selector) Selects(namespace metav1.Object) bool {
	if s.labels == nil || namespace.GetDeletionTimestamp() != nil || !s.labels.Matches(labels.Set(namespace.GetLabels())) {
		return false
	}
	name := namespace.GetName()
	isSpecial := slices.Contains(systemNamespaces, name) || name == s.home && name != ""
	return !HasOptedOut(namespace) && (!isSpecial || slices.Contains(s.named, name))
}

// NewSidecar returns the VectorSidecar of a ClusterVectorSidecar with this selector in a namespace. If the selector
// cannot be parsed, the VectorSidecar stays unchanged, because the earlier selection is unknown.
func (s *Selector) NewSidecar(cluster *v1alpha1.ClusterVectorSidecar, namespace string, isSelected bool) *v1alpha1.VectorSidecar {
	return NewSidecar(cluster, namespace, isSelected || s.fault != "")
}

// HasOptedOut reports whether a namespace has the label or annotation that excludes it from
// ClusterVectorSidecars.
func HasOptedOut(namespace metav1.Object) bool {
	for _, entries := range []map[string]string{namespace.GetLabels(), namespace.GetAnnotations()} {
		if value, isGiven := entries[meta.AnnotationInject]; isGiven && value != "true" {
			return true
		}
	}
	return false
}

// NewSidecar returns the VectorSidecar that a ClusterVectorSidecar stands for in a namespace. If the
// namespace is not selected, the VectorSidecar is marked as being deleted, and its sidecars are
// removed regardless of its deletionPolicy. The spec, the waves and the status fields about the
// spec are shared and must not be changed.
func NewSidecar(cluster *v1alpha1.ClusterVectorSidecar, namespace string, isSelected bool) *v1alpha1.VectorSidecar {
	sidecar := &v1alpha1.VectorSidecar{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: meta.ClusterSidecarName(cluster.Name), UID: cluster.UID, Generation: cluster.Generation,
			CreationTimestamp: cluster.CreationTimestamp, DeletionTimestamp: cluster.DeletionTimestamp,
			Annotations: cluster.Annotations, Finalizers: cluster.Finalizers,
		},
		Spec:      cluster.Spec.VectorSidecarSpec,
		Malformed: cluster.Malformed,
		Status: v1alpha1.VectorSidecarStatus{
			LastReconcileTime: cluster.Status.LastReconcileTime, LastHandledReconcileAt: cluster.Status.LastHandledReconcileAt, RemovedByOwners: cluster.Status.RemovedByOwners,
			LastKnownGood: cluster.Status.LastKnownGood, Reverted: cluster.Status.Reverted, Retry: cluster.Status.Retry,
		},
	}
	if change := finishedCanary(cluster, namespace); change != "" {
		sidecar.Status.Canary = &v1alpha1.CanaryStatus{Change: change, State: v1alpha1.CanaryFinished}
	}
	for i := range cluster.Status.Workloads {
		if entry := &cluster.Status.Workloads[i]; entry.Namespace == namespace && entry.Name != "" {
			sidecar.Status.Workloads = append(sidecar.Status.Workloads, v1alpha1.WorkloadStatus{
				Kind: entry.Kind, Name: entry.Name, State: v1alpha1.WorkloadState(entry.State), Reason: entry.Reason, Message: entry.Message,
			})
		}
	}
	if !isSelected && sidecar.DeletionTimestamp == nil {
		sidecar.DeletionTimestamp, sidecar.Spec.DeletionPolicy = &cluster.CreationTimestamp, v1alpha1.DeletionRemove
	}
	return sidecar
}

// NewParentScopes returns the scopes of ClusterVectorSidecars.
func NewParentScopes(clusters []v1alpha1.ClusterVectorSidecar) desired.ParentScopes {
	scopes := desired.ParentScopes{}
	for i := range clusters {
		scopes[meta.ClusterSidecarName(clusters[i].Name)] = NewParentScope(&clusters[i])
	}
	return scopes
}

// NewParentScope returns the scope of a ClusterVectorSidecar.
func NewParentScope(cluster *v1alpha1.ClusterVectorSidecar) desired.ParentScope {
	selector, _ := NewSelector(&cluster.Spec, "")
	return desired.ParentScope{
		ClusterScope: cluster.Spec.ClusterScope, Generation: cluster.Generation, IsActive: cluster.DeletionTimestamp == nil,
		Invalid: selector.fault, Waves: cluster.Status.Waves,
	}
}

// NewSidecarWithoutNamespace returns the VectorSidecar that a ClusterVectorSidecar stands for in any namespace. It has no
// namespace.
func NewSidecarWithoutNamespace(cluster *v1alpha1.ClusterVectorSidecar) *v1alpha1.VectorSidecar {
	return NewSidecar(cluster, "", true)
}

// finishedCanary returns the change that canaries have finished in a namespace, or "" if there is none.
func finishedCanary(cluster *v1alpha1.ClusterVectorSidecar, namespace string) string {
	entries := cluster.Status.FinishedCanaries // Sorted by namespace.
	i, ok := slices.BinarySearchFunc(entries, namespace, func(entry v1alpha1.FinishedCanary, namespace string) int {
		return strings.Compare(entry.Namespace, namespace)
	})
	if !ok {
		return ""
	}
	return entries[i].Change
}

// ResolveCluster returns the ClusterVectorSidecar of a VectorSidecar that stands for a ClusterVectorSidecar in one
// namespace. The result has only the name and the UID. All other objects are returned unchanged.
func ResolveCluster(object runtime.Object) runtime.Object {
	sidecar, isSidecar := object.(*v1alpha1.VectorSidecar)
	if !isSidecar {
		return object
	}
	name, isCluster := meta.ParseClusterName(sidecar.Name)
	if !isCluster {
		return object
	}
	return &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name, UID: sidecar.UID}}
}

// TruncateOversized returns a ClusterVectorSidecar unchanged, unless it is too large. For one that is too large, it
// returns a copy with the annotation AnnotationExcess, and with only the parts of the spec that are needed. Its
// VectorSidecars are then also too large.
func TruncateOversized(cluster *v1alpha1.ClusterVectorSidecar) *v1alpha1.ClusterVectorSidecar {
	reduced := desired.DropOversizedSpec(NewSidecarWithoutNamespace(cluster))
	excess := reduced.Annotations[meta.AnnotationExcess]
	if excess == "" {
		return cluster
	}
	truncated := &v1alpha1.ClusterVectorSidecar{ObjectMeta: cluster.ObjectMeta, Status: cluster.Status}
	truncated.Annotations = reduced.Annotations
	truncated.Spec.NamespaceSelector = cluster.Spec.NamespaceSelector
	if cluster.DeletionTimestamp != nil { // The deletion policy must stay readable.
		truncated.Spec.DeletionPolicy = cluster.Spec.DeletionPolicy
	}
	return truncated
}

// ClusterKey returns the key of the reconcile of a ClusterVectorSidecar itself. The keys of the reconciles of its
// namespaces contain the name of the namespace.
func ClusterKey(cluster string) types.NamespacedName {
	return KeyIn("", cluster)
}

// KeyIn returns the key of the VectorSidecar that a ClusterVectorSidecar stands for in a namespace.
func KeyIn(namespace, cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: meta.ClusterSidecarName(cluster)}
}
