// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RolloutStatus is how far a VectorSidecar is with the templates and values of its
// installation, if the installation gives them out in waves.
type RolloutStatus struct {
	// revision is a digest of the installation's templates and values that were let
	// through to this VectorSidecar last.
	// +optional
	Revision string `json:"revision,omitempty"`

	// wave is the name of the wave of rollout.waves that the VectorSidecar is in, rest
	// for those that none of them selects.
	// +optional
	Wave string `json:"wave,omitempty"`

	// phase is Waiting, Progressing, Soaking, Complete or Halted.
	// +optional
	Phase RolloutPhase `json:"phase,omitempty"`

	// started is when the first workload began to roll out for the revision. Empty if
	// none had to.
	// +optional
	Started *metav1.Time `json:"started,omitempty"`

	// finished is when all workloads were done with the revision.
	// +optional
	Finished *metav1.Time `json:"finished,omitempty"`

	// failed is the revision that failed here. It goes no further until a person asks
	// for it.
	// +optional
	Failed string `json:"failed,omitempty"`

	// failedWorkloads is how many workloads failed with it because of the sidecar.
	// +optional
	FailedWorkloads int32 `json:"failedWorkloads,omitempty"`

	// handledRetryAt is the value of the annotation retry-rollout of the installation's
	// values when the revision failed: another value has it tried again.
	// +optional
	HandledRetryAt string `json:"handledRetryAt,omitempty"`

	// message says what the phase waits for.
	// +optional
	Message string `json:"message,omitempty"`
}

// RolloutPhase is how far a revision is.
type RolloutPhase string

const (
	// PhaseWaiting is a VectorSidecar that waits for the waves before its own.
	PhaseWaiting RolloutPhase = "Waiting"
	// PhaseProgressing is one whose workloads roll out.
	PhaseProgressing RolloutPhase = "Progressing"
	// PhaseSoaking is one whose workloads are done, and watched for the soak of the wave.
	PhaseSoaking RolloutPhase = "Soaking"
	// PhaseComplete is one that is done with its revision.
	PhaseComplete RolloutPhase = "Complete"
	// PhaseHalted is one whose next or present revision has failed, here or elsewhere.
	PhaseHalted RolloutPhase = "Halted"
)
