// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// OverlaySet has the sidecars that the API server injects into new workloads of a
// namespace. The operator writes one for each namespace; it is the parameter of the chart's
// MutatingAdmissionPolicies, and only the operator may write it.
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=observability
type OverlaySet struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec has the fields that the policies read.
	// +required
	Spec OverlaySetSpec `json:"spec"`
}

// OverlaySetList is a list of OverlaySets.
// +kubebuilder:object:root=true
type OverlaySetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// +listType=atomic
	// +required
	Items []OverlaySet `json:"items"`
}

// OverlaySetSpec has the sidecars and the workloads that each one selects.
type OverlaySetSpec struct {
	// overlays are the sidecars, in the order in which their VectorSidecars take precedence, and with them those of ClusterVectorSidecars that select the namespace. A workload gets at most one of each.
	// +listType=atomic
	// +required
	Overlays []Overlay `json:"overlays"`
	// native are init containers that come before the workload's own, the last one first.
	// +listType=atomic
	// +required
	Native []OverlayItem `json:"native"`
	// initContainers are those that come after them.
	// +listType=atomic
	// +required
	InitContainers []OverlayItem `json:"initContainers"`
	// containers are regular ones.
	// +listType=atomic
	// +required
	Containers []OverlayItem `json:"containers"`
	// volumes are volumes of the pod.
	// +listType=atomic
	// +required
	Volumes []OverlayItem `json:"volumes"`
	// podAnnotations are annotations of the pods, without the lists of injected items.
	// +listType=atomic
	// +required
	PodAnnotations []OverlayAnnotation `json:"podAnnotations"`

	// annotations are those of workloads that get no other sidecar. Of overlays that depend on the workload, only the operator knows them.
	// +listType=atomic
	// +required
	Annotations []OverlayAnnotation `json:"annotations"`

	// applicationEnv are the variables with the addresses of sidecars, for the application's containers, in the order of the overlays.
	// +listType=atomic
	// +optional
	ApplicationEnv []OverlayApplicationEnv `json:"applicationEnv,omitempty"`
}

// OverlayApplicationEnv is a variable of the application's containers.
type OverlayApplicationEnv struct {
	// overlayID is the id of the overlay that it belongs to.
	// +required
	OverlayID string `json:"overlayID"`
	// containers are the names of the application's containers that get it; * is all of them.
	// +listType=atomic
	// +required
	Containers []string `json:"containers"`
	// name is its name.
	// +required
	Name string `json:"name"`
	// value is its value, in which {kind}, {name} and {namespace} stand for the workload's.
	// +required
	Value string `json:"value"`
}

// OverlayAnnotation is an annotation of a workload with an overlay in it, or of its pods.
type OverlayAnnotation struct {
	// overlayID is the id of the overlay that it belongs to.
	// +required
	OverlayID string `json:"overlayID"`
	// key is its key.
	// +required
	Key string `json:"key"`
	// path is its key in a JSON pointer.
	// +required
	Path string `json:"path"`
	// value is its value.
	// +required
	Value string `json:"value"`
}

// OverlayItem is something that is added to a list of the pod.
type OverlayItem struct {
	// overlayID is the id of the overlay that it belongs to.
	// +required
	OverlayID string `json:"overlayID"`
	// item is the container or volume.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +required
	Item runtime.RawExtension `json:"item"`
}

