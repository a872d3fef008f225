// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// missingVolume returns an obstacle if a container of the sidecar mounts a volume that neither the sidecar nor the
// workload has.
func missingVolume(container *corev1.Container, spec *corev1.PodSpec, owned workload.OwnedFields, view *workload.View) *Block {
	for _, mount := range container.VolumeMounts {
		inOverlay := slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		inWorkload := view.HasVolume(mount.Name) && !slices.Contains(owned.Volumes, mount.Name)
		if !inOverlay && !inWorkload {
			return newObstacle("container %q mounts a volume %q at %s, which neither the sidecar nor the workload has", container.Name, mount.Name, mount.MountPath)
		}
	}
	return nil
}

// applicationConflict returns a block if the sidecar cannot add one of the mounts to an application container: the
// container does not exist, or it already has a mount at the same path.
func applicationConflict(mounts []workload.Mount, owned workload.OwnedFields, view *workload.View) *Block {
	for i := range mounts {
		mount := &mounts[i]
		pos := slices.IndexFunc(view.Containers, func(c workload.Container) bool { return !c.Init && c.Name == mount.Container })
		if pos < 0 || slices.Contains(owned.Containers, mount.Container) {
			return newObstacle("the workload has no container %q to mount volume %q into", mount.Container, mount.Name)
		}
		for _, existing := range view.Containers[pos].Mounts {
			if resolvedMountPath(existing.MountPath) == resolvedMountPath(mount.MountPath) && !owned.HasMounts(existing.Name) {
				return newConflict("container %q already mounts volume %q at %s", mount.Container, existing.Name, existing.MountPath)
			}
		}
	}
	return nil
}

// resolvedMountPath returns the path of a mount as the kubelet resolves it. The API server accepts paths with "..",
// with "//", or without a leading slash.
func resolvedMountPath(mountPath string) string { return path.Join("/", mountPath) }

// portConflict returns an obstacle if another container of the pod already declares a port of the sidecar's container.
func portConflict(container *corev1.Container, owned workload.OwnedFields, view *workload.View) *Block {
	for _, port := range container.Ports {
		for _, existing := range view.Containers {
			if slices.Contains(owned.Containers, existing.Name) {
				continue
			}
			for _, existingPort := range existing.Ports {
				if existingPort.ContainerPort == port.ContainerPort && protocolFor(existingPort) == protocolFor(port) {
					return newObstacle("port %d of container %q is already used by container %q; use another port for the sidecar", port.ContainerPort, container.Name, existing.Name).withCompetitor(view.ContainerOwner(existing.Name))
				}
			}
		}
	}
	return nil
}

// protocolFor returns the protocol of a port, which is TCP by default.
func protocolFor(port corev1.ContainerPort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}
