// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RolloutStatus is the progress of a VectorSidecar, or of a ClusterVectorSidecar in the namespaces
// of one wave, with the templates and values of its installation. It is set only if the
// installation publishes them in waves.
type RolloutStatus struct {
	// revision is a digest of the installation's templates and values that this VectorSidecar
	// started last.
	// +optional
	Revision string `json:"revision,omitempty"`

	// previous is the last earlier revision that all workloads finished without failures.
	// +optional
	Previous string `json:"previous,omitempty"`

	// revertedFrom is the revision that failed, from which the VectorSidecar was reverted.
	// +optional
	RevertedFrom string `json:"revertedFrom,omitempty"`

	// generation is the generation of the VectorSidecar when the revision was started. It is negative
	// if its own spec was reverted, and 0 if workloads had failed before. Failures with another
	// generation are caused by a change of the spec, and do not halt the revision for other
	// VectorSidecars.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// wave is the name of the wave of rollout.waves that selects the VectorSidecar, default if no
	// wave selects it.
	// +required
	Wave string `json:"wave"`

	// state is Waiting, Progressing, Paused, Soaking, Complete, Halted or Reverted.
	// +optional
	State RolloutState `json:"state,omitempty"`

	// startTime is when the first workload started, or was about to start, to roll out the
	// revision. Empty if no workload had to roll out.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when all workloads had finished the revision.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// workloads is the number of matched workloads.
	// +optional
	Workloads int32 `json:"workloads,omitempty"`

	// evidence is the number of matched workloads with pods that have run the sidecar of
	// the revision for spec.rollout.soak.
	// +optional
	Evidence int32 `json:"evidence,omitempty"`

	// failedRevision is the revision that failed in this VectorSidecar. It stays halted until a user
	// requests a retry.
	// +optional
	FailedRevision string `json:"failedRevision,omitempty"`

	// failedWorkloads is the number of workloads that failed with failedRevision because of the
	// sidecar.
	// +optional
	FailedWorkloads int32 `json:"failedWorkloads,omitempty"`

	// failures are the first workloads that failed with a revision because of the sidecar, or
	// objects that could not be rendered with it. They stay until a later revision is finished.
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	// +optional
	Failures []RolloutFailure `json:"failures,omitempty"`

	// lastHandledInstallationRetry is the value of the annotation retry-rollout of the
	// installation's values when the revision failed. A different value retries the revision.
	// +optional
	LastHandledInstallationRetry string `json:"lastHandledInstallationRetry,omitempty"`

	// lastHandledRetry is a digest of the annotation retry-rollout when the revision was started or
	// last failed. A different value of the annotation of this VectorSidecar retries the revision for
	// this VectorSidecar only.
	// +optional
	LastHandledRetry string `json:"lastHandledRetry,omitempty"`

	// lastHandledUndo is a digest of the annotation undo-rollout of the installation's values that
	// this VectorSidecar has handled. A retry of this VectorSidecar is valid only if it was requested
	// after that undo.
	// +optional
	LastHandledUndo string `json:"lastHandledUndo,omitempty"`

	// message explains the state and the condition for the next state.
	// +optional
	Message string `json:"message,omitempty"`
}

// LacksEvidence reports whether workloads are matched, but no pod of them has run the sidecar of
// the revision.
func (s *RolloutStatus) LacksEvidence() bool { return s.Workloads > 0 && s.Evidence == 0 }

// RolloutFailure is the failure of one object with a revision.
type RolloutFailure struct {
	// revision that the object failed to run.
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
	// reason is the cause as a CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// container is the container of the sidecar that caused the failure, if known.
	// +optional
	Container string `json:"container,omitempty"`
	// message explains the failure, with file and line for a template.
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

// RolloutState is the progress with a revision.
type RolloutState string

const (
	// RolloutWaiting means that the VectorSidecar waits for the preceding waves.
	RolloutWaiting RolloutState = "Waiting"
	// RolloutProgressing means that workloads roll out.
	RolloutProgressing RolloutState = "Progressing"
	// RolloutPaused means that workloads have not finished, and no rollout starts because the
	// VectorSidecar is paused. Waves do not wait for it.
	RolloutPaused RolloutState = "Paused"
	// RolloutSoaking means that all workloads have finished, and are observed for the soak of the
	// wave.
	RolloutSoaking RolloutState = "Soaking"
	// RolloutComplete means that the VectorSidecar has finished its revision.
	RolloutComplete RolloutState = "Complete"
	// RolloutHalted means that the next or present revision has failed, in this VectorSidecar or
	// another one.
	RolloutHalted RolloutState = "Halted"
	// RolloutReverted means that the VectorSidecar has returned to the previous revision, because
	// the next one failed.
	RolloutReverted RolloutState = "Reverted"
)

// LastKnownGoodSpec is the rendered part of a VectorSidecar's spec when all of its workloads had
// finished it.
type LastKnownGoodSpec struct {
	// digest of the field spec.
	// +required
	Digest string `json:"digest"`

	// generation of the VectorSidecar when its workloads had finished.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// failing are the namespaces of a ClusterVectorSidecar in which workloads failed with this spec.
	// If workloads fail there with the next spec, that spec is not reverted.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	Failing []string `json:"failing,omitempty"`

	// spec contains environment, templateSet, sidecar, initContainers, volumes and values, as JSON.
	// +kubebuilder:validation:MaxLength=262144
	// +required
	Spec string `json:"spec"`
}

// RevertedSpec is the rendered part of a VectorSidecar's spec that failed. Its workloads have the
// last known good spec instead.
type RevertedSpec struct {
	// digest of the failed spec. It is not rendered again until it changes, or a user requests a
	// retry.
	// +required
	Digest string `json:"digest"`

	// generation of the VectorSidecar when the spec failed.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// namespace of a ClusterVectorSidecar in which workloads failed first.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// failedWorkloads is the number of workloads that failed because of the sidecar. For a
	// ClusterVectorSidecar, only workloads in the namespace of the field namespace count.
	// +optional
	FailedWorkloads int32 `json:"failedWorkloads,omitempty"`

	// revertTime is when the spec failed.
	// +required
	RevertTime metav1.Time `json:"revertTime"`

	// lastHandledRetry is a digest of the annotation retry-rollout when the spec failed. A different
	// value of the annotation retries the spec.
	// +optional
	LastHandledRetry string `json:"lastHandledRetry,omitempty"`
}
