// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload converts a workload to the view that planning needs, with the fields that each of the
// operator's field managers owns in it. It also describes the Overlay, which is merged into workloads. It takes
// objects from its callers and makes no API calls.
package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// View contains the parts of a workload that planning needs.
type View struct {
	Ref
	State
	// Labels and Annotations are from the workload itself. The annotations exclude the operator's annotations
	// and annotations that other controllers rewrite.
	Labels, Annotations map[string]string
	// Containers are the init containers and the containers, in that order.
	Containers []Container
	// Volumes are the names of the pod's volumes.
	Volumes []string
	// PullSecrets are the names in imagePullSecrets of the pod, including the operator's. ServiceAccount is the
	// name of the pod's ServiceAccount.
	PullSecrets    []string
	ServiceAccount string
	// Account contains the fields of that ServiceAccount, or is nil if it was not read. It is not in the
	// workload. The caller that evaluates a workload adds it.
	Account *Account
	// Claims are the names of volumes that are not in the template.
	Claims []string
	// TemplateSource names the workload that has the pod template instead, or is "" for none.
	TemplateSource string
	// Unread lists the fields of the workload that could not be decoded.
	Unread Unread
	// Owner is the controller owner of the workload, or nil for none.
	Owner *Owner
	// PodLabels and PodAnnotations are the keys in the pod template, including the operator's. SelectorKeys are
	// the labels in the workload's selector.
	PodLabels, PodAnnotations, SelectorKeys []string
	// PodTexts are the values of pod annotations that agents on the nodes read for containers, and the Cluster
	// Autoscaler for volumes.
	PodTexts map[string]string
	// Application is the part of the pod that admission checks, without the operator's fields: security
	// contexts, host namespaces, ports, and the kinds of volumes.
	Application corev1.PodSpec
	// Secrets are the sorted names of the Secrets that the pod refers to, except in the operator's fields.
	Secrets []string
	// Overrides are the values from the workload's annotations by path, such as
	// sidecar.resources.
	Overrides map[string]string
	// HostNetwork reports whether the ports are ports of the node.
	HostNetwork bool
	// Windows is the path of the field that keeps the pods on Windows nodes, "" if they may run on others.
	Windows string
	// NodeSelector contains the labels that the nodes of the pods must have, by node selector or required
	// affinity. It is nil for kinds that are not on every node.
	NodeSelector map[string]string
	// QoSClass is the QoS class of the pods without the operator's fields. It depends only on the template.
	// Fields that the API server adds to a pod, for example by a LimitRange, do not count.
	QoSClass corev1.PodQOSClass
	// GraceSeconds is terminationGracePeriodSeconds of the pod, or nil if it is not set.
	GraceSeconds *int64
	// Owned contains the fields that the operator has merged, by field manager.
	Owned map[string]Owned
	// Marks are annotations of the operator that are not removed with Owned, by field manager.
	Marks map[string]Marks
	// InjectedEnv contains the existing environment variables that were injected into application containers, by the
	// keys of the pod template's records. It is nil without a record.
	InjectedEnv map[string][]InjectedEnv
	// Paused and Deleting report the state of the workload.
	Paused, Deleting bool
	// LastWriter is the field manager of the newest managedFields entry that is not the operator's. A write
	// that only removes fields does not leave an entry.
	LastWriter string
	// OptOut is the value of the annotation inject if it opts out, and "" otherwise.
	OptOut string
}

// Container is a container of the pod template.
type Container struct {
	Name   string
	Init   bool
	Ports  []corev1.ContainerPort
	Mounts []corev1.VolumeMount
	// Env contains only the variables that a subPathExpr of Mounts needs.
	Env []corev1.EnvVar
}