// Overlay is the sidecar of one VectorSidecar and the workloads that it selects.
type Overlay struct {
	// id is the name that items refer to.
	// +required
	ID string `json:"id"`
	// vectorSidecar is the name of the VectorSidecar, or clustervectorsidecar/NAME for a ClusterVectorSidecar.
	// +required
	VectorSidecar string `json:"vectorSidecar"`
	// skipReason says why the operator injects the sidecar and not the API server; empty if the API server does.
	// +required
	SkipReason string `json:"skipReason"`
	// kinds are the kinds of workloads that it is for.
	// +listType=atomic
	// +required
	Kinds []WorkloadKind `json:"kinds"`
	// skipsOwned is true if it is for no workload that another operator owns.
	// +optional
	SkipsOwned bool `json:"skipsOwned,omitempty"`
	// requirements are those of the selector, all of which labels have to meet.
	// +listType=atomic
	// +required
	Requirements []OverlayRequirement `json:"requirements"`
	// hash is the injected-hash of the sidecar.
	// +required
	Hash string `json:"hash"`
	// inputHash is a digest of the input that it was rendered from.
	// +required
	InputHash string `json:"inputHash"`
	// digest is a digest of the overlay and of the dry run for it.
	// +required
	Digest string `json:"digest"`
	// hashKey is the annotation with the injected-hash beside other VectorSidecars.
	// +required
	HashKey string `json:"hashKey"`
	// inputHashKey is the annotation with the input-hash beside other VectorSidecars.
	// +required
	InputHashKey string `json:"inputHashKey"`
	// injectedItemsKey is the annotation of the pod template that lists the injected items.
	// +required
	InjectedItemsKey string `json:"injectedItemsKey"`
	// injectedItemsPath is its key in a JSON pointer.
	// +required
	InjectedItemsPath string `json:"injectedItemsPath"`
	// injectedItems is its value.
	// +required
	InjectedItems string `json:"injectedItems"`
	// injectedEnvKey is the annotation of the pod template that lists the variables injected into the application's containers; empty if there are none.
	// +optional
	InjectedEnvKey string `json:"injectedEnvKey,omitempty"`
	// injectedEnvPath is its key in a JSON pointer.
	// +optional
	InjectedEnvPath string `json:"injectedEnvPath,omitempty"`
	// initNames are the names of its init containers.
	// +listType=atomic
	// +required
	InitNames []string `json:"initNames"`
	// containerNames are the names of its regular containers.
	// +listType=atomic
	// +required
	ContainerNames []string `json:"containerNames"`
	// volumeNames are the names of its volumes.
	// +listType=atomic
	// +required
	VolumeNames []string `json:"volumeNames"`
	// annotationKeys are the keys of its pod annotations, without the list of injected items.
	// +listType=atomic
	// +required
	AnnotationKeys []string `json:"annotationKeys"`
	// ports are its ports, as 9598/TCP.
	// +listType=atomic
	// +required
	Ports []string `json:"ports"`
	// needs are volumes of the application that it mounts.
	// +listType=atomic
	// +required
	Needs []string `json:"needs"`
	// secrets are the Secrets that it refers to.
	// +listType=atomic
	// +required
	Secrets []string `json:"secrets"`
	// graceSeconds is the least terminationGracePeriodSeconds that a pod must have.
	// +required
	GraceSeconds int64 `json:"graceSeconds"`
	// qos is Guaranteed or Other if it is for pods of that QoS class alone.
	// +required
	QoS string `json:"qos"`
	// logs is where the application has to have its log files, nothing for any place.
	// +optional
	Logs *OverlayLogs `json:"logs,omitempty"`
	// supersedes are the VectorSidecars that take precedence over this one and conflict with it: they supersede it.
	// +listType=atomic
	// +required
	Supersedes []string `json:"supersedes"`
}

// OverlayLogs is where an application has its log files.
type OverlayLogs struct {
	// path is sidecar.logs.path.
	// +required
	Path string `json:"path"`
	// volume is the volume that is mounted there.
	// +required
	Volume string `json:"volume"`
	// mountPath is where.
	// +required
	MountPath string `json:"mountPath"`
}

// OverlayRequirement is a requirement on a label.
type OverlayRequirement struct {
	// key is the label's.
	// +required
	Key string `json:"key"`
	// operator is In, NotIn, Exists or DoesNotExist.
	// +required
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// values are those of In and NotIn.
	// +listType=atomic
	// +required
	Values []string `json:"values"`
}
