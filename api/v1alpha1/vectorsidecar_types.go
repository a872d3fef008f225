// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// VectorSidecar asks for a Vector sidecar in every workload of its namespace that its
// selector matches.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=observability
// +kubebuilder:printcolumn:name="Enabled",type=boolean,JSONPath=`.spec.enabled`
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=`.status.environment`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matchedWorkloads`
// +kubebuilder:printcolumn:name="Injected",type=integer,JSONPath=`.status.injectedWorkloads`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type VectorSidecar struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state. Only the selector is required.
	// +required
	Spec VectorSidecarSpec `json:"spec"`
	// status is what the operator observed and did.
	// +optional
	Status VectorSidecarStatus `json:"status,omitempty"`

	// Cluster is set where this value stands for a ClusterVectorSidecar in one namespace,
	// which is so in a process alone: no object of a cluster has it.
	Cluster *InCluster `json:"-"`

	// Malformed says what of the stored object cannot be read, and is left out here, "" for
	// nothing.
	Malformed string `json:"-"`
}

// InCluster is what tells a ClusterVectorSidecar in one namespace from a VectorSidecar.
type InCluster struct {
	ClusterScope `json:"-"`

	// IsLeaving is true if it does not select the namespace any more.
	IsLeaving bool `json:"-"`

	// Invalid says why its namespaceSelector cannot be read, "" if it can: whether it
	// selects the namespace is not known then.
	Invalid string `json:"-"`

	// Waves are those of its status, which are shared.
	Waves []RolloutStatus `json:"-"`
}

// VectorSidecarList is a list of VectorSidecars.
//
// +kubebuilder:object:root=true
type VectorSidecarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VectorSidecar `json:"items"`
}

// VectorSidecarSpec is the desired state. Sidecar, InitContainers, Volumes and
// Values have the keys of a values file and are its last layer: what is unset comes
// from the environment.
//
// +kubebuilder:validation:XValidation:rule="(has(self.matchAll) && self.matchAll) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)",message="spec.selector is empty and would match every workload of the namespace: name a label, or set spec.matchAll: true"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="spec.selector.matchExpressions: operator must be In, NotIn, Exists or DoesNotExist"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",message="spec.selector.matchExpressions: In and NotIn need values, Exists and DoesNotExist take none"
type VectorSidecarSpec struct {
	// enabled says whether workloads get the sidecar. Setting it to false removes
	// the sidecar and keeps this object.
	// +default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// environment names the values to render with. Default: the label
	// vectorsidecar.observability.kontroloop.ai/environment of the namespace, or
	// else the operator's default environment.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Environment string `json:"environment,omitempty"`

	// templateSet names the templates to render: "default", or a set that the
	// platform team provides. Default: the one that the environment's values name,
	// or else "default".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// selector matches the labels of the workloads themselves, not of their pods.
	// An empty selector is rejected unless matchAll is true.
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// workloads are the kinds of workloads that get the sidecar. The installation must
	// serve them: see workloads.kinds in its values.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +default=["Deployment"]
	// +optional
	Workloads []WorkloadKind `json:"workloads,omitempty"`

	// matchAll allows an empty selector, which matches every workload of the namespace
	// of these kinds.
	// +optional
	MatchAll bool `json:"matchAll,omitempty"`

	// deletionPolicy says what happens to the sidecars when this object is deleted:
	// Remove (default) removes them, Orphan keeps them.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// driftPolicy says what happens when someone changes what was injected: Enforce
	// (default) reverts the change, Report keeps and reports it.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// strictOrder rolls out new pods as soon as another writer puts an init
	// container before the native sidecar. Otherwise the sidecar moves back to
	// first place with the next change.
	// +optional
	StrictOrder bool `json:"strictOrder,omitempty"`

	// hostNetwork says what happens to workloads whose pods are on the network of their
	// node, where the sidecar's ports are the node's: Skip (default) leaves them out,
	// Inject does not. Those that have the sidecar keep it.
	// +optional
	HostNetwork HostNetworkPolicy `json:"hostNetwork,omitempty"`

	// ownedWorkloads says what happens to workloads that another operator owns, by a
	// controller owner reference: Inject (default) gives them the sidecar until their owner
	// takes it out, Skip leaves them out, AtAdmission leaves it to the API server to put it
	// in when their owner writes them (admissionInjection).
	// +optional
	OwnedWorkloads OwnedWorkloads `json:"ownedWorkloads,omitempty"`

	// rollout limits how fast changes reach the workloads.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// sidecar overrides the environment's values for the sidecar.
	// +optional
	Sidecar *SidecarSpec `json:"sidecar,omitempty"`

	// initContainers are added to the pod beside the sidecar.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// volumes are added to the pod for the sidecar and the init containers.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// Values are arbitrary values for custom templates, available as
	// .Values.values.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// WorkloadKind is a kind of workload that can have a sidecar.
//
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;CronJob;Job;Rollout
type WorkloadKind string

// defaultWorkloads are the kinds if none are given.
var defaultWorkloads = []WorkloadKind{"Deployment"}

// DeletionPolicy says what happens to the sidecars when a VectorSidecar is deleted.
//
// +kubebuilder:validation:Enum=Remove;Orphan
type DeletionPolicy string

const (
	// DeletionRemove removes the sidecars.
	DeletionRemove DeletionPolicy = "Remove"
	// DeletionOrphan keeps them, and the ConfigMaps that they use.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// DriftPolicy says what happens when someone changes what was injected.
//
// +kubebuilder:validation:Enum=Enforce;Report
type DriftPolicy string

const (
	// DriftEnforce reverts the change.
	DriftEnforce DriftPolicy = "Enforce"
	// DriftReport keeps the change and reports it.
	DriftReport DriftPolicy = "Report"
)

// HostNetworkPolicy says what happens to workloads on the network of their node.
//
// +kubebuilder:validation:Enum=Skip;Inject
type HostNetworkPolicy string

const (
	// HostNetworkSkip leaves them out.
	HostNetworkSkip HostNetworkPolicy = "Skip"
	// HostNetworkInject gives them the sidecar as any other.
	HostNetworkInject HostNetworkPolicy = "Inject"
)

// RolloutSpec says when changes reach the workloads, and limits how fast.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxAge) || has(self.mode) && self.mode != 'Immediate'",message="maxAge has no effect without mode: OnAppRollout or Manual"
type RolloutSpec struct {
	// mode says when a workload gets a change of the sidecar: Immediate (default) in its
	// turn, OnAppRollout with its owner's next change of the pod template, Manual when a
	// person says so (kubectl vectorsidecar rollout promote). Repairs and removals wait in
	// no mode. Nor does, with OnAppRollout, a workload that was created after this object.
	// +optional
	Mode RolloutMode `json:"mode,omitempty"`

	// maxAge is how long a workload waits for mode at most: what waited longer goes in its
	// turn. Default: for ever.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8784h')",message="must be at most 8784h, which is a year"
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// maxConcurrent is how many workloads may roll out at once because of this
	// VectorSidecar: a number, or a percentage of the matched ones, rounded up. Use
	// 100% for all at once. Default: 5.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent,omitempty"`

	// soak is how long all pods of a workload must be continuously available after
	// its rollout. Until then the rollout counts as in progress and towards
	// maxConcurrent. 0s means no soak. Default: 30s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="must be at most 24h"
	// +optional
	Soak *metav1.Duration `json:"soak,omitempty"`

	// paused starts no new rollouts. Deleting the VectorSidecar still removes the
	// sidecars.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// canary is the workloads that get a change first. The others get it when all of
	// these have it and have soaked. Default: none.
	// +optional
	Canary *CanarySpec `json:"canary,omitempty"`

	// onFailure is what this VectorSidecar does when the installation's templates and
	// values that it has are halted (rollout.halt of the installation's values), or when
	// workloads fail with its own spec: Halt stays, Revert goes back to those before, or to
	// the last spec that all workloads were done with. Default: rollout.onFailure of the
	// installation's values.
	// +optional
	OnFailure OnFailure `json:"onFailure,omitempty"`
}

