// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// applicationOf returns the parts of a pod that admission checks, without the fields of the operator's
// managers.
func applicationOf(spec *corev1.PodSpec, ours map[string]Owned) corev1.PodSpec {
	application := corev1.PodSpec{
		HostNetwork: spec.HostNetwork, HostPID: spec.HostPID, HostIPC: spec.HostIPC,
		HostUsers: spec.HostUsers, OS: spec.OS, SecurityContext: spec.SecurityContext,
		InitContainers: foreignContainers(spec.InitContainers, ours),
		Containers:     foreignContainers(spec.Containers, ours),
	}
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; !anyOwns(ours, volumesOf, v.Name) {
			application.Volumes = append(application.Volumes, kindOnly(v))
		}
	}
	return application
}

func foreignContainers(containers []corev1.Container, ours map[string]Owned) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		c := &containers[i]
		if anyOwns(ours, containersOf, c.Name) {
			continue
		}
		kept = append(kept, corev1.Container{Name: c.Name, SecurityContext: c.SecurityContext, Ports: slices.Clone(c.Ports)})
	}
	return kept
}

// kindOnly returns a volume with only its name and kind. The kind includes the medium.
func kindOnly(volume *corev1.Volume) corev1.Volume {
	kept := corev1.Volume{Name: volume.Name}
	from, to := reflect.ValueOf(volume.VolumeSource), reflect.ValueOf(&kept.VolumeSource).Elem()
	for i := range from.NumField() {
		if source := from.Field(i); !source.IsNil() {
			to.Field(i).Set(reflect.New(source.Type().Elem()))
		}
	}
	if dir := volume.EmptyDir; dir != nil {
		kept.EmptyDir.Medium = dir.Medium
	}
	return kept
}

// IsOnNode reports whether the content of a volume is lost with its node. The Cluster Autoscaler does not
// remove a node with a pod that has such a volume, unless an annotation names the volume.
func IsOnNode(volume *corev1.Volume) bool {
	return volume.HostPath != nil || volume.EmptyDir != nil && volume.EmptyDir.Medium != corev1.StorageMediumMemory
}

func containersOf(o Owned) []string { return o.Containers }

// pullSecretsOf returns the pull secrets that only the manager lists.
func pullSecretsOf(o Owned) []string {
	return slices.DeleteFunc(slices.Clone(o.PullSecrets), func(name string) bool { return slices.Contains(o.SharedPullSecrets, name) })
}

func volumesOf(o Owned) []string {
	if len(o.Lost) == 0 {
		return o.Volumes
	}
	return slices.Concat(o.Volumes, o.Lost)
}

func anyOwns(ours map[string]Owned, items func(Owned) []string, name string) bool {
	for _, o := range ours {
		if slices.Contains(items(o), name) {
			return true
		}
	}
	return false
}
