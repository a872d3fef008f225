// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// VectorSidecar requests a Vector sidecar in every workload of its namespace that its selector
// matches.
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
	// status is the state that the operator observed, and the result of its actions.
	// +optional
	Status VectorSidecarStatus `json:"status,omitempty"`

	// Malformed explains which part of the stored object cannot be read and is left out, "" for
	// none.
	Malformed string `json:"-"`

	// OmittedBytes is the size in bytes of the content that the operator's cache leaves out, 0 for a
	// complete object.
	OmittedBytes int `json:"-"`
}

// VectorSidecarList is a list of VectorSidecars.
//
// +kubebuilder:object:root=true
type VectorSidecarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VectorSidecar `json:"items"`
}

// VectorSidecarSpec is the desired state. Sidecar, InitContainers, Volumes and Values have the keys
// of a values file and are its last layer: unset fields have the values of the environment.
//
// +kubebuilder:validation:XValidation:rule="(has(self.matchAll) && self.matchAll) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)",message="spec.selector is empty and would match every workload of the namespace: name a label, or set spec.matchAll: true"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="spec.selector.matchExpressions: operator must be In, NotIn, Exists or DoesNotExist"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",message="spec.selector.matchExpressions: In and NotIn need values, Exists and DoesNotExist take none"
type VectorSidecarSpec struct {
	// enabled controls whether workloads get the sidecar. Setting it to false removes the sidecar
	// and keeps this object.
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

	// templateSet names the templates to render: "default", or a set that the platform team
	// provides. Default: the set that the environment's values name, or else "default".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// selector matches the labels of the workloads themselves, not of their pods.
	// An empty selector is rejected unless matchAll is true.
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// workloads are the kinds of workloads that get the sidecar. They must be enabled in the
	// installation: see workloads.kinds in its values.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +default=["Deployment"]
	// +optional
	Workloads []WorkloadKind `json:"workloads,omitempty"`

	// matchAll allows an empty selector, which matches every workload of the namespace
	// of these kinds.
	// +optional
	MatchAll bool `json:"matchAll,omitempty"`

	// deletionPolicy controls the sidecars when this object is deleted: Remove (default) removes them,
	// Orphan keeps them.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// driftPolicy controls manual changes of injected fields: Enforce (default) reverts them, Report
	// only reports them.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// strictOrder moves a native sidecar back before other init containers at once, which restarts
	// pods. If it is false (default), the next change of the sidecar corrects the order.
	// +optional
	StrictOrder bool `json:"strictOrder,omitempty"`

	// hostNetwork controls the injection into pods that use the network of their node: Skip (default)
	// or Inject. The sidecar uses ports of the node there. Workloads that already have the sidecar
	// keep it.
	// +optional
	HostNetwork HostNetworkPolicy `json:"hostNetwork,omitempty"`

	// ownedWorkloads controls the injection into workloads with a controller owner: Inject (default),
	// Skip or AtAdmission. Inject: until the controller owner removes the sidecar. Skip: no sidecar,
	// and injected ones are removed. AtAdmission: the API server injects the sidecar when the
	// controller owner writes the workload, which needs admissionInjection in the installation's
	// values.
	// +optional
	OwnedWorkloads OwnedWorkloads `json:"ownedWorkloads,omitempty"`

	// rollout controls when changes reach the workloads, and how many workloads roll out at the same
	// time.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// sidecar configures the sidecar container. It overrides the values of the environment.
	// +optional
	Sidecar *SidecarSpec `json:"sidecar,omitempty"`

	// initContainers are init containers that the pods get in addition to the sidecar.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// volumes are volumes that the pods get, for the sidecar and for initContainers.
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

// defaultWorkloads are the kinds if none are listed.
var defaultWorkloads = []WorkloadKind{"Deployment"}

// DeletionPolicy controls the sidecars when a VectorSidecar is deleted.
//
// +kubebuilder:validation:Enum=Remove;Orphan
type DeletionPolicy string

const (
	// DeletionRemove removes the sidecars.
	DeletionRemove DeletionPolicy = "Remove"
	// DeletionOrphan keeps them, and the ConfigMaps that they use.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// DriftPolicy controls manual changes of injected fields.
//
// +kubebuilder:validation:Enum=Enforce;Report
type DriftPolicy string

const (
	// DriftEnforce reverts the change.
	DriftEnforce DriftPolicy = "Enforce"
	// DriftReport keeps the change and reports it.
	DriftReport DriftPolicy = "Report"
)

// HostNetworkPolicy controls workloads on the network of their node.
//
// +kubebuilder:validation:Enum=Skip;Inject
type HostNetworkPolicy string

const (
	// HostNetworkSkip leaves them out.
	HostNetworkSkip HostNetworkPolicy = "Skip"
	// HostNetworkInject gives them the sidecar like other workloads.
	HostNetworkInject HostNetworkPolicy = "Inject"
)

// RolloutSpec controls when changes reach the workloads, and limits the pace.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxAge) || has(self.mode) && self.mode != 'Immediate'",message="maxAge has no effect without mode: OnAppRollout or Manual"
type RolloutSpec struct {
	// mode controls when workloads get a changed sidecar: Immediate (default), OnAppRollout or Manual.
	// Immediate: as soon as the rollout limits allow. OnAppRollout: with the next change of the pod
	// template by the application owner. Manual: after a promotion (kubectl vectorsidecar rollout
	// promote). Corrections and removals never wait for the mode. With OnAppRollout, workloads created
	// after this object do not wait for it either.
	// +optional
	Mode RolloutMode `json:"mode,omitempty"`

	// maxAge is the longest time that a workload waits for mode. After it, the change is rolled out
	// as soon as the rollout limits allow. Default: unlimited.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8784h')",message="must be at most 8784h, which is a year"
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// maxConcurrent is the number or percentage of matched workloads that may roll out at the same
	// time. Default: 5. A percentage is rounded up; 100% allows all.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent,omitempty"`

	// soak is the time for which all pods of a workload must be continuously available after its
	// rollout. Until then the rollout counts as in progress and towards maxConcurrent. 0s means no
	// soak. Default: 30s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="must be at most 24h"
	// +optional
	Soak *metav1.Duration `json:"soak,omitempty"`

	// paused prevents that further rollouts start. Deleting the VectorSidecar still removes the
	// sidecars.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// canary selects the workloads that get a change first. The others get it when all canaries
	// have it and have soaked. Default: none.
	// +optional
	Canary *CanarySpec `json:"canary,omitempty"`

	// onFailure is the reaction to a failed revision or spec: Halt stops, Revert returns to the
	// previous one. A revision of the installation's templates and values fails if it is halted
	// (rollout.halt of the installation's values), and a spec if workloads fail with it. Halt leaves
	// the workloads unchanged. Revert returns to the previous revision, or to the last known good
	// spec. Default: rollout.onFailure of the installation's values.
	// +optional
	OnFailure OnFailure `json:"onFailure,omitempty"`
}

// CanarySpec selects the workloads that get a change first: a number of them, or workloads with
// some labels.
// +kubebuilder:validation:XValidation:rule="has(self.workloads) != has(self.selector)",message="needs either workloads or selector"
type CanarySpec struct {
	// workloads is the number or percentage of matched workloads that are canaries, the first ones by
	// name. A percentage is rounded up.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	Workloads *intstr.IntOrString `json:"workloads,omitempty"`

	// selector matches the labels of the workloads that are canaries.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// RolloutMode controls when a workload gets a change of the sidecar.
// +kubebuilder:validation:Enum=Immediate;OnAppRollout;Manual
type RolloutMode string

const (
	// ModeImmediate rolls out a change as soon as the rollout limits allow.
	ModeImmediate RolloutMode = "Immediate"
	// ModeOnAppRollout waits for the application owner's next change of the pod template.
	ModeOnAppRollout RolloutMode = "OnAppRollout"
	// ModeManual waits until a user promotes the change.
	ModeManual RolloutMode = "Manual"
)

// OnFailure is the reaction to a halt.
// +kubebuilder:validation:Enum=Halt;Revert
type OnFailure string

const (
	// OnFailureHalt leaves the workloads unchanged.
	OnFailureHalt OnFailure = "Halt"
	// OnFailureRevert returns to the previous revision.
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

// RolloutMode returns the mode, which controls when workloads get a change.
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