// CanarySpec says which workloads get a change first: a number of them, or those with
// some labels.
// +kubebuilder:validation:XValidation:rule="has(self.workloads) != has(self.selector)",message="needs either workloads or selector"
type CanarySpec struct {
	// workloads is how many, the first by name: a number, or a percentage of the matched
	// ones, rounded up.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	Workloads *intstr.IntOrString `json:"workloads,omitempty"`

	// selector is the labels that they have.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// RolloutMode says when a workload gets a change of the sidecar.
// +kubebuilder:validation:Enum=Immediate;OnAppRollout;Manual
type RolloutMode string

const (
	// ModeImmediate is in its turn.
	ModeImmediate RolloutMode = "Immediate"
	// ModeOnAppRollout is with its owner's next change of the pod template.
	ModeOnAppRollout RolloutMode = "OnAppRollout"
	// ModeManual is when a person promotes the change.
	ModeManual RolloutMode = "Manual"
)

// OnFailure is what follows a halt.
// +kubebuilder:validation:Enum=Halt;Revert
type OnFailure string

const (
	// OnFailureHalt leaves things as they are.
	OnFailureHalt OnFailure = "Halt"
	// OnFailureRevert goes back to the revision before.
	OnFailureRevert OnFailure = "Revert"
)

// IsEnabled reports whether workloads should have the sidecar.
func (s *VectorSidecarSpec) IsEnabled() bool { return s.Enabled == nil || *s.Enabled }

// Kinds returns the kinds of workloads that get the sidecar.
func (s *VectorSidecarSpec) Kinds() []WorkloadKind {
	if len(s.Workloads) == 0 {
		return defaultWorkloads
	}
	return s.Workloads
}

// RolloutMode returns when workloads get a change.
func (s *VectorSidecarSpec) RolloutMode() RolloutMode {
	if s.Rollout == nil || s.Rollout.Mode == "" {
		return ModeImmediate
	}
	return s.Rollout.Mode
}

// Orphans reports whether this object is being deleted and keeps its sidecars.
func (v *VectorSidecar) Orphans() bool {
	return v.DeletionTimestamp != nil && v.Spec.DeletionPolicy == DeletionOrphan
}
