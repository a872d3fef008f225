// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VectorSidecarStatus is what the operator found and did.
type VectorSidecarStatus struct {
	// conditions are Ready, ConfigValid and Error; Reconciling and Stalled while
	// they are true, as kstatus reads them.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matchedDeployments is how many Deployments the selector matches.
	// +default=0
	// +optional
	MatchedDeployments int32 `json:"matchedDeployments"`

	// injectedDeployments is how many of those carry the current sidecar.
	// +default=0
	// +optional
	InjectedDeployments int32 `json:"injectedDeployments"`

	// updatedDeployments is how many of the injected ones have finished
	// rolling out, spec.rollout.soak included, and have all pods available.
	// +default=0
	// +optional
	UpdatedDeployments int32 `json:"updatedDeployments"`

	// waitingDeployments is how many have to wait for their turn.
	// +default=0
	// +optional
	WaitingDeployments int32 `json:"waitingDeployments"`

	// conflictingDeployments is how many cannot take the sidecar, because of
	// somebody else's fields or because of what they are.
	// +default=0
	// +optional
	ConflictingDeployments int32 `json:"conflictingDeployments"`

	// skippedDeployments is how many are left out by their owner's wish or
	// state: opted out, paused, being deleted.
	// +default=0
	// +optional
	SkippedDeployments int32 `json:"skippedDeployments"`

	// failedDeployments is how many did not finish their rollout before its
	// deadline, or whose pods failed in it because of the sidecar.
	// +default=0
	// +optional
	FailedDeployments int32 `json:"failedDeployments"`

	// unsettled are the first workloads that are not as they should be: those
	// that need somebody's attention first, and each kind by name.
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	// +optional
	Unsettled []UnsettledWorkload `json:"unsettled,omitempty"`

	// unsettledOmitted is how many more there are than unsettled lists.
	// +optional
	UnsettledOmitted int32 `json:"unsettledOmitted,omitempty"`

	// injectedHash is the hash of what is injected, as in the workloads'
	// annotation injected-hash. Empty when it differs between workloads.
	// +optional
	InjectedHash string `json:"injectedHash,omitempty"`

	// environment whose values were used.
	// +optional
	Environment string `json:"environment,omitempty"`

	// templateSet that was rendered.
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// lastReconcileTime is when this status or a workload last changed. A pass
	// that changes nothing does not move it.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`

	// lastHandledReconcileAt is the text of the annotation reconcile-at by which
	// a person asked last for the VectorSidecar to be judged anew, once it was.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// UnsettledWorkload is a workload that is not as it should be, and why.
type UnsettledWorkload struct {
	// name of the Deployment.
	// +required
	Name string `json:"name"`
	// state is Failed, Hindered, Refused, Conflict, Blocked, Removing,
	// RollingOut, Soaking, Unavailable, Waiting or Skipped.
	// +required
	State WorkloadState `json:"state"`
	// reason is one word for why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says what is in the way and what to do.
	// +optional
	Message string `json:"message,omitempty"`
}

// WorkloadState is where a workload stands that is not as it should be.
type WorkloadState string

const (
	// StateFailed is a rollout that missed its deadline, or broke because of the sidecar.
	StateFailed WorkloadState = "Failed"
	// StateHindered is one whose pods something keeps from running that may pass.
	StateHindered WorkloadState = "Hindered"
	// StateRefused is a write that the API server refused.
	StateRefused WorkloadState = "Refused"
	// StateConflict is a name or field that belongs to somebody else.
	StateConflict WorkloadState = "Conflict"
	// StateBlocked is a workload that cannot take the sidecar as it is.
	StateBlocked WorkloadState = "Blocked"
	// StateRemoving is one that loses the sidecar.
	StateRemoving WorkloadState = "Removing"
	// StateRollingOut is one whose pods are being replaced.
	StateRollingOut WorkloadState = "RollingOut"
	// StateSoaking is a finished rollout before the end of spec.rollout.soak.
	StateSoaking WorkloadState = "Soaking"
	// StateUnavailable is one that has lost pods since its rollout was done.
	StateUnavailable WorkloadState = "Unavailable"
	// StateWaiting is one that has to wait for its turn.
	StateWaiting WorkloadState = "Waiting"
	// StateSkipped is one that its owner has left out.
	StateSkipped WorkloadState = "Skipped"
)
