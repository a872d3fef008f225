// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// checkMemoryVolumes checks the size of volumes in memory. Their content counts as memory of the containers
// that write it. Without a sizeLimit, a volume can therefore hold at most the sum of the memory
// limits of these containers.
func (c *checker) checkMemoryVolumes(mounts []workload.Mount) {
	maxSize := c.policy.Volumes.MemorySizeLimit
	if maxSize == nil {
		return
	}
	for i := range c.overlay.Spec.Volumes {
		volume := &c.overlay.Spec.Volumes[i]
		if volume.EmptyDir == nil || volume.EmptyDir.Medium != corev1.StorageMediumMemory {
			continue
		}
		pos := position{path: fmt.Sprintf("template.spec.volumes[%d].emptyDir.sizeLimit", i), name: volume.Name}
		limit, source := volume.EmptyDir.SizeLimit, "sizeLimit"
		if limit == nil || limit.Sign() <= 0 { // The kubelet treats zero as no limit.
			limit, source = c.memoryLimit(volume.Name, mounts), "the sum of the memory limits of its containers"
		}
		switch {
		case limit == nil:
			c.report(pos, "volume %q is in memory without a sizeLimit, and its containers have no memory limits; the platform allows %s (policy.volumes.memorySizeLimit)", volume.Name, maxSize)
		case limit.Cmp(*maxSize) > 0:
			c.report(pos, "volume %q is in memory with a size of %s (from %s); the platform allows %s (policy.volumes.memorySizeLimit)", volume.Name, limit, source, maxSize)
		}
	}
}

// memoryLimit returns the sum of the memory limits of the containers that mount a volume. It returns
// nil if a container has no limit, if no container mounts the volume, or if the application mounts
// it, because the limits of the application's containers are unknown here.
func (c *checker) memoryLimit(volume string, mounts []workload.Mount) *resource.Quantity {
	if slices.ContainsFunc(mounts, func(m workload.Mount) bool { return m.Name == volume }) {
		return nil
	}
	var sum *resource.Quantity
	for _, container := range slices.Concat(c.overlay.Spec.InitContainers, c.overlay.Spec.Containers) {
		if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			continue
		}
		limit, isLimited := container.Resources.Limits[corev1.ResourceMemory]
		if !isLimited || limit.IsZero() {
			return nil
		}
		if sum == nil {
			sum = &resource.Quantity{}
		}
		sum.Add(limit)
	}
	return sum
}
