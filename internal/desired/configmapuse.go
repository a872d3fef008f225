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

// configMapUse describes how an overlay uses one ConfigMap.
type configMapUse struct {
	isUsed bool
	// needsAllKeys reports whether a container may read any key of the ConfigMap. Of containers other than Vector's, it
	// is unknown which keys they read.
	needsAllKeys bool
	// keys are the keys that the overlay names explicitly.
	keys map[string]bool
	// files contains the keys that are mounted in Vector's container, by the path of the file.
	files map[string]string
}

// newConfigMapUse returns how an overlay uses a ConfigMap. container is the name of Vector's container.
func newConfigMapUse(overlay *workload.Overlay, container string, object *corev1.ConfigMap) *configMapUse {
	usage := &configMapUse{keys: map[string]bool{}, files: map[string]string{}}
	spec := &overlay.Template.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			usage.addVariables(&containers[i], object.Name)
			if containers[i].Name == container {
				usage.addFiles(&containers[i], spec, object)
			}
		}
	}
	for i := range spec.Volumes {
		for _, items := range mountedItems(&spec.Volumes[i], object.Name) {
			usage.isUsed = true
			for _, item := range items {
				usage.keys[item.Key] = true
			}
			usage.needsAllKeys = usage.needsAllKeys || len(items) == 0 && mayReadAnyKey(overlay, spec.Volumes[i].Name, container)
		}
	}
	return usage
}

// addFiles adds the keys that are mounted as files in a container.
func (u *configMapUse) addFiles(container *corev1.Container, spec *corev1.PodSpec, object *corev1.ConfigMap) {
	u.files = mountedFiles(container, spec, object)
	for _, mount := range container.VolumeMounts {
		if key, isFile := u.files[path.Clean(mount.MountPath)]; isFile {
			u.keys[key] = true // Mounted as a single file. Without the key, the kubelet creates a directory.
		}
	}
}

// addVariables adds the keys that environment variables of a container refer to.
func (u *configMapUse) addVariables(container *corev1.Container, name string) {
	for i := range container.EnvFrom {
		if source := container.EnvFrom[i].ConfigMapRef; source != nil && source.Name == name {
			u.isUsed, u.needsAllKeys = true, true
		}
	}
	for i := range container.Env {
		if valueFrom := container.Env[i].ValueFrom; valueFrom != nil && valueFrom.ConfigMapKeyRef != nil && valueFrom.ConfigMapKeyRef.Name == name {
			u.isUsed = true
			u.keys[valueFrom.ConfigMapKeyRef.Key] = true
		}
	}
}

// mayReadAnyKey reports whether it is unknown which files of a volume the containers read: the volume is mounted in a
// container other than Vector's, or at a path that only the kubelet knows.
func mayReadAnyKey(overlay *workload.Overlay, volume, container string) bool {
	spec := &overlay.Template.Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, mount := range c.VolumeMounts {
			if mount.Name == volume && (c.Name != container || mount.SubPathExpr != "") {
				return true
			}
		}
	}
	return slices.ContainsFunc(overlay.Mounts, func(mount workload.Mount) bool { return mount.Name == volume })
}

// mountedItems returns the items of each occurrence of a ConfigMap in a volume. An empty list of items stands for all
// keys of the ConfigMap.
func mountedItems(volume *corev1.Volume, name string) [][]corev1.KeyToPath {
	var itemLists [][]corev1.KeyToPath
	if source := volume.ConfigMap; source != nil && source.Name == name {
		itemLists = append(itemLists, source.Items)
	}
	if volume.Projected == nil {
		return itemLists
	}
	for i := range volume.Projected.Sources {
		if source := volume.Projected.Sources[i].ConfigMap; source != nil && source.Name == name {
			itemLists = append(itemLists, source.Items)
		}
	}
	return itemLists
}

// mountedFiles returns the keys of a ConfigMap that are mounted in a container, by the path of the file.
func mountedFiles(container *corev1.Container, spec *corev1.PodSpec, object *corev1.ConfigMap) map[string]string {
	files := map[string]string{}
	for i := range spec.Volumes {
		for _, items := range mountedItems(&spec.Volumes[i], object.Name) {
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
					if relative, isBelow := relativePath(path.Clean(item.Path), mount.SubPath); isBelow {
						files[path.Join(mount.MountPath, relative)] = item.Key
					}
				}
			}
		}
	}
	return files
}

// relativePath returns the path of a file relative to a directory of the same volume. isBelow reports whether the file
// is in the directory. The relative path is "" if both paths are equal. The directory "" is the whole volume.
func relativePath(file, folder string) (relative string, isBelow bool) {
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
