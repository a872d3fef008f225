// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload converts a workload to the View that planning needs, which includes the fields that each of
// the operator's field managers owns. It also defines Overlay, the fields that the operator merges into
// workloads. It takes objects from its callers and makes no API calls.
package workload

import (
	"fmt"
	"slices"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// View contains the parts of a workload that planning needs.
type View struct {
	Ref
	State
	ObjectView
	PodView
	// Account contains the fields of the ServiceAccount, or is nil if the ServiceAccount was not read. NewView
	// does not set Account, because it is not in the workload. The caller that evaluates the workload sets it.
	Account *Account
}

// ObjectView contains the parts of a workload outside of its pod template that planning needs, and the operator's
// fields. They differ between workloads.
type ObjectView struct {
	// Labels and Annotations are from the workload itself and not from its pod template. Annotations exclude
	// the operator's annotations and annotations that other controllers rewrite.
	Labels, Annotations map[string]string
	// TemplateSource names the other workload from which the workload gets its pod template. It is "" if the workload
	// has a pod template itself.
	TemplateSource string
	// Unread describes the fields of the workload that could not be decoded.
	Unread Unread
	// Owner is the controller owner of the workload, or nil for none.
	Owner *Owner
	// Overrides are the values that the workload's annotations set, by path, such as sidecar.resources.
	Overrides map[string]string
	// Owned contains the fields that the operator's managers have merged into the workload, by field manager.
	Owned map[string]OwnedFields
	// Marks are the operator's annotations, by field manager, that stay after the fields in Owned are removed.
	Marks map[string]Marks
	// InjectedEnv contains the records of environment variables that were injected into application containers,
	// sorted by key.
	InjectedEnv []EnvRecord
	// Paused reports whether the workload's rollouts are paused. Deleting reports whether the workload is being
	// deleted.
	Paused, Deleting bool
	// LastWriter is the field manager of the newest managedFields entry that does not belong to the operator. A write
	// that only removes fields leaves no entry, so it is not found.
	LastWriter string
	// OptOut is the quoted value of the annotation inject if the workload opts out of sidecars, and ""
	// otherwise.
	OptOut string
}

// PodView contains the parts of a pod template that planning needs. It is equal for most workloads of one chart.
type PodView struct {
	// Containers are the init containers and the containers, in that order.
	Containers []Container
	// Volumes are the pod's volumes, including the operator's.
	Volumes []Volume
	// PullSecrets are the names in the pod's imagePullSecrets, including the operator's. ServiceAccount is the
	// name of the pod's ServiceAccount.
	PullSecrets    []string
	ServiceAccount string
	// Claims are the names of volumes that the pods get from volumeClaimTemplates and not from the pod
	// template.
	Claims []string
	// PodLabels and PodAnnotations are the keys in the pod template, including the operator's keys.
	// SelectorKeys are the label keys in the workload's selector.
	PodLabels, PodAnnotations, SelectorKeys []string
	// PodTexts are the pod annotations that node agents read for containers, or the Cluster Autoscaler for
	// volumes, with their values.
	PodTexts map[string]string
	// HostPID, HostIPC, HostUsers, OS and SecurityContext are the pod's fields with these names.
	HostPID, HostIPC bool
	HostUsers        *bool
	OS               *corev1.PodOS
	SecurityContext  *corev1.PodSecurityContext
	// Secrets are the sorted names of the Secrets that the pod refers to, except in the operator's fields.
	Secrets []string
	// HostNetwork reports whether the pods use the network of the node, so that their ports are ports of the
	// node.
	HostNetwork bool
	// Windows is the path of the field that restricts the pods to Windows nodes, or "" if they may run on other
	// nodes.
	Windows string
	// NodeSelector contains the labels that a node must have to run the pods, from the node selector and the
	// required node affinity. It is nil for kinds that do not run a pod on every node.
	NodeSelector map[string]string
	// QoSClass is the QoS class of the pods without the operator's fields. It depends only on the pod template,
	// and not on fields that the API server adds to a pod, for example because of a LimitRange.
	QoSClass corev1.PodQOSClass
	// GraceSeconds is terminationGracePeriodSeconds of the pod, or nil if it is not set.
	GraceSeconds *int64
}

// Container is a container of the pod template.
type Container struct {
	Name   string
	Init   bool
	Ports  []corev1.ContainerPort
	Mounts []corev1.VolumeMount
	// Env contains only the variables that a subPathExpr of Mounts needs.
	Env             []corev1.EnvVar
	SecurityContext *corev1.SecurityContext
}

// readOverrides returns the values that annotations set, by path.
func readOverrides(annotations map[string]string) map[string]string {
	var overrides map[string]string
	for key, text := range annotations {
		path, ok := strings.CutPrefix(key, meta.AnnotationValuesPrefix)
		if !ok {
			continue
		}
		if overrides == nil {
			overrides = map[string]string{}
		}
		overrides[path] = text
	}
	return overrides
}

// selectorKeys returns the sorted label keys in a selector.
func selectorKeys(selector *metav1.LabelSelector) []string {
	if selector == nil {
		return nil
	}
	keys := sortedKeys(selector.MatchLabels)
	for i := range selector.MatchExpressions {
		keys = append(keys, selector.MatchExpressions[i].Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// optOutValue returns the quoted value of the annotation inject, or "" if the value is "true" or the annotation is
// missing. A misspelled value also opts out, because a user who sets the annotation does not want a sidecar.
func optOutValue(annotations map[string]string) string {
	if value, ok := annotations[meta.AnnotationInject]; ok && value != "true" {
		return fmt.Sprintf("%q", value)
	}
	return ""
}

// foreignAnnotations returns the annotations that may affect a rendering, or nil for none. It removes the operator's annotations,
// and annotations that change with each deployment or rollout.
func foreignAnnotations(annotations map[string]string) map[string]string {
	var result map[string]string
	for key, value := range annotations {
		switch {
		case strings.HasPrefix(key, meta.Group+"/"),
			strings.HasPrefix(key, meta.AnnotationValuesPrefix),
			isControllerAnnotation(key),
			key == corev1.LastAppliedConfigAnnotation:
		default:
			if result == nil {
				result = map[string]string{}
			}
			result[unique.Make(key).Value()] = value // Most workloads have the same keys, and keep one copy of each.
		}
	}
	return result
}

// isControllerAnnotation reports whether the controller of one of the Kinds writes an annotation with a key.
func isControllerAnnotation(key string) bool {
	return slices.ContainsFunc(kinds, func(kind *Kind) bool {
		return kind.Annotations != "" && strings.HasPrefix(key, kind.Annotations)
	})
}

// HasVolume reports whether the pods have a volume of that name.
func (v *View) HasVolume(name string) bool {
	return slices.ContainsFunc(v.Volumes, func(volume Volume) bool { return volume.Name == name }) || slices.Contains(v.Claims, name)
}

// ContainerOwner returns the operator's field manager that owns a container, or "".
func (v *View) ContainerOwner(container string) string {
	return v.findOwner(func(o *OwnedFields) bool { return slices.Contains(o.Containers, container) })
}

// VolumeOwner returns the operator's field manager that owns a volume, or "".
func (v *View) VolumeOwner(volume string) string {
	return v.findOwner(func(o *OwnedFields) bool { return slices.Contains(o.Volumes, volume) })
}

// findOwner returns the first of the operator's field managers, in the order of their names, for which owns returns
// true, or "" for none. It must not allocate, because every plan calls it several times.
func (v *View) findOwner(owns func(*OwnedFields) bool) string {
	first := ""
	for manager, owned := range v.Owned {
		if owns(&owned) && (first == "" || manager < first) {
			first = manager
		}
	}
	return first
}

// Values returns the values of the workload that templates can read. They do not contain sidecars, so that an
// injected sidecar does not affect the next rendering.
func (v *View) Values() map[string]any {
	containers := []any{}
	for c := range v.applicationContainers() {
		containers = append(containers, v.containerValues(c))
	}
	return map[string]any{
		"kind": v.Kind, "name": v.Name, "namespace": v.Namespace,
		"labels": anyValues(v.Labels), "annotations": anyValues(v.Annotations),
		"containers": containers, "qosClass": string(v.QoSClass), "users": v.userValues(),
		"accountPullSecrets": anyStrings(v.AccountPullSecrets()),
	}
}

// containerValues returns the values of a container that templates can read. They do not contain mounts of the
// operator's volumes.
func (v *View) containerValues(c *Container) map[string]any {
	ports, mounts := []any{}, []any{}
	for _, port := range c.Ports {
		ports = append(ports, map[string]any{
			"name": port.Name, "containerPort": float64(port.ContainerPort), "protocol": string(port.Protocol),
		})
	}
	for _, mount := range c.Mounts {
		if v.isOperatorVolume(mount.Name) {
			continue
		}
		mounts = append(mounts, map[string]any{
			"name": mount.Name, "mountPath": mount.MountPath, "subPath": mount.SubPath,
			"subPathExpr": mount.SubPathExpr, "env": variableValues(c.Env, mount.SubPathExpr),
		})
	}
	return map[string]any{"name": c.Name, "ports": ports, "volumeMounts": mounts}
}

// isOperatorVolume reports whether mounts of a volume belong to one of the operator's managers.
func (v *View) isOperatorVolume(name string) bool {
	for _, owned := range v.Owned {
		if owned.HasMounts(name) {
			return true
		}
	}
	return false
}

// OwnedMounts returns the mounts that a manager has added to the application's containers: the mounts of its
// volumes.
func (v *View) OwnedMounts(manager string) []Mount {
	owned := v.Owned[manager]
	var mounts []Mount
	for _, c := range v.Containers {
		if c.Init || slices.Contains(owned.Containers, c.Name) {
			continue
		}
		for _, mount := range c.Mounts {
			if owned.HasMounts(mount.Name) {
				mounts = append(mounts, Mount{Container: c.Name, VolumeMount: mount})
			}
		}
	}
	return mounts
}

// Mount is a volume mount to add to a container of the application, or that exists in it. Workloads store
// digests of its JSON.
type Mount struct {
	Container          string `json:"container"`
	corev1.VolumeMount `json:",inline"`
}
