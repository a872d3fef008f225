// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// idleness says why a sidecar would collect nothing of its application, "" if it
// would: its configuration listens to nothing, and no container of the application
// writes where it reads.
func idleness(intake vectorconfig.Intake, desired *plan.Desired, name string, view *workload.View) string {
	sidecar := desired.Container(name)
	if intake.Other || sidecar == nil || !readsConfig(sidecar) {
		return ""
	}
	if len(intake.Files) == 0 {
		return "collects nothing of its application: set sidecar.logs.path or sidecar.otlp.enabled, or give a configuration with a source"
	}
	for _, pattern := range intake.Files {
		if volume := volumeAt(sidecar, pattern); volume != "" && (isShared(volume, view) || desired.Shares(volume)) {
			return ""
		}
	}
	return fmt.Sprintf("collects nothing of its application: no container of it mounts a volume that the sidecar has at %s", strings.Join(intake.Files, ", "))
}

// readsConfig tells whether the container reads the configuration that the chart
// mounts, and not one of the user's own making.
func readsConfig(container *corev1.Container) bool {
	const folder = "/etc/vector/"
	names := slices.ContainsFunc(container.Args, func(argument string) bool { return strings.HasPrefix(argument, folder) })
	return names && strings.HasPrefix(volumeAt(container, folder+"x"), "vectorsidecar-")
}

// volumeAt returns the volume that a pattern of files lies on, "" for the
// container's own file system: that of the deepest mount above it.
func volumeAt(container *corev1.Container, pattern string) string {
	volume, deepest := "", 0
	for _, mount := range container.VolumeMounts {
		at := strings.TrimSuffix(path.Clean(mount.MountPath), "/") + "/"
		if strings.HasPrefix(pattern, at) && len(at) > deepest {
			volume, deepest = mount.Name, len(at)
		}
	}
	return volume
}

// isShared tells whether a container of the application mounts a volume.
func isShared(volume string, view *workload.View) bool {
	for _, c := range view.Containers {
		if view.OwnerOf(c.Name) != "" {
			continue
		}
		for _, mount := range c.Mounts {
			if mount.Name == volume {
				return true
			}
		}
	}
	return false
}
