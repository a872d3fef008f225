// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload reduces a workload to what planning needs, with what each of the
// operator's field managers owns in it, and describes the Overlay that is merged into
// it. It reads the objects it is given and asks no cluster.
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

// View is what planning sees of a workload.
type View struct {
	Ref
	State
	// Labels and Annotations of the workload itself, the annotations without the
	// operator's own and without those that other controllers rewrite.
	Labels, Annotations map[string]string
	// Containers are the init containers and the containers, in that order.
	Containers []Container
	// Volumes are the names of the pod's volumes.
	Volumes []string
	// PullSecrets are the names in the pod's imagePullSecrets, ours among them, and
	// ServiceAccount is the name of the pod's.
	PullSecrets    []string
	ServiceAccount string
	// Account is what was read of that ServiceAccount, nil for nothing. It is not in the
	// workload: whoever evaluates one adds it.
	Account *Account
	// Claims are the names of further volumes, which are not in the template.
	Claims []string
	// Elsewhere names the workload that has the pod template instead, "" for none.
	Elsewhere string
	// Unread is what of the workload does not fit its type.
	Unread Unread
	// Owner is the object by which another operator owns the workload, nil for none.
	Owner *Owner
	// PodLabels and PodAnnotations are the keys in the pod template that are not ours,
	// SelectorKeys the labels in the workload's selector.
	PodLabels, PodAnnotations, SelectorKeys []string
	// PodTexts are the values of those pod annotations that tell agents of the nodes about
	// containers, and the Cluster Autoscaler about volumes.
	PodTexts map[string]string
	// Application is the part of the pod that admission judges, without what is ours:
	// security contexts, host namespaces, ports, and the kinds of volumes.
	Application corev1.PodSpec
	// Secrets are the names of the Secrets that the pod refers to without what is ours,
	// sorted.
	Secrets []string
	// Overrides are the values from the workload's annotations by path, such as
	// sidecar.resources.
	Overrides map[string]string
	// HostNetwork reports whether ports are the node's.
	HostNetwork bool
	// Windows is the path of the field that keeps the pods on Windows nodes, "" if they may run on others.
	Windows string
	// NodeSelector has the labels that the pods' nodes must have, by node selector or required affinity; nil for kinds that
	// are not on every node.
	NodeSelector map[string]string
	// QoSClass is that of the pods without what is ours, by the template alone: what the API
	// server adds to a pod, by a LimitRange for example, does not count.
	QoSClass corev1.PodQOSClass
	// GraceSeconds is the pod's terminationGracePeriodSeconds, nil if not given.
	GraceSeconds *int64
	// Owned is what the operator has merged in, by field manager.
	Owned map[string]Owned
	// Marks are annotations of the operator that do not go with Owned, by field manager.
	Marks map[string]Marks
	// Told is what the application was told of sidecars and has still, by the keys of the pod
	// template's records; nil without a record.
	Told map[string][]Told
	// Paused and Deleting are as the workload says.
	Paused, Deleting bool
	// LastWriter is the field manager of the newest managedFields entry that is not
	// ours. Removing fields alone leaves no entry.
	LastWriter string
	// OptOut is the value of the annotation inject if it opts out, else "".
	OptOut string
}

// Container is a container of the pod template.
type Container struct {
	Name   string
	Init   bool
	Ports  []corev1.ContainerPort
	Mounts []corev1.VolumeMount
	// Env are the variables that a subPathExpr of Mounts needs, and no others.
	Env []corev1.EnvVar
}

// Overrides returns the values that annotations set, by path.
func Overrides(annotations map[string]string) map[string]string {
	var found map[string]string
	for key, text := range annotations {
		path, ok := strings.CutPrefix(key, meta.AnnotationValuesPrefix)
		if !ok {
			continue
		}
		if found == nil {
			found = map[string]string{}
		}
		found[path] = text
	}
	return found
}

// selectorKeys returns the label keys of a selector, sorted.
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

// optOut returns the value by which a workload opts out. A misspelt value counts:
// somebody who sets the annotation wants no sidecar.
func optOut(annotations map[string]string) string {
	if value, given := annotations[meta.AnnotationInject]; given && value != "true" {
		return fmt.Sprintf("%q", value)
	}
	return ""
}

func container(c *corev1.Container, isInit bool) Container {
	return Container{Name: c.Name, Init: isInit, Ports: c.Ports, Mounts: c.VolumeMounts, Env: pathVariables(c)}
}

// foreign drops the annotations that must not influence a rendering: our own, and those
// that change with each deployment or rollout.
func foreign(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range annotations {
		switch {
		case strings.HasPrefix(key, meta.Group+"/"),
			strings.HasPrefix(key, meta.AnnotationValuesPrefix),
			isOfController(key),
			key == corev1.LastAppliedConfigAnnotation:
		default:
			kept[key] = value
		}
	}
	return kept
}

// isOfController reports whether the controller of one of the Kinds writes an
// annotation.
func isOfController(key string) bool {
	return slices.ContainsFunc(kinds, func(kind *Kind) bool {
		return kind.Annotations != "" && strings.HasPrefix(key, kind.Annotations)
	})
}

// HasVolume reports whether the pods have a volume of that name.
func (v *View) HasVolume(name string) bool {
	return slices.Contains(v.Volumes, name) || slices.Contains(v.Claims, name)
}

// OwnerOf returns the operator's field manager that owns a container, or "".
func (v *View) OwnerOf(container string) string {
	return v.ownerBy(func(of *Owned) bool { return slices.Contains(of.Containers, container) })
}

// OwnerOfVolume returns the operator's field manager that owns a volume, or "".
func (v *View) OwnerOfVolume(volume string) string {
	return v.ownerBy(func(of *Owned) bool { return slices.Contains(of.Volumes, volume) })
}

// ownerBy returns the first manager by name for which owns is true. Every plan calls it
// several times, so it must not allocate.
func (v *View) ownerBy(owns func(*Owned) bool) string {
	first := ""
	for manager, owned := range v.Owned {
		if owns(&owned) && (first == "" || manager < first) {
			first = manager
		}
	}
	return first
}

// Values is what templates see of the workload: without any sidecar, so that what was
// injected does not influence what is injected.
func (v *View) Values() map[string]any {
	containers := []any{}
	for _, c := range v.Containers {
		if c.Init || v.OwnerOf(c.Name) != "" {
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

// isOurVolume reports whether mounts of a volume are those of one of the operator's managers.
func (v *View) isOurVolume(name string) bool {
	for _, owned := range v.Owned {
		if owned.Mounts(name) {
			return true
		}
	}
	return false
}

// MountsOf returns the live mounts of a manager's volumes in the application's
// containers.
func (v *View) MountsOf(manager string) []Mount {
	owned := v.Owned[manager]
	var found []Mount
	for _, c := range v.Containers {
		if c.Init || slices.Contains(owned.Containers, c.Name) {
			continue
		}
		for _, mount := range c.Mounts {
			if owned.Mounts(mount.Name) {
				found = append(found, Mount{Container: c.Name, VolumeMount: mount})
			}
		}
	}
	return found
}

// Mount is a mount in a container of the application. Its JSON is part of digests on workloads.
type Mount struct {
	Container          string `json:"container"`
	corev1.VolumeMount `json:",inline"`
}
