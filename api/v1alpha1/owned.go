// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OwnedWorkloads says what happens to workloads that another operator owns.
//
// +kubebuilder:validation:Enum=Inject;Skip;AtAdmission
type OwnedWorkloads string

const (
	// OwnedInject gives them the sidecar until their owner takes it out.
	OwnedInject OwnedWorkloads = "Inject"
	// OwnedSkip leaves them out, and takes the sidecar out of those that have it.
	OwnedSkip OwnedWorkloads = "Skip"
	// OwnedAtAdmission writes no sidecar: the API server puts it in when their owner writes
	// them.
	OwnedAtAdmission OwnedWorkloads = "AtAdmission"
)

// MaxOwnerRemovals is how many entries status.removedByOwners has at most.
const MaxOwnerRemovals = 32

// BelievedNamespaces is in how many namespaces owners have to take the sidecar of a ClusterVectorSidecar
// out before that holds in all: in one of them anybody may name any owner.
const BelievedNamespaces = 3

// OwnerRemoval is that owners of a kind take the sidecar out of workloads of a kind.
type OwnerRemoval struct {
	// kind of the workloads.
	// +required
	Kind string `json:"kind"`
	// ownerKind is that of their owners, with its group, such as Kafka.kafka.strimzi.io.
	// +required
	OwnerKind string `json:"ownerKind"`
	// namespace is that of the workload where it was found first, in this namespace. Empty in a
	// VectorSidecar.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name is that workload's.
	// +required
	Name string `json:"name"`
	// owner is the name of that workload's owner.
	// +required
	Owner string `json:"owner"`
	// removalTime is when it was found.
	// +required
	RemovalTime metav1.Time `json:"removalTime"`
	// retry is a digest of the annotation retry-rollout at that time. It is tried again
	// once the annotation is another.
	// +optional
	Retry string `json:"retry,omitempty"`
}

// IsIn reports whether it was found in a namespace.
func (t *OwnerRemoval) IsIn(namespace string) bool {
	return t.Namespace == "" || t.Namespace == namespace
}

// Owned returns what happens to workloads that another operator owns.
func (s *VectorSidecarSpec) Owned() OwnedWorkloads {
	if s.OwnedWorkloads == "" {
		return OwnedInject
	}
	return s.OwnedWorkloads
}
