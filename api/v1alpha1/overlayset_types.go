// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// OverlaySet has the sidecars that the API server injects into new workloads of a namespace. The
// operator writes one for each namespace. It is the parameter of the chart's
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

// OverlaySetSpec has the sidecars and the workloads that each of them selects.
type OverlaySetSpec struct {
	// overlays are the sidecars, in the order of precedence of their VectorSidecars and of the
	// ClusterVectorSidecars that select the namespace. A workload gets at most one sidecar of each.
	// +listType=atomic
	// +required
	Overlays []Overlay `json:"overlays"`
	// native are init containers that are inserted before the workload's own, the last one first.
	// +listType=atomic
	// +required
	Native []OverlayItem `json:"native"`
	// initContainers are init containers that are inserted after the workload's own.
	// +listType=atomic
	// +required
	InitContainers []OverlayItem `json:"initContainers"`
	// containers are regular containers.
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

	// annotations are the annotations of workloads that get no other sidecar. If an overlay depends
	// on the workload, they are left out, because only the operator knows them.
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
	// overlayID is the id of the overlay of the variable.
	// +required
	OverlayID string `json:"overlayID"`
	// containers are the names of the application's containers that get the variable; * selects all
	// of them.
	// +listType=atomic
	// +required
	Containers []string `json:"containers"`
	// name is the name of the variable.
	// +required
	Name string `json:"name"`
	// value is the value of the variable. {kind}, {name} and {namespace} in it stand for the
	// workload's.
	// +required
	Value string `json:"value"`
}

// OverlayAnnotation is an annotation of a workload with an overlay, or of its pods.
type OverlayAnnotation struct {
	// overlayID is the id of the overlay of the annotation.
	// +required
	OverlayID string `json:"overlayID"`
	// key is the key of the annotation.
	// +required
	Key string `json:"key"`
	// path is the key of the annotation in a JSON pointer.
	// +required
	Path string `json:"path"`
	// value is the value of the annotation.
	// +required
	Value string `json:"value"`
}

// OverlayItem is an item that is added to a list of the pod.
type OverlayItem struct {
	// overlayID is the id of the overlay of the item.
	// +required
	OverlayID string `json:"overlayID"`
	// item is the container or volume.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +required
	Item runtime.RawExtension `json:"item"`
}

// Overlay is the sidecar of one VectorSidecar and the workloads that it selects.
type Overlay struct {
	// id is the name that the fields overlayID refer to.
	// +required
	ID string `json:"id"`
	// vectorSidecar is the name of the VectorSidecar, or clustervectorsidecar/NAME for a ClusterVectorSidecar.
	// +required
	VectorSidecar string `json:"vectorSidecar"`
	// skipReason explains why the operator injects the sidecar instead of the API server; empty if
	// the API server injects it.
	// +required
	SkipReason string `json:"skipReason"`
	// kinds are the kinds of workloads that get the overlay.
	// +listType=atomic
	// +required
	Kinds []WorkloadKind `json:"kinds"`
	// skipsOwned is true if workloads with a controller owner do not get the overlay.
	// +optional
	SkipsOwned bool `json:"skipsOwned,omitempty"`
	// requirements are the requirements of the selector. Labels must meet all of them.
	// +listType=atomic
	// +required
	Requirements []OverlayRequirement `json:"requirements"`
	// hash is the injected-hash of the sidecar.
	// +required
	Hash string `json:"hash"`
	// inputHash is a digest of the input of the rendering.
	// +required
	InputHash string `json:"inputHash"`
	// digest is a digest of the overlay and of the dry run for it.
	// +required
	Digest string `json:"digest"`
	// hashKey is the annotation with the injected-hash if the workload also has other
	// VectorSidecars.
	// +required
	HashKey string `json:"hashKey"`
	// inputHashKey is the annotation with the input-hash if the workload also has other
	// VectorSidecars.
	// +required
	InputHashKey string `json:"inputHashKey"`
	// injectedItemsKey is the annotation of the pod template that lists the injected items.
	// +required
	InjectedItemsKey string `json:"injectedItemsKey"`
	// injectedItemsPath is the key of that annotation in a JSON pointer.
	// +required
	InjectedItemsPath string `json:"injectedItemsPath"`
	// injectedItems is the value of that annotation.
	// +required
	InjectedItems string `json:"injectedItems"`
	// injectedEnvKey is the annotation of the pod template that lists the variables injected into the application's containers; empty if there are none.
	// +optional
	InjectedEnvKey string `json:"injectedEnvKey,omitempty"`
	// injectedEnvPath is the key of that annotation in a JSON pointer.
	// +optional
	InjectedEnvPath string `json:"injectedEnvPath,omitempty"`
	// initNames are the names of the init containers of the overlay.
	// +listType=atomic
	// +required
	InitNames []string `json:"initNames"`
	// containerNames are the names of the regular containers of the overlay.
	// +listType=atomic
	// +required
	ContainerNames []string `json:"containerNames"`
	// volumeNames are the names of the volumes of the overlay.
	// +listType=atomic
	// +required
	VolumeNames []string `json:"volumeNames"`
	// annotationKeys are the keys of the pod annotations of the overlay, without the list of injected
	// items.
	// +listType=atomic
	// +required
	AnnotationKeys []string `json:"annotationKeys"`
	// ports are the ports of the overlay, such as 9598/TCP.
	// +listType=atomic
	// +required
	Ports []string `json:"ports"`
	// needs are the application's volumes that the overlay mounts.
	// +listType=atomic
	// +required
	Needs []string `json:"needs"`
	// secrets are the Secrets that the overlay refers to.
	// +listType=atomic
	// +required
	Secrets []string `json:"secrets"`
	// graceSeconds is the smallest terminationGracePeriodSeconds that a pod must have, in seconds.
	// +required
	GraceSeconds int64 `json:"graceSeconds"`
	// qos is Guaranteed or Other if only pods of that QoS class get the overlay, and empty if pods of
	// any class get it.
	// +required
	QoS string `json:"qos"`
	// logs is the required mount of the application's log files, empty for any.
	// +optional
	Logs *OverlayLogs `json:"logs,omitempty"`
	// supersedes are the VectorSidecars that take precedence over this one and conflict with it: they supersede it.
	// +listType=atomic
	// +required
	Supersedes []string `json:"supersedes"`
}

// OverlayLogs is the mount of an application's log files.
type OverlayLogs struct {
	// path is sidecar.logs.path.
	// +required
	Path string `json:"path"`
	// volume is the volume that is mounted there.
	// +required
	Volume string `json:"volume"`
	// mountPath is the path of the mount.
	// +required
	MountPath string `json:"mountPath"`
}

// OverlayRequirement is a requirement on a label.
type OverlayRequirement struct {
	// key is the key of the label.
	// +required
	Key string `json:"key"`
	// operator is In, NotIn, Exists or DoesNotExist.
	// +required
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// values are the values of In and NotIn.
	// +listType=atomic
	// +required
	Values []string `json:"values"`
}
