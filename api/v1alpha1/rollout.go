// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RolloutStatus is how far a VectorSidecar, or a ClusterVectorSidecar in the namespaces of
// one wave, is with the templates and values of its installation, if the installation gives
// them out in waves.
type RolloutStatus struct {
	// revision is a digest of the installation's templates and values that were let
	// through to this VectorSidecar last.
	// +optional
	Revision string `json:"revision,omitempty"`

	// previous is the last revision before it that all workloads were done with and none
	// failed with.
	// +optional
	Previous string `json:"previous,omitempty"`

	// revertedFrom is the revision that failed, and that the VectorSidecar went back from.
	// +optional
	RevertedFrom string `json:"revertedFrom,omitempty"`

	// generation is that of the VectorSidecar when the revision was started, negative if
	// its own spec was reverted, 0 if workloads had failed before: what fails with another is
	// its owner's, and halts nobody else.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// wave is the name of the wave of rollout.waves that the VectorSidecar is in, rest
	// for those that none of them selects.
	// +required
	Wave string `json:"wave"`

	// state is Waiting, Progressing, Paused, Soaking, Complete, Halted or Reverted.
	// +optional
	State RolloutState `json:"state,omitempty"`

	// startTime is when the first workload began, or was about to begin, to roll out for
	// the revision. Empty if none had to.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when all workloads were done with the revision.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// workloads is the number of matched workloads.
	// +optional
	Workloads int32 `json:"workloads,omitempty"`

	// evidence is the number of matched workloads with pods that have run the sidecar of
	// the revision for spec.rollout.soak.
	// +optional
	Evidence int32 `json:"evidence,omitempty"`

	// failedRevision is the revision that failed here. It goes no further until a person asks
	// for it.
	// +optional
	FailedRevision string `json:"failedRevision,omitempty"`

	// failedWorkloads is how many workloads failed with it because of the sidecar.
	// +optional
	FailedWorkloads int32 `json:"failedWorkloads,omitempty"`

	// failures are the first workloads that failed with a revision because of the sidecar, or
	// objects that could not be rendered with it. They stay until a later revision is finished.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Failures []RolloutFailure `json:"failures,omitempty"`

	// lastHandledInstallationRetry is the value of the annotation retry-rollout of the installation's
	// values when the revision failed: another value has it tried again.
	// +optional
	LastHandledInstallationRetry string `json:"lastHandledInstallationRetry,omitempty"`

	// lastHandledRetry is a digest of the annotation retry-rollout of this VectorSidecar when the
	// revision was started, or failed last: another text has it go on here, and nowhere else.
	// +optional
	LastHandledRetry string `json:"lastHandledRetry,omitempty"`

	// lastHandledUndo is a digest of the annotation undo-rollout of the installation's values that this
	// VectorSidecar has handled: a retry here counts only if it was requested after that.
	// +optional
	LastHandledUndo string `json:"lastHandledUndo,omitempty"`

	// message says what the state waits for.
	// +optional
	Message string `json:"message,omitempty"`
}

// LacksEvidence reports whether workloads are matched, and no pod of one has run the sidecar of the revision.
func (s *RolloutStatus) LacksEvidence() bool { return s.Workloads > 0 && s.Evidence == 0 }

// RolloutFailure is the failure of one object with a revision.
type RolloutFailure struct {
	// revision that the object failed with.
	// +required
	Revision string `json:"revision"`
	// namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// kind of the workload, or VectorSidecar or ClusterVectorSidecar if its sidecar could not be
	// rendered.
	// +required
	Kind string `json:"kind"`
	// name of the object.
	// +required
	Name string `json:"name"`
	// reason is a CamelCase word that says why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// container is the container of the sidecar that is the cause, if that is known.
	// +optional
	Container string `json:"container,omitempty"`
	// message says what is wrong, with file and line if that is a template.
	// +kubebuilder:validation:MaxLength=256
	// +optional
	Message string `json:"message,omitempty"`
}

// Text describes the failure in one line.
func (f *RolloutFailure) Text() string {
	text := f.Kind + " " + f.Name
	if f.Namespace != "" {
		text = f.Kind + " " + f.Namespace + "/" + f.Name
	}
	text += " failed with revision " + f.Revision
	for _, more := range []string{f.Reason, f.Message} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// RolloutState is how far a revision is.
type RolloutState string

const (
	// RolloutWaiting is a VectorSidecar that waits for the waves before its own.
	RolloutWaiting RolloutState = "Waiting"
	// RolloutProgressing is one whose workloads roll out.
	RolloutProgressing RolloutState = "Progressing"
	// RolloutPaused is one whose workloads are not done, and nothing begins because it is
	// paused. No wave waits for it.
	RolloutPaused RolloutState = "Paused"
	// RolloutSoaking is one whose workloads are done, and watched for the soak of the wave.
	RolloutSoaking RolloutState = "Soaking"
	// RolloutComplete is one that is done with its revision.
	RolloutComplete RolloutState = "Complete"
	// RolloutHalted is one whose next or present revision has failed, here or elsewhere.
	RolloutHalted RolloutState = "Halted"
	// RolloutReverted is one that has gone back to the revision before, because the next failed.
	RolloutReverted RolloutState = "Reverted"
)

// LastKnownGoodSpec is the part of a VectorSidecar's spec that was rendered when all of its workloads were done
// with that.
type LastKnownGoodSpec struct {
	// digest of the spec below.
	// +required
	Digest string `json:"digest"`

	// generation of the VectorSidecar when its workloads were done.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// failing are the namespaces of a ClusterVectorSidecar where workloads failed all the same: what
	// fails there with the next spec takes nothing back.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	Failing []string `json:"failing,omitempty"`

	// spec is environment, templateSet, sidecar, initContainers, volumes and values, as JSON.
	// +kubebuilder:validation:MaxLength=262144
	// +required
	Spec string `json:"spec"`
}

// RevertedSpec is what is rendered of a VectorSidecar's spec and has failed, so that its workloads
// have the last good one.
type RevertedSpec struct {
	// digest of what failed. It is not rendered again until it is another, or a person asks for it.
	// +required
	Digest string `json:"digest"`

	// generation of the VectorSidecar when it failed.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// namespace of a ClusterVectorSidecar where they failed first.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// failedWorkloads is how many workloads had failed because of the sidecar, in that namespace.
	// +optional
	FailedWorkloads int32 `json:"failedWorkloads,omitempty"`

	// revertTime is when it failed.
	// +required
	RevertTime metav1.Time `json:"revertTime"`

	// lastHandledRetry is a digest of the annotation retry-rollout when it failed: another text has it
	// tried again.
	// +optional
	LastHandledRetry string `json:"lastHandledRetry,omitempty"`
}
