// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VectorSidecarStatus is what the operator found and did.
type VectorSidecarStatus struct {
	// ObservedGeneration is the generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, ConfigValid and Error; Reconciling and Stalled while
	// they are true, as kstatus reads them.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// MatchedDeployments is how many Deployments the selector matches.
	// +kubebuilder:default=0
	// +optional
	MatchedDeployments int32 `json:"matchedDeployments"`

	// InjectedDeployments is how many of those carry the current sidecar.
	// +kubebuilder:default=0
	// +optional
	InjectedDeployments int32 `json:"injectedDeployments"`

	// InjectedHash is the hash of what is injected, as in the workloads'
	// annotation injected-hash. Empty when it differs between workloads.
	// +optional
	InjectedHash string `json:"injectedHash,omitempty"`

	// Environment whose values were used.
	// +optional
	Environment string `json:"environment,omitempty"`

	// LastReconcileTime is when this status or a workload last changed. A pass
	// that changes nothing does not move it.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`
}