// Overrides returns the values that annotations set, by path.
func Overrides(annotations map[string]string) map[string]string {
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

// selectorKeys returns the sorted label keys of a selector.
func selectorKeys(selector *metav1.LabelSelector) []string {
	if selector == nil {
		return nil
	}
	keys := slices.Collect(maps.Keys(selector.MatchLabels))
	for i := range selector.MatchExpressions {
		keys = append(keys, selector.MatchExpressions[i].Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// optOut returns the value that opts a workload out. A misspelled value also counts, because a user who sets
// the annotation does not want a sidecar.
func optOut(annotations map[string]string) string {
	if value, ok := annotations[meta.AnnotationInject]; ok && value != "true" {
		return fmt.Sprintf("%q", value)
	}
	return ""
}

func container(c *corev1.Container, isInit bool) Container {
	return Container{Name: c.Name, Init: isInit, Ports: c.Ports, Mounts: c.VolumeMounts, Env: pathVariables(c)}
}

// foreign removes the annotations that must not affect a rendering: the operator's annotations, and annotations
// that change with each deployment or rollout.
func foreign(annotations map[string]string) map[string]string {
	result := map[string]string{}
	for key, value := range annotations {
		switch {
		case strings.HasPrefix(key, meta.Group+"/"),
			strings.HasPrefix(key, meta.AnnotationValuesPrefix),
			isOfController(key),
			key == corev1.LastAppliedConfigAnnotation:
		default:
			result[key] = value
		}
	}
	return result
}

// isOfController reports whether the controller of one of the Kinds writes an annotation.
func isOfController(key string) bool {
	return slices.ContainsFunc(kinds, func(kind *Kind) bool {
		return kind.Annotations != "" && strings.HasPrefix(key, kind.Annotations)
	})
}

// HasVolume reports whether the pods have a volume of that name.
func (v *View) HasVolume(name string) bool {
	return slices.Contains(v.Volumes, name) || slices.Contains(v.Claims, name)
}

// ContainerOwner returns the operator's field manager that owns a container, or "".
func (v *View) ContainerOwner(container string) string {
	return v.ownerBy(func(o *Owned) bool { return slices.Contains(o.Containers, container) })
}

// VolumeOwner returns the operator's field manager that owns a volume, or "".
func (v *View) VolumeOwner(volume string) string {
	return v.ownerBy(func(o *Owned) bool { return slices.Contains(o.Volumes, volume) })
}

// ownerBy returns the first matching manager by name. Every plan calls it several times, so it must not
// allocate.
func (v *View) ownerBy(owns func(*Owned) bool) string {
	first := ""
	for manager, owned := range v.Owned {
		if owns(&owned) && (first == "" || manager < first) {
			first = manager
		}
	}
	return first
}

// Values returns the values of the workload for templates. They do not contain sidecars, so that an injected
// sidecar does not affect the next rendering.
func (v *View) Values() map[string]any {
	containers := []any{}
	for _, c := range v.Containers {
		if c.Init || v.ContainerOwner(c.Name) != "" {
			continue
		}
		containers = append(containers, v.values(&c))
	}
	return map[string]any{
		"kind": v.Kind, "name": v.Name, "namespace": v.Namespace,
		"labels": values(v.Labels), "annotations": values(v.Annotations),
		"containers": containers, "qosClass": string(v.QoSClass), "users": v.userValues(),
		"accountPullSecrets": texts(v.AccountPullSecrets()),
	}
}

func (v *View) values(c *Container) map[string]any {
	ports, mounts := []any{}, []any{}
	for _, port := range c.Ports {
		ports = append(ports, map[string]any{
			"name": port.Name, "containerPort": float64(port.ContainerPort), "protocol": string(port.Protocol),
		})
	}
	for _, mount := range c.Mounts {
		if v.isOurVolume(mount.Name) {
			continue
		}
		mounts = append(mounts, map[string]any{
			"name": mount.Name, "mountPath": mount.MountPath, "subPath": mount.SubPath,
			"subPathExpr": mount.SubPathExpr, "env": variableValues(c.Env, mount.SubPathExpr),
		})
	}
	return map[string]any{"name": c.Name, "ports": ports, "volumeMounts": mounts}
}

// isOurVolume reports whether mounts of a volume belong to one of the operator's managers.
func (v *View) isOurVolume(name string) bool {
	for _, owned := range v.Owned {
		if owned.Mounts(name) {
			return true
		}
	}
	return false
}

// OwnedMounts returns the live mounts of a manager's volumes in the application's containers.
func (v *View) OwnedMounts(manager string) []Mount {
	owned := v.Owned[manager]
	var mounts []Mount
	for _, c := range v.Containers {
		if c.Init || slices.Contains(owned.Containers, c.Name) {
			continue
		}
		for _, mount := range c.Mounts {
			if owned.Mounts(mount.Name) {
				mounts = append(mounts, Mount{Container: c.Name, VolumeMount: mount})
			}
		}
	}
	return mounts
}

// Mount is a mount in a container of the application. Its JSON is part of digests on workloads.
type Mount struct {
	Container          string `json:"container"`
	corev1.VolumeMount `json:",inline"`
}
