// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OwnedWorkloads controls workloads with a controller owner.
//
// +kubebuilder:validation:Enum=Inject;Skip;AtAdmission
type OwnedWorkloads string

const (
	// OwnedInject injects the sidecar into workloads with a controller owner until the owner removes it.
	OwnedInject OwnedWorkloads = "Inject"
	// OwnedSkip does not inject the sidecar, and removes it from workloads with a controller owner.
	OwnedSkip OwnedWorkloads = "Skip"
	// OwnedAtAdmission makes the API server inject the sidecar when the controller owner writes a workload. The
	// operator does not write the sidecar itself.
	OwnedAtAdmission OwnedWorkloads = "AtAdmission"
)

// MaxOwnerRemovals is the maximum number of entries of status.removedByOwners.
const MaxOwnerRemovals = 32

// BelievedNamespaces is the number of namespaces in which owners must remove the sidecar of a
// ClusterVectorSidecar until the removal applies to all namespaces. One namespace is not enough,
// because any user of a namespace may name any owner there.
const BelievedNamespaces = 3

// OwnerRemoval records that owners of a kind remove the sidecar from workloads of a kind.
type OwnerRemoval struct {
	// kind of the workloads.
	// +required
	Kind string `json:"kind"`
	// ownerKind is the kind of the controller owners, with its group, such as Kafka.kafka.strimzi.io.
	// +required
	OwnerKind string `json:"ownerKind"`
	// namespace of the workload in which the removal was first found. Empty in a VectorSidecar.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the workload in which the removal was first found.
	// +required
	Name string `json:"name"`
	// owner is the name of the controller owner of that workload.
	// +required
	Owner string `json:"owner"`
	// removalTime is when the removal was found.
	// +required
	RemovalTime metav1.Time `json:"removalTime"`
	// retry is a digest of the annotation retry-rollout when the removal was found. When the
	// annotation changes, the operator injects the sidecar again.
	// +optional
	Retry string `json:"retry,omitempty"`
}

// IsIn reports whether the removal was found in a namespace.
func (t *OwnerRemoval) IsIn(namespace string) bool {
	return t.Namespace == "" || t.Namespace == namespace
}

// Owned returns the policy for workloads with a controller owner.
func (s *VectorSidecarSpec) Owned() OwnedWorkloads {
	if s.OwnedWorkloads == "" {
		return OwnedInject
	}
	return s.OwnedWorkloads
}
