// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// collection describes the application data that a sidecar collects, as far as it is the same for all workloads.
type collection struct {
	// idle is the warning for a workload from which the sidecar collects no data, because no application container
	// mounts one of the volumes. It is "" if the sidecar may collect data from every workload.
	idle    string
	volumes []string
}

// newCollection returns the collection of a rendered sidecar. It has no warning if the configuration receives events,
// or reads files from volumes that the sidecar mounts into the application.
func newCollection(report *vectorconfig.Report, sidecar *corev1.Container, desired *plan.Desired) collection {
	intake := report.Intake
	if intake.HasOtherSources || sidecar == nil || !readsConfig(sidecar) {
		return collection{}
	}
	if len(intake.Files) == 0 {
		return collection{idle: "the sidecar collects no data from its application: set sidecar.logs.path or sidecar.otlp.enabled, or add a source to the configuration"}
	}
	collected := collection{idle: fmt.Sprintf(
		"the sidecar collects no data from its application, because no application container mounts the volume of the path %s", strings.Join(intake.Files, ", "))}
	for _, pattern := range intake.Files {
		switch volume := volumeAt(sidecar, pattern); {
		case volume == "":
		case desired.Shares(volume):
			return collection{}
		default:
			collected.volumes = append(collected.volumes, volume)
		}
	}
	return collected
}

// idleWarning returns the warning that a sidecar collects no data from a workload, or "" if it may collect data.
func (c *collection) idleWarning(view *workload.View) string {
	if c.idle == "" || slices.ContainsFunc(c.volumes, func(volume string) bool { return isShared(volume, view) }) {
		return ""
	}
	return c.idle
}

// readsConfig reports whether a container reads the configuration file that the chart mounts, and not a file that the
// user mounts.
func readsConfig(container *corev1.Container) bool {
	const folder = "/etc/vector/"
	names := slices.ContainsFunc(container.Args, func(argument string) bool { return strings.HasPrefix(argument, folder) })
	return names && strings.HasPrefix(volumeAt(container, folder+"x"), meta.VolumePrefix)
}

// volumeAt returns the name of the volume that contains the files of a path pattern, or "" if the files are in the
// container's own file system. Of nested mounts, the deepest one contains the files.
func volumeAt(container *corev1.Container, pattern string) string {
	volume, deepest := "", 0
	for _, mount := range container.VolumeMounts {
		mountPath := strings.TrimSuffix(path.Clean(mount.MountPath), "/") + "/"
		if strings.HasPrefix(pattern, mountPath) && len(mountPath) > deepest {
			volume, deepest = mount.Name, len(mountPath)
		}
	}
	return volume
}

// isShared reports whether an application container mounts the volume with a name.
func isShared(volume string, view *workload.View) bool {
	for _, c := range view.Containers {
		if view.ContainerOwner(c.Name) != "" {
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
