// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VectorSidecarStatus is what the operator observed and did.
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

	// matchedWorkloads is how many workloads the selector matches.
	// +default=0
	// +optional
	MatchedWorkloads int32 `json:"matchedWorkloads"`

	// injectedWorkloads is how many of those carry the current sidecar.
	// +default=0
	// +optional
	InjectedWorkloads int32 `json:"injectedWorkloads"`

	// readyWorkloads is how many of the injected ones have finished rolling out,
	// spec.rollout.soak included, and have all pods available. A workload without
	// pods does not count.
	// +default=0
	// +optional
	ReadyWorkloads int32 `json:"readyWorkloads"`

	// workloadsWithoutPods is how many of the injected ones need nothing, although no
	// pod has run the current sidecar: they have 0 replicas, no node, a CronJob without
	// a successful run since, or a strategy that keeps their pods.
	// +optional
	WorkloadsWithoutPods int32 `json:"workloadsWithoutPods,omitempty"`

	// kinds has the same numbers for each kind of workload.
	// +listType=map
	// +listMapKey=kind
	// +optional
	Kinds []KindStatus `json:"kinds,omitempty"`

	// matchedDeployments is how many Deployments the selector matches.
	// This and the following numbers are of Deployments alone.
	// +default=0
	// +optional
	MatchedDeployments int32 `json:"matchedDeployments"`

	// injectedDeployments is how many of those carry the current sidecar.
	// +default=0
	// +optional
	InjectedDeployments int32 `json:"injectedDeployments"`

	// workloads are the first workloads that are not as they should be: those that
	// need attention first, then by name.
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +optional
	Workloads []WorkloadStatus `json:"workloads,omitempty"`

	// workloadsOmitted is how many more there are than workloads lists.
	// +optional
	WorkloadsOmitted int32 `json:"workloadsOmitted,omitempty"`

	// injectedHash is the hash of what is injected, as in the annotation
	// injected-hash of the workloads. Empty if it differs between workloads.
	// +optional
	InjectedHash string `json:"injectedHash,omitempty"`

	// environment whose values are used.
	// +optional
	Environment string `json:"environment,omitempty"`

	// templateSet that is rendered.
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// rollout is how far the VectorSidecar is with the installation's templates and
	// values. Empty unless the installation gives them out in waves.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`

	// lastKnownGood is the spec that all workloads were done with last. Empty unless
	// spec.rollout.onFailure, or rollout.onFailure of the installation's values, is Revert.
	// +optional
	LastKnownGood *LastKnownGoodSpec `json:"lastKnownGood,omitempty"`

	// reverted is the spec that failed: workloads have status.lastKnownGood instead.
	// +optional
	Reverted *RevertedSpec `json:"reverted,omitempty"`

	// retry is the last rollout retry that was asked for.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// deferred is what waits for spec.rollout.mode. Empty if nothing does.
	// +optional
	Deferred *DeferredStatus `json:"deferred,omitempty"`

	// canary is the progress of spec.rollout.canary. Empty without it, and if no workload
	// can be one.
	// +optional
	Canary *CanaryStatus `json:"canary,omitempty"`

	// removedByOwners are the owners that take the sidecar out of their workloads, by kind: it is
	// put into no more workloads of that kind with an owner of that kind.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=ownerKind
	// +optional
	RemovedByOwners []OwnerRemoval `json:"removedByOwners,omitempty"`

	// lastReconcileTime is when this status or a workload last changed. A reconcile
	// that changes nothing does not update it.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile-at that was
	// last handled: setting the annotation requests a reconcile.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// RetryStatus is a rollout retry of one VectorSidecar.
type RetryStatus struct {
	// requested is a digest of the annotation retry-rollout.
	// +required
	Requested string `json:"requested"`
	// retryTime is when the operator saw it first: what failed before holds up no workload.
	// +required
	RetryTime metav1.Time `json:"retryTime"`
}

// CanaryStatus is the progress of spec.rollout.canary.
type CanaryStatus struct {
	// change is a digest of what workloads are to get: the annotation promote-rollout with
	// "canary" and this text starts it in all workloads, although no canary has pods.
	// +optional
	Change string `json:"change,omitempty"`
	// state is Progressing, WithoutPods or Finished.
	// +optional
	State CanaryState `json:"state,omitempty"`
}

// CanaryState is how far canaries are with a change.
type CanaryState string

