// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// uses describes how an overlay uses a ConfigMap.
type uses struct {
	any bool
	// all reports whether a container may read any key. This is assumed for containers other than
	// Vector's, because their reads are unknown.
	all bool
	// keys are the keys that the overlay names.
	keys map[string]bool
	// files are the keys mounted in Vector's container, by path.
	files map[string]string
}

// usesOf returns how an overlay uses a ConfigMap, given the name of Vector's container.
func usesOf(overlay *workload.Overlay, container string, object *corev1.ConfigMap) *uses {
	found := &uses{keys: map[string]bool{}, files: map[string]string{}}
	spec := &overlay.Template.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			found.addVariables(&containers[i], object.Name)
			if containers[i].Name == container {
				found.addFiles(&containers[i], spec, object)
			}
		}
	}
	for i := range spec.Volumes {
		for _, items := range shown(&spec.Volumes[i], object.Name) {
			found.any = true
			for _, item := range items {
				found.keys[item.Key] = true
			}
			found.all = found.all || len(items) == 0 && isOpen(overlay, spec.Volumes[i].Name, container)
		}
	}
	return found
}

func (u *uses) addFiles(container *corev1.Container, spec *corev1.PodSpec, object *corev1.ConfigMap) {
	u.files = mountedFiles(container, spec, object)
	for _, mount := range container.VolumeMounts {
		if key, isFile := u.files[path.Clean(mount.MountPath)]; isFile {
			u.keys[key] = true // Mounted as a single file. Without the key, the kubelet creates a directory.
		}
	}
}

func (u *uses) addVariables(of *corev1.Container, name string) {
	for i := range of.EnvFrom {
		if source := of.EnvFrom[i].ConfigMapRef; source != nil && source.Name == name {
			u.any, u.all = true, true
		}
	}
	for i := range of.Env {
		if from := of.Env[i].ValueFrom; from != nil && from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == name {
			u.any = true
			u.keys[from.ConfigMapKeyRef.Key] = true
		}
	}
}

// isOpen reports whether a volume is mounted where its reads are unknown: in a container other than
// Vector's, or at a path that only the kubelet knows.
func isOpen(overlay *workload.Overlay, volume, container string) bool {
	spec := &overlay.Template.Spec
	for _, of := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, mount := range of.VolumeMounts {
			if mount.Name == volume && (of.Name != container || mount.SubPathExpr != "") {
				return true
			}
		}
	}
	return slices.ContainsFunc(overlay.Mounts, func(mount workload.Mount) bool { return mount.Name == volume })
}

// shown returns the keys and paths of each mount of a ConfigMap in a volume. An empty list means
// all keys.
func shown(volume *corev1.Volume, name string) [][]corev1.KeyToPath {
	var all [][]corev1.KeyToPath
	if source := volume.ConfigMap; source != nil && source.Name == name {
		all = append(all, source.Items)
	}
	if volume.Projected == nil {
		return all
	}
	for i := range volume.Projected.Sources {
		if source := volume.Projected.Sources[i].ConfigMap; source != nil && source.Name == name {
			all = append(all, source.Items)
		}
	}
	return all
}

// mountedFiles returns the files of a container that are keys of a ConfigMap: the keys by path.
func mountedFiles(container *corev1.Container, spec *corev1.PodSpec, object *corev1.ConfigMap) map[string]string {
	files := map[string]string{}
	for i := range spec.Volumes {
		for _, items := range shown(&spec.Volumes[i], object.Name) {
			if len(items) == 0 {
				for _, key := range allKeys(object) {
					items = append(items, corev1.KeyToPath{Key: key, Path: key})
				}
			}
			for _, mount := range container.VolumeMounts {
				if mount.Name != spec.Volumes[i].Name || mount.SubPathExpr != "" {
					continue
				}
				for _, item := range items {
					if rest, isBelow := below(path.Clean(item.Path), mount.SubPath); isBelow {
						files[path.Join(mount.MountPath, rest)] = item.Key
					}
				}
			}
		}
	}
	return files
}

// below returns the path of a volume's file relative to one of its directories, "" if they are the
// same. The directory "" is the whole volume.
func below(file, folder string) (rest string, isBelow bool) {
	switch folder = path.Clean(folder); folder {
	case ".":
		return file, true
	case file:
		return "", true
	}
	return strings.CutPrefix(file, folder+"/")
}

// allKeys returns the sorted keys of a ConfigMap.
func allKeys(object *corev1.ConfigMap) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(object.Data)), slices.Collect(maps.Keys(object.BinaryData)))
	slices.Sort(keys)
	return keys
}
