// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// checkOverlay reports mistakes that the API server would accept silently or reject with an internal error, and fields that a
// sidecar must never have. It reports all findings at once. The policy checks the restrictions of a platform.
func checkOverlay(overlay *workload.Overlay, kubeVersion string) error {
	var findings []error
	report := func(format string, args ...any) { findings = append(findings, fmt.Errorf(format, args...)) }

	spec, applications := &overlay.Template.Spec, overlay.Mounts
	if len(spec.Containers)+len(spec.InitContainers) == 0 {
		report("template.spec: containers and initContainers are empty; add the sidecar")
	}
	checkMetadata(overlay, report)
	checkNative(spec.InitContainers, kubeVersion, report)
	names := map[string]string{}
	visitContainers(spec, func(containerPath string, container *corev1.Container) {
		if firstPath, ok := names[container.Name]; ok {
			report("%s.name: name %q is already used by %s; use another name", containerPath, container.Name, firstPath)
		}
		names[container.Name] = containerPath
		checkContainer(containerPath, container, report)
	})
	for _, mount := range applications {
		if containerPath, ok := names[mount.Container]; ok {
			report("template.spec.containers: container %q has only volumeMounts, like a container of the application, but %s has the same name", mount.Container, containerPath)
		}
	}
	volumes := map[string]bool{}
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		volumePath := fmt.Sprintf("template.spec.volumes[%d]", i)
		if volumes[volume.Name] {
			report("%s.name: duplicate name %q", volumePath, volume.Name)
		}
		volumes[volume.Name] = true
		switch {
		case volume.Name == "":
			report("%s.name is empty", volumePath)
		case volume.VolumeSource == corev1.VolumeSource{}:
			report("%s: volume %q has no source, such as emptyDir or configMap", volumePath, volume.Name)
		}
	}
	checkPullSecrets(spec.ImagePullSecrets, report)
	for _, mount := range applications {
		if clean := path.Clean(mount.MountPath); clean != mount.MountPath && clean+"/" != mount.MountPath {
			report("template.spec.containers: container %q gets a mount at path %q, which could hide an existing mount; write the path as %q", mount.Container, mount.MountPath, clean)
		}
		if !volumes[mount.Name] {
			report("template.spec.containers: container %q gets a mount of volume %q, which is not in template.spec.volumes; mount only volumes of the sidecar in the application", mount.Container, mount.Name)
		}
	}
	return errors.Join(findings...)
}

// checkMetadata reports labels and annotations that the API server would reject, and labels and annotations of the
// operator.
func checkMetadata(overlay *workload.Overlay, report func(string, ...any)) {
	labels, annotations := overlay.Template.Labels, overlay.Template.Annotations
	for section, metadata := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			if strings.HasPrefix(key, meta.Group+"/") {
				report("template.metadata.%s: key %q is reserved for the operator", section, key)
			}
		}
	}
	metadataPath := field.NewPath("template", "metadata")
	invalid := append(metav1validation.ValidateLabels(labels, metadataPath.Child("labels")), apivalidation.ValidateAnnotations(annotations, metadataPath.Child("annotations"))...)
	for _, finding := range invalid {
		report("%s", finding.Error())
	}
	for _, key := range overlay.OptionalAnnotations {
		if _, ok := annotations[key]; !ok {
			report("metadata.annotations: annotation %s names key %q, which is not in template.metadata.annotations", meta.AnnotationOptional, key)
		}
	}
	for _, key := range overlay.OptionalWithNodeVolumes {
		if !slices.Contains(overlay.OptionalAnnotations, key) {
			report("metadata.annotations: annotation %s names key %q, but annotation %s does not", meta.AnnotationOptionalWithVolumes, key, meta.AnnotationOptional)
		}
	}
}

// checkNative reports native sidecars if the API server would run them as init containers, which would never end.
func checkNative(containers []corev1.Container, kubeVersion string, report func(string, ...any)) {
	server, err := version.ParseGeneric(kubeVersion)
	if err != nil || server.AtLeast(version.MustParseGeneric(workload.FirstNative)) {
		return
	}
	for i := range containers {
		if containers[i].RestartPolicy != nil {
			report("template.spec.initContainers[%d].restartPolicy: API server version %s does not support native sidecars; set sidecar.native to Auto or Never", i, kubeVersion)
		}
	}
}

// checkPullSecrets reports image pull secrets without a name, or with the same name.
func checkPullSecrets(secrets []corev1.LocalObjectReference, report func(string, ...any)) {
	names := map[string]bool{}
	for i, secret := range secrets {
		switch {
		case secret.Name == "":
			report("template.spec.imagePullSecrets[%d].name is empty", i)
		case names[secret.Name]:
			report("template.spec.imagePullSecrets[%d].name: duplicate name %q", i, secret.Name)
		}
		names[secret.Name] = true
	}
}

// visitContainers visits init containers and containers with their paths.
func visitContainers(spec *corev1.PodSpec, visit func(containerPath string, container *corev1.Container)) {
	for i := range spec.InitContainers {
		visit(fmt.Sprintf("template.spec.initContainers[%d]", i), &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		visit(fmt.Sprintf("template.spec.containers[%d]", i), &spec.Containers[i])
	}
}

// checkContainer reports a missing name, an invalid image, duplicate list items, and requests above limits in a
// container.
func checkContainer(containerPath string, container *corev1.Container, report func(string, ...any)) {
	if container.Name == "" {
		report("%s.name is empty", containerPath)
	}
	if container.Image == "" || strings.ContainsAny(container.Image, " \t\r\n") {
		report("%s.image: %q is not a valid image name", containerPath, container.Image)
	}
	entries := map[string]bool{}
	reportDuplicate := func(list string, i int, format string, args ...any) {
		entry := fmt.Sprintf(format, args...)
		if entries[entry] {
			report("%s.%s[%d]: duplicate %s", containerPath, list, i, entry)
		}
		entries[entry] = true
	}
	for i, variable := range container.Env {
		reportDuplicate("env", i, "variable %q", variable.Name)
	}
	for i, port := range container.Ports {
		reportDuplicate("ports", i, "port %d of %s", port.ContainerPort, cmp.Or(port.Protocol, corev1.ProtocolTCP))
	}
	for i, mount := range container.VolumeMounts {
		reportDuplicate("volumeMounts", i, "mount at %q", path.Clean(mount.MountPath))
	}
	for name, request := range container.Resources.Requests {
		if limit, ok := container.Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			report("%s.resources: the request of resource %s is %s, which is above its limit %s", containerPath, name, request.String(), limit.String())
		}
	}
}
