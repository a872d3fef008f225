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

// strayAge is how old a companion without a VectorSidecar has to be before it is a stray:
// a backup brings ConfigMaps back before it brings VectorSidecars.
const strayAge = time.Hour

// Owners are those to whom companions may belong: VectorSidecars that exist, and those of
// which a workload still carries something.
type Owners map[owner]bool

// owner names a VectorSidecar as a companion's label does. That of a ClusterVectorSidecar
// has no namespace.
type owner struct{ namespace, label string }

// OwnersOf returns the owners of all workloads, VectorSidecars and ClusterVectorSidecars.
func OwnersOf(carriers iter.Seq[Carrier], sidecars []v1alpha1.VectorSidecar, clusters []v1alpha1.ClusterVectorSidecar) Owners {
	owners := Owners{}
	for i := range clusters {
		owners[owner{"", meta.LabelValue(meta.InNamespace(clusters[i].Name))}] = true
	}
	for i := range sidecars {
		owners[owner{sidecars[i].Namespace, meta.LabelValue(sidecars[i].Name)}] = true
	}
	for carrier := range carriers {
		for _, trace := range carrier.Traces {
			owners[owner{carrier.Namespace, meta.LabelValue(meta.SidecarOf(trace.Manager))}] = true
		}
	}
	return owners
}

// IsStray reports whether a ConfigMap is a companion that was written when its
// VectorSidecar was gone already. What somebody else has written, too, is none, and
// neither is a copy of a companion, or one with a controller owner.
func (o Owners) IsStray(object *corev1.ConfigMap, now time.Time) bool {
	label := object.Labels[meta.LabelSidecar]
	return label != "" && !o[owner{object.Namespace, label}] && !o[owner{"", label}] &&
		object.Annotations[meta.AnnotationCompanion] == object.Name &&
		object.DeletionTimestamp == nil && metav1.GetControllerOf(object) == nil &&
		now.Sub(object.CreationTimestamp.Time) > strayAge
}

// IsOurs reports whether the operator is the only one on record for having written an
// object: what a person or a deployer has applied is theirs.
func IsOurs(object metav1.Object) bool {
	entries := object.GetManagedFields()
	isAnothers := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager != meta.Operator }
	return len(entries) > 0 && !slices.ContainsFunc(entries, isAnothers)
}