const (
	// CanaryProgressing means that canaries roll out or soak.
	CanaryProgressing CanaryState = "Progressing"
	// CanaryWithoutPods means that canaries have the change, and none has pods that run it.
	CanaryWithoutPods CanaryState = "WithoutPods"
	// CanaryFinished means that the other workloads may get the change.
	CanaryFinished CanaryState = "Finished"
)

// PromotionOfCanary returns the value of the annotation promote-rollout that starts a change in all workloads, although
// no canary has pods.
func PromotionOfCanary(change string) string { return "canary" + change }

// DeferredStatus is what waits for spec.rollout.mode.
type DeferredStatus struct {
	// workloads is how many wait.
	// +optional
	Workloads int32 `json:"workloads,omitempty"`
	// since is when the one of them began to wait that has waited longest.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// change is a digest of what they are to get: the annotation promote-rollout with this
	// text lets them have it.
	// +optional
	Change string `json:"change,omitempty"`
}

// KindStatus counts the workloads of one kind.
type KindStatus struct {
	// kind of the workloads.
	// +required
	Kind WorkloadKind `json:"kind"`
	// matched is how many the selector matches.
	// +optional
	Matched int32 `json:"matched,omitempty"`
	// injected is how many of those carry the current sidecar.
	// +optional
	Injected int32 `json:"injected,omitempty"`
	// ready is how many of the injected ones have finished rolling out and have all
	// pods available.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// withoutPods is how many of the injected ones need nothing, although no pod has
	// run the current sidecar.
	// +optional
	WithoutPods int32 `json:"withoutPods,omitempty"`
	// podsOutdated is how many of the injected ones keep pods with the template before, as
	// their own update strategy says.
	// +optional
	PodsOutdated int32 `json:"podsOutdated,omitempty"`
	// waiting is how many are waiting for their turn to roll out.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`
	// deferred is how many wait for spec.rollout.mode.
	// +optional
	Deferred int32 `json:"deferred,omitempty"`
	// conflicting is how many cannot take the sidecar.
	// +optional
	Conflicting int32 `json:"conflicting,omitempty"`
	// skipped is how many are left out.
	// +optional
	Skipped int32 `json:"skipped,omitempty"`
	// failed is how many did not finish their rollout.
	// +optional
	Failed int32 `json:"failed,omitempty"`
}

// WorkloadStatus is a workload that is not as it should be, and why.
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
	// reason is a CamelCase word that says why.
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

// Add adds the numbers of another one.
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

// Is reports whether it is the workload of a kind and name. Kind has a default.
func (u *WorkloadStatus) Is(kind, name string) bool {
	return u.Name == name && cmp.Or(u.Kind, string(defaultWorkloads[0])) == kind
}

// WorkloadState is the state of a workload that is not as it should be.
type WorkloadState string

const (
	// StateFailed is a rollout that missed its deadline or failed because of the
	// sidecar.
	StateFailed WorkloadState = "Failed"
	// StatePodsBlocked is a workload whose pods are kept from running by something
	// that may resolve itself.
	StatePodsBlocked WorkloadState = "PodsBlocked"
	// StateRejected is a write that the API server rejected.
	StateRejected WorkloadState = "Rejected"
	// StateConflict is a name or field that another field manager owns.
	StateConflict WorkloadState = "Conflict"
	// StateBlocked is a workload that cannot take the sidecar as it is.
	StateBlocked WorkloadState = "Blocked"
	// StateRemoving is a workload whose sidecar is being removed.
	StateRemoving WorkloadState = "Removing"
	// StateRollingOut is a workload whose pods are being replaced.
	StateRollingOut WorkloadState = "RollingOut"
	// StateSoaking is a completed rollout before spec.rollout.soak has passed.
	StateSoaking WorkloadState = "Soaking"
	// StateUnavailable is a workload that has lost pods since its rollout
	// completed.
	StateUnavailable WorkloadState = "Unavailable"
	// StatePodsOutdated is a workload that has the sidecar in its template, and whose own
	// update strategy keeps pods without it.
	StatePodsOutdated WorkloadState = "PodsOutdated"
	// StateWithoutPods is a workload that has the sidecar in its template, and no pod
	// that has run it.
	StateWithoutPods WorkloadState = "WithoutPods"
	// StateWaiting is a workload that waits for its turn to roll out.
	StateWaiting WorkloadState = "Waiting"
	// StateDeferred is a workload that gets a change later, as spec.rollout.mode says.
	StateDeferred WorkloadState = "Deferred"
	// StateSkipped is a workload that its owner has left out.
	StateSkipped WorkloadState = "Skipped"
)
