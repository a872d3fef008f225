// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// findObstacle returns the first problem with the sidecar in a workload that the API server would accept, or
// would reject with an unclear message. Examples are a name that is already used, a mount without a volume, and
// a port that is used twice. It returns nil for none.
func findObstacle(manager string, desired *Desired, policy Policy, view *workload.View) *Block {
	spec := &desired.overlay.Template.Spec
	owned := view.Owned[manager]
	if c := kindConflict(spec, policy, view); c != nil {
		return c
	}
	if c := containerConflict(spec, owned, view); c != nil {
		return c
	}
	if c := metadataConflict(manager, desired, view); c != nil {
		return c
	}
	for i := range spec.Volumes {
		name := spec.Volumes[i].Name
		if view.HasVolume(name) && !slices.Contains(owned.Volumes, name) {
			return conflict("the workload already has a volume %q; use another name for the sidecar's volume", name).withCompetitor(view.VolumeOwner(name))
		}
	}
	if c := applicationConflict(desired.overlay.Mounts, owned, view); c != nil {
		return c
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if c := missingVolume(&list[i], spec, owned, view); c != nil {
				return c
			}
			if c := portConflict(&list[i], owned, view); c != nil {
				return c
			}
		}
	}
	return nil
}

// kindConflict returns an obstacle if the kind of the workload does not allow a part of the sidecar.
func kindConflict(spec *corev1.PodSpec, policy Policy, view *workload.View) *Block {
	kind := view.Adapter()
	switch {
	case kind.Traits.Immutable != "" && !policy.Manifests:
		return &Block{
			Kind: BlockedByObstacle, Reason: meta.ReasonTemplateImmutable,
			Message: fmt.Sprintf("the pod template of a %s cannot be changed: %s", kind.Kind, kind.Traits.Immutable),
		}
	case kind.Traits.RunsToCompletion && len(spec.Containers) > 0:
		return newObstacle("container %q would keep running after the other containers end, so that a run of the %s never ends; use a native sidecar (sidecar.native)", spec.Containers[0].Name, kind.Kind)
	}
	return nil
}

func containerConflict(spec *corev1.PodSpec, owned workload.Owned, view *workload.View) *Block {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			name := list[i].Name
			exists := slices.ContainsFunc(view.Containers, func(c workload.Container) bool { return c.Name == name })
			if !exists || slices.Contains(owned.Containers, name) {
				continue
			}
			if owner := view.ContainerOwner(name); owner != "" {
				return conflict("container %q is already injected by %s; set another name in spec.sidecar.name of one of them", name, owner).withCompetitor(owner)
			}
			return conflict("the workload already has a container %q; set another name in spec.sidecar.name", name)
		}
	}
	return nil
}

// missingVolume returns an obstacle if a container mounts a volume that the pod would not have.
func missingVolume(container *corev1.Container, spec *corev1.PodSpec, owned workload.Owned, view *workload.View) *Block {
	for _, mount := range container.VolumeMounts {
		inOverlay := slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		inWorkload := view.HasVolume(mount.Name) && !slices.Contains(owned.Volumes, mount.Name)
		if !inOverlay && !inWorkload {
			return newObstacle("container %q mounts a volume %q at %s, which neither the sidecar nor the workload has", container.Name, mount.Name, mount.MountPath)
		}
	}
	return nil
}

// applicationConflict returns an obstacle for a mount in an application container. The container does not
// exist, or it already has a mount at the same path.
func applicationConflict(mounts []workload.Mount, owned workload.Owned, view *workload.View) *Block {
	for i := range mounts {
		mount := &mounts[i]
		pos := slices.IndexFunc(view.Containers, func(c workload.Container) bool { return !c.Init && c.Name == mount.Container })
		if pos < 0 || slices.Contains(owned.Containers, mount.Container) {
			return newObstacle("the workload has no container %q to mount volume %q into", mount.Container, mount.Name)
		}
		for _, existing := range view.Containers[pos].Mounts {
			if folder(existing.MountPath) == folder(mount.MountPath) && !owned.Mounts(existing.Name) {
				return conflict("container %q already mounts volume %q at %s", mount.Container, existing.Name, existing.MountPath)
			}
		}
	}
	return nil
}

// folder returns the cleaned path of a mount, as the kubelet resolves it. The API server accepts paths with
// "..", with "//" or without a leading slash.
func folder(mountPath string) string { return path.Join("/", mountPath) }

// portConflict returns an obstacle if another container of the pod declares one of the container's ports.
func portConflict(container *corev1.Container, owned workload.Owned, view *workload.View) *Block {
	for _, port := range container.Ports {
		for _, existing := range view.Containers {
			if slices.Contains(owned.Containers, existing.Name) {
				continue
			}
			for _, existingPort := range existing.Ports {
				if existingPort.ContainerPort == port.ContainerPort && protocol(existingPort) == protocol(port) {
					return newObstacle("port %d of container %q is already used by container %q; use another port for the sidecar", port.ContainerPort, container.Name, existing.Name).withCompetitor(view.ContainerOwner(existing.Name))
				}
			}
		}
	}
	return nil
}

func protocol(port corev1.ContainerPort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}
