// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
)

// Admit tells why pods would not come up once the overlay is in them: because the
// namespace enforces a Pod Security level that the application passes and both
// together do not. A pod that would be refused anyway is its owner's business.
// application is what workload.View knows of it.
func (p *Policy) Admit(namespaceLabels map[string]string, application *corev1.PodSpec, overlay *corev1.PodTemplateSpec) error {
	privileged := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	// A label that cannot be read means restricted, for the API server as here.
	found, _ := api.PolicyToEvaluate(namespaceLabels, api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged})
	level := found.Enforce
	if level.Level == api.LevelPrivileged {
		return nil
	}
	merged := *application
	merged.InitContainers = slices.Concat(application.InitContainers, overlay.Spec.InitContainers)
	merged.Containers = slices.Concat(application.Containers, overlay.Spec.Containers)
	merged.Volumes = slices.Concat(application.Volumes, overlay.Spec.Volumes)
	violation := p.violation(level, &overlay.ObjectMeta, &merged)
	if violation == "" || p.violation(level, &metav1.ObjectMeta{}, application) != "" {
		return nil
	}
	return fmt.Errorf("the namespace enforces the Pod Security level %s, which the workload passes and the sidecar in it does not: %s", level, violation)
}

// CheckMounts refuses mounts of volumes in which the application keeps secrets, unless
// the platform allows them. application is what workload.View knows of it.
func (p *Policy) CheckMounts(application *corev1.PodSpec, overlay *corev1.PodTemplateSpec) error {
	if p.Volumes.ApplicationSecrets {
		return nil
	}
	for _, container := range slices.Concat(overlay.Spec.InitContainers, overlay.Spec.Containers) {
		for _, mount := range container.VolumeMounts {
			i := slices.IndexFunc(application.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
			if i < 0 {
				continue
			}
			if volume := &application.Volumes[i]; volume.Secret != nil || volume.Projected != nil {
				return fmt.Errorf("container %q would mount the workload's own volume %q at %s, which holds secrets: the platform's policy does not allow it (volumes.applicationSecrets)", container.Name, mount.Name, mount.MountPath)
			}
		}
	}
	return nil
}
