// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Admit returns an error if the overlay would cause the API server to reject pods: the application alone passes the Pod
// Security level that the namespace enforces, and the application with the overlay does not. Pods that the API server
// rejects anyway are the application owner's concern. application is the result of View.Application.
func (p *Policy) Admit(namespaceLabels map[string]string, application *corev1.PodSpec, overlay *corev1.PodTemplateSpec) error {
	privileged := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	// An invalid label means restricted, also for the API server.
	levels, _ := api.PolicyToEvaluate(namespaceLabels, api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged})
	level := levels.Enforce
	if level.Level == api.LevelPrivileged {
		return nil
	}
	merged := *application
	merged.InitContainers = slices.Concat(application.InitContainers, overlay.Spec.InitContainers)
	merged.Containers = slices.Concat(application.Containers, overlay.Spec.Containers)
	merged.Volumes = slices.Concat(application.Volumes, overlay.Spec.Volumes)
	violation := p.describeViolations(level, &overlay.ObjectMeta, &merged)
	if violation == "" || p.describeViolations(level, &metav1.ObjectMeta{}, application) != "" {
		return nil
	}
	return fmt.Errorf("the namespace enforces the Pod Security level %s, which the workload passes without the sidecar, but not with it: %s", level, violation)
}

// AdmitAlone returns an error unless the overlay alone passes the Pod Security level that the namespace enforces. It
// then passes the level in every pod, because settings for the whole pod apply only to containers without their own
// setting.
func (p *Policy) AdmitAlone(namespaceLabels map[string]string, overlay *corev1.PodTemplateSpec) error {
	return p.Admit(namespaceLabels, &corev1.PodSpec{Containers: []corev1.Container{{
		Name: "application",
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), RunAsNonRoot: ptr.To(true),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}}}, overlay)
}

// CheckApplication returns an error for access to the application's secrets, unless the platform
// allows it. Such access is a mount of the application's volumes, or a reference to a Secret that
// the application refers to.
func (p *Policy) CheckApplication(application *workload.View, overlay *corev1.PodTemplateSpec) error {
	return p.CheckEach(func(rules *Policy) error { return rules.checkApplication(application, overlay) })
}

// checkApplication does the same as CheckApplication, for the rules of this policy only.
func (p *Policy) checkApplication(application *workload.View, overlay *corev1.PodTemplateSpec) error {
	if p.Volumes.ApplicationSecrets {
		return nil
	}
	spec := &overlay.Spec
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, used := range volumesUsed(&container) {
			if isSecretVolume(application, used.volume) {
				return fmt.Errorf("container %q has access to the application's volume %q (%s), which contains secrets; the policy does not allow that (policy.volumes.applicationSecrets)", container.Name, used.volume, used.access)
			}
		}
	}
	var findings []error
	mounted := *spec
	mounted.ImagePullSecrets = nil // Only the kubelet reads these.
	workload.EachSecret(&mounted, func(use workload.SecretUse) {
		if _, isApplications := slices.BinarySearch(application.Secrets, use.Secret); isApplications {
			findings = append(findings, fmt.Errorf("template.spec.%s: the application uses the Secret %q, too, which the policy does not allow (policy.volumes.applicationSecrets)", use.Path(), use.Secret))
		}
	})
	return errors.Join(findings...)
}

// volumeUse describes how a container uses a volume: an action such as mount, and the location in the container.
type volumeUse struct{ volume, access string }

// volumesUsed returns the uses of volumes by a container: mounts, devices, and variables from files.
func volumesUsed(container *corev1.Container) []volumeUse {
	var uses []volumeUse
	for _, mount := range container.VolumeMounts {
		uses = append(uses, volumeUse{mount.Name, "mount at " + mount.MountPath})
	}
	for _, device := range container.VolumeDevices {
		uses = append(uses, volumeUse{device.Name, "device at " + device.DevicePath})
	}
	for i := range container.Env {
		if source := container.Env[i].ValueFrom; source != nil && source.FileKeyRef != nil {
			uses = append(uses, volumeUse{source.FileKeyRef.VolumeName, "variable " + container.Env[i].Name})
		}
	}
	return uses
}

// isSecretVolume reports whether a volume of the application is of a kind for secrets.
// Inline CSI volumes mostly hold secrets from elsewhere.
func isSecretVolume(application *workload.View, name string) bool {
	return slices.ContainsFunc(application.ApplicationVolumes(), func(volume workload.Volume) bool {
		return volume.Name == name && (volume.Kind == "secret" || volume.Kind == "projected" || volume.Kind == "csi")
	})
}
