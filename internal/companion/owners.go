// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companion

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// unreferencedAge is the minimum age of an unreferenced ConfigMap. Younger companions without a VectorSidecar are
// kept, because a backup restores ConfigMaps before VectorSidecars.
const unreferencedAge = time.Hour

// Owners is the set of VectorSidecars that companions may belong to: existing VectorSidecars, and
// VectorSidecars with traces in a workload.
type Owners map[owner]bool

// owner identifies a VectorSidecar by the value of a companion's label. The owner has no namespace if it stands
// for a ClusterVectorSidecar.
type owner struct{ namespace, label string }

// NewOwners returns the owners of companions from all workloads, VectorSidecars and ClusterVectorSidecars.
func NewOwners(carriers iter.Seq[Carrier], sidecars []v1alpha1.VectorSidecar, clusters []v1alpha1.ClusterVectorSidecar) Owners {
	owners := Owners{}
	for i := range clusters {
		owners[owner{"", meta.LabelValue(meta.ClusterSidecarName(clusters[i].Name))}] = true
	}
	for i := range sidecars {
		owners[owner{sidecars[i].Namespace, meta.LabelValue(sidecars[i].Name)}] = true
	}
	for carrier := range carriers {
		for _, trace := range carrier.Traces {
			owners[owner{carrier.Namespace, meta.LabelValue(meta.SidecarName(trace.Manager))}] = true
		}
	}
	return owners
}

// IsUnreferenced reports whether a ConfigMap is an unreferenced companion: its VectorSidecar does not exist, and its
// mark is its own name. A copy of a companion, and a companion with a controller owner, are not unreferenced
// companions.
func (o Owners) IsUnreferenced(object *corev1.ConfigMap, now time.Time) bool {
	label := object.Labels[meta.LabelSidecar]
	return label != "" && !o[owner{object.Namespace, label}] && !o[owner{"", label}] &&
		object.Annotations[meta.AnnotationCompanion] == object.Name &&
		object.DeletionTimestamp == nil && metav1.GetControllerOf(object) == nil &&
		now.Sub(object.CreationTimestamp.Time) > unreferencedAge
}

// IsOperatorOwned reports whether the operator is the only recorded field manager of an object. An object that a user or
// a deployment tool has also applied belongs to them.
func IsOperatorOwned(object metav1.Object) bool {
	entries := object.GetManagedFields()
	isAnothers := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager != meta.Operator }
	return len(entries) > 0 && !slices.ContainsFunc(entries, isAnothers)
}
