// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// check finds what an API server would accept silently or refuse with an internal error, and what
// no sidecar may have. It reports everything at once. What a platform allows or refuses is up to
// the policy.
func check(template *corev1.PodTemplateSpec, applications []workload.Mount, kubeVersion string) error {
	var findings []error
	report := func(format string, args ...any) { findings = append(findings, fmt.Errorf(format, args...)) }

	spec := &template.Spec
	if len(spec.Containers)+len(spec.InitContainers) == 0 {
		report("template.spec has neither containers nor initContainers: there is no sidecar in it")
	}
	for at, metadata := range map[string]map[string]string{"labels": template.Labels, "annotations": template.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			if strings.HasPrefix(key, meta.Group+"/") {
				report("template.metadata.%s: %q is the operator's own", at, key)
			}
		}
	}
	checkNative(spec.InitContainers, kubeVersion, report)
	names := map[string]string{}
	each(spec, func(at string, container *corev1.Container) {
		if first, ok := names[container.Name]; ok {
			report("%s.name: %q is also the name of %s", at, container.Name, first)
		}
		names[container.Name] = at
		checkContainer(at, container, report)
	})
	for _, mount := range applications {
		if at, ours := names[mount.Container]; ours {
			report("template.spec.containers: %q has only volumeMounts, as a container of the application's does, and is also the name of %s", mount.Container, at)
		}
	}
	volumes := map[string]bool{}
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		at := fmt.Sprintf("template.spec.volumes[%d]", i)
		if volumes[volume.Name] {
			report("%s.name: %q is given twice", at, volume.Name)
		}
		volumes[volume.Name] = true
		switch {
		case volume.Name == "":
			report("%s.name is empty", at)
		case volume.VolumeSource == corev1.VolumeSource{}:
			report("%s: volume %q has no source, such as emptyDir or configMap", at, volume.Name)
		}
	}
	for _, mount := range applications {
		if !volumes[mount.Name] {
			report("template.spec.containers: %q gets a mount of volume %q, which is not in template.spec.volumes: an application gets a volume of the sidecar's only", mount.Container, mount.Name)
		}
	}
	return errors.Join(findings...)
}

// firstNative is the first version of Kubernetes with native sidecars.
const firstNative = "1.29.0"

// checkNative finds native sidecars that the API server would treat as init containers, which never
// end.
func checkNative(containers []corev1.Container, kubeVersion string, report func(string, ...any)) {
	server, err := version.ParseGeneric(kubeVersion)
	if err != nil || server.AtLeast(version.MustParseGeneric(firstNative)) {
		return
	}
	for i := range containers {
		if containers[i].RestartPolicy != nil {
			report("template.spec.initContainers[%d].restartPolicy: the API server, %s, has no native sidecars: set sidecar.native to Auto or Never", i, kubeVersion)
		}
	}
}

// each visits init containers and containers with their path.
func each(spec *corev1.PodSpec, visit func(at string, container *corev1.Container)) {
	for i := range spec.InitContainers {
		visit(fmt.Sprintf("template.spec.initContainers[%d]", i), &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		visit(fmt.Sprintf("template.spec.containers[%d]", i), &spec.Containers[i])
	}
}

func checkContainer(at string, container *corev1.Container, report func(string, ...any)) {
	if container.Name == "" {
		report("%s.name is empty", at)
	}
	if container.Image == "" || strings.ContainsAny(container.Image, " \t\r\n") {
		report("%s.image: %q is not the name of an image", at, container.Image)
	}
	variables := map[string]bool{}
	for i, variable := range container.Env {
		if variables[variable.Name] {
			report("%s.env[%d]: variable %q is given twice", at, i, variable.Name)
		}
		variables[variable.Name] = true
	}
	mounts := map[string]bool{}
	for i, mount := range container.VolumeMounts {
		if mounts[mount.MountPath] {
			report("%s.volumeMounts[%d]: a second mount at %q", at, i, mount.MountPath)
		}
		mounts[mount.MountPath] = true
	}
	for name, request := range container.Resources.Requests {
		if limit, ok := container.Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			report("%s.resources: the request of %s, %s, is above its limit, %s", at, name, request.String(), limit.String())
		}
	}
}
