// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// findBypasses returns the ways in which a container may bypass the policy for Vector configuration: it reads other
// configuration than the checked files, or connects to other hosts. It returns nil if the policy allows every
// configuration. configMaps are the ConfigMaps that contain the checked files.
func findBypasses(rules *vectorconfig.Policy, reading *sidecarFiles, files []vectorconfig.File, configMaps []corev1.ConfigMap) []string {
	container, spec := reading.container, reading.spec
	if rules.IsEverything() {
		return nil
	}
	if container == nil || len(files) == 0 {
		return []string{"Vector reads neither a rendered nor a referenced configuration, so its content cannot be checked (policy.vector)"}
	}
	var bypasses []string
	addBypass := func(format string, args ...any) {
		bypasses = append(bypasses, fmt.Sprintf("container %q: ", container.Name)+fmt.Sprintf(format, args...))
	}
	if len(container.Command) > 0 && (len(container.Command) > 1 || path.Base(container.Command[0]) != "vector") {
		addBypass("command may start a program other than Vector (policy.vector)")
	}
	if len(container.EnvFrom) > 0 {
		addBypass("variables of envFrom may name other configuration and proxies; list each variable in env (policy.vector)")
	}
	for _, argument := range container.Args {
		if hasCombinedFlags(argument) {
			addBypass("argument %q may contain several arguments; write each one separately (policy.vector)", argument)
		}
	}
	if !reading.hasConfigArguments() {
		addBypass("no argument names the configuration file, so the file cannot be checked; add an argument such as --config-yaml=PATH (policy.vector)")
	}
	for _, source := range reading.line.Sources {
		switch sourcePath := source.Path.Value; {
		case source.IsDefault:
		case sourcePath == "" || source.Path.IsOpen || source.IsDirectory || vectorflags.IsPattern(sourcePath):
			addBypass("configuration path %q may include files that cannot be checked; name each file (policy.vector)", sourcePath)
		case !isReadFromConfigMap(sourcePath, configMaps, container, spec):
			addBypass("configuration file %s cannot be checked (policy.vector)", sourcePath)
		}
	}
	if !vectorconfig.IsAnyHost(rules) {
		bypasses = append(bypasses, findHostBypasses(rules, container)...)
	}
	return bypasses
}

// hasCombinedFlags reports whether an argument contains several short flags, or a short flag and its value, such as
// -c/etc/vector.yaml.
func hasCombinedFlags(argument string) bool {
	return len(argument) > 2 && argument[0] == '-' && argument[1] != '-' && argument[2] != '=' && strings.ContainsAny(argument[1:], "cC")
}

// isReadFromConfigMap reports whether a file in the container is a key of one of the ConfigMaps. A file below a deeper
// mount is not.
func isReadFromConfigMap(file string, configMaps []corev1.ConfigMap, container *corev1.Container, spec *corev1.PodSpec) bool {
	file = path.Clean(file)
	deepest, volume := "", ""
	for _, mount := range container.VolumeMounts {
		mountPath := path.Clean(mount.MountPath)
		if _, isBelow := relativePath(file, mountPath); isBelow && len(mountPath) > len(deepest) {
			deepest, volume = mountPath, mount.Name
		}
	}
	for i := range spec.Volumes {
		source := spec.Volumes[i].ConfigMap
		if spec.Volumes[i].Name != volume || source == nil {
			continue
		}
		for j := range configMaps {
			if configMaps[j].Name == source.Name && mountedFiles(container, spec, &configMaps[j])[file] != "" {
				return true
			}
		}
	}
	return false
}

// findHostBypasses returns the ways in which a container may connect to hosts that its Vector configuration does not
// name: environment variables for proxies and endpoints, and mounts over the files for name resolution.
func findHostBypasses(rules *vectorconfig.Policy, container *corev1.Container) []string {
	var findings []string
	for i := range container.Env {
		name := container.Env[i].Name
		if upper := strings.ToUpper(name); !strings.HasSuffix(upper, "_PROXY") && !strings.Contains(upper, "ENDPOINT") || upper == "NO_PROXY" {
			continue
		}
		if container.Env[i].ValueFrom != nil || strings.Contains(container.Env[i].Value, "$(") {
			findings = append(findings, fmt.Sprintf("container %q: the variable %s names a host, and its value is not literal (policy.vector.hosts)", container.Name, name))
		} else if reason := vectorconfig.RefusesHost(rules, container.Env[i].Value); reason != "" {
			findings = append(findings, fmt.Sprintf("container %q: the variable %s: %s (policy.vector.hosts)", container.Name, name, reason))
		}
	}
	for _, mount := range container.VolumeMounts {
		mountPath := path.Clean(mount.MountPath)
		if slices.Contains([]string{"/", "/etc", "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf"}, mountPath) {
			findings = append(findings, fmt.Sprintf("container %q: mount at %s may change the resolution of host names (policy.vector.hosts)", container.Name, mountPath))
		}
	}
	return findings
}
