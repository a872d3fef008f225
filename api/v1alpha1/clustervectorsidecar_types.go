// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterVectorSidecar requests a Vector sidecar in every workload of the selected namespaces that
// its selector matches. A VectorSidecar of a namespace takes precedence over it there.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=observability
// +kubebuilder:printcolumn:name="Enabled",type=boolean,JSONPath=`.spec.enabled`
// +kubebuilder:printcolumn:name="Namespaces",type=integer,JSONPath=`.status.selectedNamespaces`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matchedWorkloads`
// +kubebuilder:printcolumn:name="Injected",type=integer,JSONPath=`.status.injectedWorkloads`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterVectorSidecar struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state. Only the two selectors are required.
	// +required
	Spec ClusterVectorSidecarSpec `json:"spec"`
	// status is the state that the operator observed, and the result of its actions.
	// +optional
	Status ClusterVectorSidecarStatus `json:"status,omitempty"`

	// Malformed explains which part of the stored object cannot be read and is left out, "" for
	// none.
	Malformed string `json:"-"`
}

// ClusterVectorSidecarList is a list of ClusterVectorSidecars.
//
// +kubebuilder:object:root=true
type ClusterVectorSidecarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterVectorSidecar `json:"items"`
}

// ClusterVectorSidecarSpec is the spec of a VectorSidecar with the namespaces to which it applies.
// It applies to each namespace separately: spec.rollout limits the workloads of one namespace.
//
// +kubebuilder:validation:XValidation:rule="!has(self.namespaceSelector.matchExpressions) || self.namespaceSelector.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="spec.namespaceSelector.matchExpressions: operator must be In, NotIn, Exists or DoesNotExist"
// +kubebuilder:validation:XValidation:rule="!has(self.namespaceSelector.matchExpressions) || self.namespaceSelector.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",message="spec.namespaceSelector.matchExpressions: In and NotIn need values, Exists and DoesNotExist take none"
type ClusterVectorSidecarSpec struct {
	// namespaceSelector matches the labels of namespaces; an empty one, {}, matches all.
	// kube-system, kube-public, kube-node-lease and the operator's namespace are left
	// out unless it names them by kubernetes.io/metadata.name, and so are those with
	// the label or annotation vectorsidecar.observability.kontroloop.ai/inject: "false".
	// +required
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector"`

	ClusterScope `json:",inline"`

	VectorSidecarSpec `json:",inline"`
}

// ClusterScope has the fields of a ClusterVectorSidecar that a VectorSidecar does not have, except
// namespaceSelector.
type ClusterScope struct {
	// configMapNamespace is the namespace of sidecar.config.configMapRef: Workload (default) or
	// Operator. Workload: the namespace of the workloads. Operator: the operator namespace. In both
	// cases the workloads mount a copy in their own namespace.
	// +optional
	ConfigMapNamespace ConfigMapNamespace `json:"configMapNamespace,omitempty"`

	// takesPrecedenceOver are the names of VectorSidecars that do not take precedence over this
	// object, in any namespace. Sidecars that they have already injected stay.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	TakesPrecedenceOver []string `json:"takesPrecedenceOver,omitempty"`
}

// ConfigMapNamespace is the namespace of a ConfigMap that a ClusterVectorSidecar refers to.
// +kubebuilder:validation:Enum=Workload;Operator
type ConfigMapNamespace string

const (
	// ConfigMapOfWorkload means that the ConfigMap is read from the namespace of the workload.
	ConfigMapOfWorkload ConfigMapNamespace = "Workload"
	// ConfigMapOfOperator means that the ConfigMap is read from the operator namespace.
	ConfigMapOfOperator ConfigMapNamespace = "Operator"
)

