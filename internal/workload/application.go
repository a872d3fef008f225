// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Volume is a volume of the pod template, without the details of its source.
type Volume struct {
	Name string
	// Kind is the name of the field with the volume's source, such as emptyDir. It is "" if the volume has no source.
	Kind string
	// Medium is the medium of an emptyDir.
	Medium corev1.StorageMedium
}

// NewVolume returns a volume without the details of its source.
func NewVolume(volume *corev1.Volume) Volume {
	result := Volume{Name: volume.Name}
	source := reflect.ValueOf(&volume.VolumeSource).Elem() // A pointer, so that the source is not copied.
	for i := range source.NumField() {
		if !source.Field(i).IsNil() {
			result.Kind = jsonName(source.Type().Field(i))
		}
	}
	if volume.EmptyDir != nil {
		result.Medium = volume.EmptyDir.Medium
	}
	return result
}

// IsOnNode reports whether the content of the volume is lost with its node. The Cluster Autoscaler does not
// remove a node with a pod that has such a volume, unless an annotation names the volume.
func (v *Volume) IsOnNode() bool {
	return v.Kind == "hostPath" || v.Kind == "emptyDir" && v.Medium != corev1.StorageMediumMemory
}

// toVolume returns a volume of the same kind with an empty source, as a check of kinds needs it.
func (v *Volume) toVolume() corev1.Volume {
	volume := corev1.Volume{Name: v.Name}
	source := reflect.ValueOf(&volume.VolumeSource).Elem()
	for i := range source.NumField() {
		if jsonName(source.Type().Field(i)) == v.Kind {
			source.Field(i).Set(reflect.New(source.Type().Field(i).Type.Elem()))
		}
	}
	if volume.EmptyDir != nil {
		volume.EmptyDir.Medium = v.Medium
	}
	return volume
}

// jsonName returns the name of a field in JSON.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// Application returns the parts of the pod that admission checks, without the fields of the operator's managers:
// security contexts, host namespaces, ports, and the kinds of volumes.
func (v *View) Application() *corev1.PodSpec {
	pod := &corev1.PodSpec{
		HostNetwork: v.HostNetwork, HostPID: v.HostPID, HostIPC: v.HostIPC, HostUsers: v.HostUsers, OS: v.OS, SecurityContext: v.SecurityContext,
	}
	for i := range v.Containers {
		c := &v.Containers[i]
		if v.ContainerOwner(c.Name) != "" {
			continue
		}
		list := &pod.Containers
		if c.Init {
			list = &pod.InitContainers
		}
		*list = append(*list, corev1.Container{Name: c.Name, SecurityContext: c.SecurityContext, Ports: c.Ports})
	}
	for _, volume := range v.ApplicationVolumes() {
		pod.Volumes = append(pod.Volumes, volume.toVolume())
	}
	return pod
}

// ApplicationVolumes returns the volumes of the pod template that do not belong to the operator.
func (v *View) ApplicationVolumes() []Volume {
	return slices.DeleteFunc(slices.Clone(v.Volumes), func(volume Volume) bool { return v.isOperatorVolume(volume.Name) })
}

func ownedContainers(o OwnedFields) []string { return o.Containers }

// ownedPullSecrets returns the pull secrets that belong only to a manager, and not also to a deployment tool.
func ownedPullSecrets(o OwnedFields) []string {
	return slices.DeleteFunc(slices.Clone(o.PullSecrets), func(name string) bool { return slices.Contains(o.SharedPullSecrets, name) })
}

// ownedVolumes returns the names of a manager's volumes, including recorded volumes that the pod template no longer
// has.
func ownedVolumes(o OwnedFields) []string {
	if len(o.Lost) == 0 {
		return o.Volumes
	}
	return slices.Concat(o.Volumes, o.Lost)
}

// anyOwns reports whether an item with a name belongs to one of the operator's managers. items returns the names of the
// items of one manager, such as its containers.
func anyOwns(owned map[string]OwnedFields, items func(OwnedFields) []string, name string) bool {
	for _, o := range owned {
		if slices.Contains(items(o), name) {
			return true
		}
	}
	return false
}
