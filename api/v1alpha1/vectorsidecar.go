// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// VectorSidecar asks for a Vector sidecar in every Deployment of its namespace
// that its selector matches.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=observability
// +kubebuilder:printcolumn:name="Enabled",type=boolean,JSONPath=`.spec.enabled`
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=`.status.environment`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matchedDeployments`
// +kubebuilder:printcolumn:name="Injected",type=integer,JSONPath=`.status.injectedDeployments`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type VectorSidecar struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is that of every object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted. Only the selector is required.
	// +required
	Spec VectorSidecarSpec `json:"spec"`
	// status is what the operator found and did.
	// +optional
	Status VectorSidecarStatus `json:"status,omitempty"`
}

// VectorSidecarList is a list of VectorSidecars.
//
// +kubebuilder:object:root=true
type VectorSidecarList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VectorSidecar `json:"items"`
}

// VectorSidecarSpec is what is wanted. Sidecar, InitContainers, Volumes and
// Values have the keys of a values file and are its last layer: what is left
// out comes from the environment.
//
// +kubebuilder:validation:XValidation:rule="(has(self.matchAll) && self.matchAll) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)",message="spec.selector is empty and would match every Deployment of the namespace: name a label, or set spec.matchAll: true"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="spec.selector.matchExpressions: operator must be In, NotIn, Exists or DoesNotExist"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",message="spec.selector.matchExpressions: In and NotIn need values, Exists and DoesNotExist take none"
type VectorSidecarSpec struct {
	// enabled tells whether workloads carry the sidecar. Setting it to false
	// takes the sidecar out and keeps this object.
	// +default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// environment names the values to render with. Default: the label
	// vectorsidecar.observability.kontroloop.ai/environment of the namespace,
	// else the operator's default environment.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Environment string `json:"environment,omitempty"`

	// templateSet names the templates to render: "default", or a set that the
	// platform team gave the operator. Default: the one that the environment's
	// values name, else "default".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	TemplateSet string `json:"templateSet,omitempty"`

	// selector matches the labels of the Deployments themselves, not of their
	// pods. An empty selector is refused unless matchAll is true.
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// matchAll allows an empty selector, which matches every Deployment of
	// the namespace.
	// +optional
	MatchAll bool `json:"matchAll,omitempty"`

	// deletionPolicy says what becomes of the sidecars when this object is
	// deleted: Remove (default) takes them out, Orphan leaves them.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// driftPolicy says what happens when a person changes what was injected:
	// Enforce (default) repairs it, Report leaves it and says so.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// strictOrder starts new pods as soon as another writer puts an init
	// container before the native sidecar. Without it, the sidecar is put first
	// again together with the next change.
	// +optional
	StrictOrder bool `json:"strictOrder,omitempty"`

	// rollout paces how changes reach the workloads.
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

	// Values are free values for customised templates, seen as .Values.values.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// DeletionPolicy says what becomes of the sidecars when a VectorSidecar is
// deleted.
//
// +kubebuilder:validation:Enum=Remove;Orphan
type DeletionPolicy string

const (
	// DeletionRemove takes the sidecars out.
	DeletionRemove DeletionPolicy = "Remove"
	// DeletionOrphan leaves them, and the ConfigMaps that they read.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// DriftPolicy says what happens when a person changes what was injected.
//
// +kubebuilder:validation:Enum=Enforce;Report
type DriftPolicy string

const (
	// DriftEnforce repairs what was injected.
	DriftEnforce DriftPolicy = "Enforce"
	// DriftReport leaves the change and says so.
	DriftReport DriftPolicy = "Report"
)

// RolloutSpec paces how changes reach the workloads.
type RolloutSpec struct {
	// maxConcurrent is how many workloads may be rolling out at once because
	// of this VectorSidecar: a number, or a percentage of those that match,
	// rounded up. 100% for all at once. Default: 5.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number of at least 1, or a percentage from 1% to 100%"
	// +optional
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent,omitempty"`

	// soak is for how long without a break all pods of a workload have to be
	// available after its rollout. Until then the rollout counts as going on,
	// and keeps its place among maxConcurrent. 0s for not at all. Default: 30s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="must be at most 24h"
	// +optional
	Soak *metav1.Duration `json:"soak,omitempty"`

	// paused lets nothing new begin. Deleting the VectorSidecar still takes
	// the sidecars out.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// IsEnabled tells whether workloads should carry the sidecar.
func (s *VectorSidecarSpec) IsEnabled() bool { return s.Enabled == nil || *s.Enabled }

// Orphans tells whether this object is being deleted and leaves its sidecars.
func (v *VectorSidecar) Orphans() bool {
	return v.DeletionTimestamp != nil && v.Spec.DeletionPolicy == DeletionOrphan
}