// ClusterVectorSidecarStatus is the state that the operator observed in all namespaces, and the
// result of its actions.
type ClusterVectorSidecarStatus struct {
	// conditions are Ready, ConfigValid and Error, and, only while they are true,
	// Reconciling and Stalled, as kstatus expects.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// selectedNamespaces is the number of selected namespaces.
	// +default=0
	// +optional
	SelectedNamespaces int32 `json:"selectedNamespaces"`

	// readyNamespaces is the number of selected namespaces that are ready. Namespaces without pods
	// do not count.
	// +default=0
	// +optional
	ReadyNamespaces int32 `json:"readyNamespaces"`

	// namespacesWithoutPods is the number of selected namespaces that need no action although no
	// pod there has run the current sidecar, because only workloads without pods have it.
	// +optional
	NamespacesWithoutPods int32 `json:"namespacesWithoutPods,omitempty"`

	// matchedWorkloads is the number of workloads in these namespaces that the selector matches.
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
	// has run the current sidecar.
	// +optional
	WorkloadsWithoutPods int32 `json:"workloadsWithoutPods,omitempty"`

	// kinds counts the workloads of each kind.
	// +listType=map
	// +listMapKey=kind
	// +optional
	Kinds []KindStatus `json:"kinds,omitempty"`

	// waves is the progress with the templates and values of the installation, in the namespaces of
	// each wave. Empty unless the installation publishes them in waves.
	// +kubebuilder:validation:MaxItems=17
	// +listType=atomic
	// +optional
	Waves []RolloutStatus `json:"waves,omitempty"`

	// canariesWithoutPods are the changes, as in status.canary of a VectorSidecar, that wait in a
	// namespace because no canary there has pods.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	CanariesWithoutPods []string `json:"canariesWithoutPods,omitempty"`

	// finishedCanaries are the namespaces in which the canaries have finished a change, but not all
	// workloads are ready. The other workloads get the change even if the canaries lose their pods.
	// +kubebuilder:validation:MaxItems=1024
	// +listType=map
	// +listMapKey=namespace
	// +optional
	FinishedCanaries []FinishedCanary `json:"finishedCanaries,omitempty"`

	// lastKnownGood is the last spec that all namespaces finished, except failing ones. Empty
	// unless spec.rollout.onFailure, or rollout.onFailure of the installation's values, is Revert.
	// +optional
	LastKnownGood *LastKnownGoodSpec `json:"lastKnownGood,omitempty"`

	// reverted is the spec that failed. While it is set, workloads in all namespaces have the spec of
	// status.lastKnownGood.
	// +optional
	Reverted *RevertedSpec `json:"reverted,omitempty"`

	// retry is the last rollout retry that was requested.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// workloads are the first namespaces and workloads that are not up to date, sorted by the need
	// for a user's action and then by namespace.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	Workloads []NamespacedWorkloadStatus `json:"workloads,omitempty"`

	// workloadsOmitted is the number of entries that workloads does not list.
	// +optional
	WorkloadsOmitted int32 `json:"workloadsOmitted,omitempty"`

	// removedByOwners are the kinds of controller owners that remove the sidecar from their workloads.
	// The sidecar is not injected into other workloads of that kind with a controller owner of that
	// kind in the namespace. If three namespaces report the same kinds, that applies to all
	// namespaces.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	RemovedByOwners []OwnerRemoval `json:"removedByOwners,omitempty"`

	// lastReconcileTime is when this status or a workload last changed. A reconcile without changes
	// does not update it.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`

	// lastHandledReconcileAt is the value of the annotation reconcile-at that was last handled in
	// all namespaces. Setting the annotation requests a reconcile.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// MaxFinishedCanaries is the maximum number of entries of status.finishedCanaries.
const MaxFinishedCanaries = 1024

// FinishedCanary is a namespace in which the canaries have finished a change.
type FinishedCanary struct {
	// namespace of the canaries.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace"`
	// change is a digest, as in status.canary of a VectorSidecar.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Change string `json:"change"`
}

// NamespacedWorkloadStatus is a namespace or a workload that is not up to date.
type NamespacedWorkloadStatus struct {
	// namespace of the entry.
	// +required
	Namespace string `json:"namespace"`
	// kind of the workload. Empty if the entry describes the whole namespace.
	// +optional
	Kind string `json:"kind,omitempty"`
	// name of the workload. Empty if the entry describes the whole namespace.
	// +optional
	Name string `json:"name,omitempty"`
	// state of the workload, as in status.workloads of a VectorSidecar. The state of a namespace is
	// Stalled or Reconciling.
	// +required
	State string `json:"state"`
	// reason is the cause as a CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message names the problem and the next step.
	// +optional
	Message string `json:"message,omitempty"`
}
