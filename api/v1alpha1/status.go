// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VectorSidecarStatus is the state that the operator observed, and the result of its actions.
type VectorSidecarStatus struct {
	// conditions are Ready, ConfigValid and Error, and, only while they are true,
	// Reconciling and Stalled, as kstatus expects.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matchedWorkloads is the number of workloads that the selector matches.
	// +default=0
	// +optional
	MatchedWorkloads int32 `json:"matchedWorkloads"`

	// injectedWorkloads is the number of matched workloads with the current sidecar in the pod
	// template.
	// +default=0
	// +optional
	InjectedWorkloads int32 `json:"injectedWorkloads"`

	// readyWorkloads is the number of injected workloads that have finished rolling out, including
	// spec.rollout.soak, and have all pods available. A workload without pods does not count.
	// +default=0
	// +optional
	ReadyWorkloads int32 `json:"readyWorkloads"`

	// workloadsWithoutPods is the number of injected workloads that need no action although no pod
	// has run the current sidecar. They have 0 replicas, no node, a CronJob without a successful
	// run since, or a strategy that keeps their pods.
	// +optional
	WorkloadsWithoutPods int32 `json:"workloadsWithoutPods,omitempty"`

	// kinds counts the workloads of each kind.
	// +listType=map
	// +listMapKey=kind
	// +optional
	Kinds []KindStatus `json:"kinds,omitempty"`

	// matchedDeployments is the number of Deployments that the selector matches.
	// +default=0
	// +optional
	MatchedDeployments int32 `json:"matchedDeployments"`

	// injectedDeployments is the number of matched Deployments with the current sidecar in the pod
	// template.
	// +default=0
	// +optional
	InjectedDeployments int32 `json:"injectedDeployments"`

	// workloads are the first workloads that are not up to date, sorted by the need for attention
	// and then by name.
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +optional
	Workloads []WorkloadStatus `json:"workloads,omitempty"`

	// workloadsOmitted is the number of entries that workloads does not list.
	// +optional
	WorkloadsOmitted int32 `json:"workloadsOmitted,omitempty"`

	// injectedHash is the hash of the sidecar, as in the annotation injected-hash of the workloads.
	// Empty if it differs between workloads.
	// +optional
	InjectedHash string `json:"injectedHash,omitempty"`

	// environment is the environment that provides the values.
	// +optional
	Environment string `json:"environment,omitempty"`

	// templateSet is the template set that is rendered.
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// rollout is the progress with the installation's templates and values. Empty unless the
	// installation publishes them in waves.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`

	// lastKnownGood is the last spec that all workloads finished. Empty unless
	// spec.rollout.onFailure, or rollout.onFailure of the installation's values, is Revert.
	// +optional
	LastKnownGood *LastKnownGoodSpec `json:"lastKnownGood,omitempty"`

	// reverted is the spec that failed. While it is set, workloads have the spec of
	// status.lastKnownGood.
	// +optional
	Reverted *RevertedSpec `json:"reverted,omitempty"`

	// retry is the last rollout retry that was requested.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// deferred describes the workloads that wait for spec.rollout.mode. Empty if none waits.
	// +optional
	Deferred *DeferredStatus `json:"deferred,omitempty"`

	// canary is the progress of spec.rollout.canary. Empty without it, and if no workload can be a
	// canary.
	// +optional
	Canary *CanaryStatus `json:"canary,omitempty"`

	// removedByOwners are the kinds of controller owners that remove the sidecar from their workloads.
	// The sidecar is not injected into other workloads of that kind with a controller owner of that
	// kind.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=ownerKind
	// +optional
	RemovedByOwners []OwnerRemoval `json:"removedByOwners,omitempty"`

	// lastReconcileTime is when this status or a workload last changed. A reconcile without changes
	// does not update it.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile-at that was last handled.
	// Setting the annotation requests a reconcile.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// RetryStatus is a rollout retry of one VectorSidecar.
type RetryStatus struct {
	// requested is a digest of the annotation retry-rollout.
	// +required
	Requested string `json:"requested"`
	// retryTime is when the operator first observed the retry. Failures before that time do not block
	// other workloads.
	// +required
	RetryTime metav1.Time `json:"retryTime"`
}

// CanaryStatus is the progress of spec.rollout.canary.
type CanaryStatus struct {
	// change is a digest of the next change of the workloads. The annotation promote-rollout with the
	// value canary, directly followed by this digest, starts the change in all workloads although no
	// canary has pods.
	// +optional
	Change string `json:"change,omitempty"`
	// state is Progressing, WithoutPods or Finished.
	// +optional
	State CanaryState `json:"state,omitempty"`
}

// CanaryState is the progress of canaries with a change.
type CanaryState string

const (
	// CanaryProgressing means that canaries roll out or soak.
	CanaryProgressing CanaryState = "Progressing"
	// CanaryWithoutPods means that canaries have the change, but no pods that run it.
	CanaryWithoutPods CanaryState = "WithoutPods"
	// CanaryFinished means that the other workloads may get the change.
	CanaryFinished CanaryState = "Finished"
)

// PromotionOfCanary returns the value of the annotation promote-rollout that starts a change in all
// workloads although no canary has pods.
func PromotionOfCanary(change string) string { return "canary" + change }

// DeferredStatus describes the workloads that wait for spec.rollout.mode.
type DeferredStatus struct {
	// workloads is the number of waiting workloads.
	// +optional
	Workloads int32 `json:"workloads,omitempty"`
	// since is when the longest wait started.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// change is a digest of the next change of the workloads. The annotation promote-rollout with this
	// digest as its value starts the change.
	// +optional
	Change string `json:"change,omitempty"`
}

// KindStatus counts the workloads of one kind.
type KindStatus struct {
	// kind of the workloads.
	// +required
	Kind WorkloadKind `json:"kind"`
	// matched is the number of workloads that the selector matches.
	// +optional
	Matched int32 `json:"matched,omitempty"`
	// injected is the number of matched workloads with the current sidecar in the pod template.
	// +optional
	Injected int32 `json:"injected,omitempty"`
	// ready is the number of injected workloads that have finished rolling out and have all pods
	// available.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// withoutPods is the number of injected workloads that need no action although no pod has run
	// the current sidecar.
	// +optional
	WithoutPods int32 `json:"withoutPods,omitempty"`
	// podsOutdated is the number of injected workloads that keep pods with the previous template
	// because of their update strategy.
	// +optional
	PodsOutdated int32 `json:"podsOutdated,omitempty"`
	// waiting is the number of workloads that wait because of the rollout limits.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`
	// deferred is the number of workloads that wait for spec.rollout.mode.
	// +optional
	Deferred int32 `json:"deferred,omitempty"`
	// conflicting is the number of workloads that cannot get the sidecar, for example because of a
	// conflict.
	// +optional
	Conflicting int32 `json:"conflicting,omitempty"`
	// skipped is the number of workloads that the operator skips, for example because they have opted
	// out.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`
	// failed is the number of workloads that did not finish their rollout.
	// +optional
	Failed int32 `json:"failed,omitempty"`
}

// WorkloadStatus is a workload that is not up to date, and the reason.
type WorkloadStatus struct {
	// kind of the workload.
	// +default="Deployment"
	// +optional
	Kind string `json:"kind,omitempty"`
	// name of the workload.
	// +required
	Name string `json:"name"`
	// state is Failed, PodsBlocked, Rejected, Conflict, Blocked, Removing,
	// RollingOut, Soaking, Unavailable, Waiting, PodsOutdated, WithoutPods, Deferred or
	// Skipped.
	// +required
	State WorkloadState `json:"state"`
	// reason is the cause as a CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message names the problem and the next step.
	// +optional
	Message string `json:"message,omitempty"`
}

// Total returns the sum of the numbers of all kinds.
func (s *VectorSidecarStatus) Total() KindStatus {
	var total KindStatus
	for i := range s.Kinds {
		total.Add(&s.Kinds[i])
	}
	return total
}

// Add adds the numbers of another KindStatus.
func (k *KindStatus) Add(other *KindStatus) {
	k.Matched += other.Matched
	k.Injected += other.Injected
	k.Ready += other.Ready
	k.WithoutPods += other.WithoutPods
	k.PodsOutdated += other.PodsOutdated
	k.Waiting += other.Waiting
	k.Deferred += other.Deferred
	k.Conflicting += other.Conflicting
	k.Skipped += other.Skipped
	k.Failed += other.Failed
}

// Is reports whether the entry has a kind and a name. Kind has a default.
func (u *WorkloadStatus) Is(kind, name string) bool {
	return u.Name == name && cmp.Or(u.Kind, string(defaultWorkloads[0])) == kind
}

// WaitsForHealthy reports whether the workload waits for healthy workloads, because it failed before the change.
func (u *WorkloadStatus) WaitsForHealthy() bool { return u.Reason == "WaitingForHealthy" }

// WorkloadState is the state of a workload that is not up to date.
type WorkloadState string

const (
	// StateFailed is a rollout that missed its deadline or failed because of the
	// sidecar.
	StateFailed WorkloadState = "Failed"
	// StatePodsBlocked is a workload with pods that are blocked by a cause that may pass.
	StatePodsBlocked WorkloadState = "PodsBlocked"
	// StateRejected is a write that the API server rejected.
	StateRejected WorkloadState = "Rejected"
	// StateConflict is a name or field that another field manager owns.
	StateConflict WorkloadState = "Conflict"
	// StateBlocked is a workload that cannot get the sidecar in its present form.
	StateBlocked WorkloadState = "Blocked"
	// StateRemoving is a workload from which the sidecar is being removed.
	StateRemoving WorkloadState = "Removing"
	// StateRollingOut is a workload with pods that are being replaced.
	StateRollingOut WorkloadState = "RollingOut"
	// StateSoaking is a completed rollout before spec.rollout.soak has passed.
	StateSoaking WorkloadState = "Soaking"
	// StateUnavailable is a workload that has lost pods since its rollout completed.
	StateUnavailable WorkloadState = "Unavailable"
	// StatePodsOutdated is a workload with the sidecar in its template, and with pods without it
	// because of its update strategy.
	StatePodsOutdated WorkloadState = "PodsOutdated"
	// StateWithoutPods is a workload with the sidecar in its template, and without a pod that has
	// run it.
	StateWithoutPods WorkloadState = "WithoutPods"
	// StateWaiting is a workload that waits because of the rollout limits.
	StateWaiting WorkloadState = "Waiting"
	// StateDeferred is a workload that gets a change later, according to spec.rollout.mode.
	StateDeferred WorkloadState = "Deferred"
	// StateSkipped is a workload that the application owner has left out.
	StateSkipped WorkloadState = "Skipped"
)
