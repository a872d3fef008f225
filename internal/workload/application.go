// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// applicationSpec returns the parts of a pod that admission checks, without the fields of the operator's
// managers.
func applicationSpec(spec *corev1.PodSpec, owned map[string]Owned) corev1.PodSpec {
	application := corev1.PodSpec{
		HostNetwork: spec.HostNetwork, HostPID: spec.HostPID, HostIPC: spec.HostIPC,
		HostUsers: spec.HostUsers, OS: spec.OS, SecurityContext: spec.SecurityContext,
		InitContainers: foreignContainers(spec.InitContainers, owned),
		Containers:     foreignContainers(spec.Containers, owned),
	}
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; !anyOwns(owned, ownedVolumes, v.Name) {
			application.Volumes = append(application.Volumes, kindOnly(v))
		}
	}
	return application
}

func foreignContainers(containers []corev1.Container, owned map[string]Owned) []corev1.Container {
	var result []corev1.Container
	for i := range containers {
		c := &containers[i]
		if anyOwns(owned, ownedContainers, c.Name) {
			continue
		}
		result = append(result, corev1.Container{Name: c.Name, SecurityContext: c.SecurityContext, Ports: slices.Clone(c.Ports)})
	}
	return result
}

// kindOnly returns a copy of a volume with only its name and its kind. For an emptyDir, it also keeps the
// medium.
func kindOnly(volume *corev1.Volume) corev1.Volume {
	reduced := corev1.Volume{Name: volume.Name}
	from, to := reflect.ValueOf(volume.VolumeSource), reflect.ValueOf(&reduced.VolumeSource).Elem()
	for i := range from.NumField() {
		if source := from.Field(i); !source.IsNil() {
			to.Field(i).Set(reflect.New(source.Type().Elem()))
		}
	}
	if dir := volume.EmptyDir; dir != nil {
		reduced.EmptyDir.Medium = dir.Medium
	}
	return reduced
}

// IsOnNode reports whether the content of a volume is lost with its node. The Cluster Autoscaler does not
// remove a node with a pod that has such a volume, unless an annotation names the volume.
func IsOnNode(volume *corev1.Volume) bool {
	return volume.HostPath != nil || volume.EmptyDir != nil && volume.EmptyDir.Medium != corev1.StorageMediumMemory
}

func ownedContainers(o Owned) []string { return o.Containers }

// ownedPullSecrets returns a manager's pull secrets without the pull secrets that a deployment tool also lists.
func ownedPullSecrets(o Owned) []string {
	return slices.DeleteFunc(slices.Clone(o.PullSecrets), func(name string) bool { return slices.Contains(o.SharedPullSecrets, name) })
}

func ownedVolumes(o Owned) []string {
	if len(o.Lost) == 0 {
		return o.Volumes
	}
	return slices.Concat(o.Volumes, o.Lost)
}

func anyOwns(owned map[string]Owned, items func(Owned) []string, name string) bool {
	for _, o := range owned {
		if slices.Contains(items(o), name) {
			return true
		}
	}
	return false
}
