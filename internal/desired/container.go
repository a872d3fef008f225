// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// vectorContainer converts Vector's container to the input of the checks of Vector configuration.
func vectorContainer(container *corev1.Container, spec *corev1.PodSpec) *vectorconfig.Container {
	c := &vectorconfig.Container{
		Commands: containerCommands(container), WorkingDir: container.WorkingDir, Env: containerEnv(container), OpenEnv: len(container.EnvFrom) > 0,
		ReadOnlyRoot: container.SecurityContext != nil && container.SecurityContext.ReadOnlyRootFilesystem != nil && *container.SecurityContext.ReadOnlyRootFilesystem,
	}
	c.MemoryLimit = container.Resources.Limits.Memory().Value()
	words := container.Args
	if len(container.Command) > 0 {
		words = slices.Concat(container.Command[1:], container.Args)
		c.IsOtherProgram = path.Base(container.Command[0]) != "vector"
	}
	for _, word := range words {
		c.Args = append(c.Args, expandVariables(word, c.Env, c.OpenEnv))
	}
	for _, mount := range container.VolumeMounts {
		c.Mounts = append(c.Mounts, vectorMount(mount, spec))
	}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
		if port := probedPort(probe, container); port > 0 {
			c.ProbePorts = append(c.ProbePorts, port)
		}
	}
	if hook := container.Lifecycle; hook != nil && hook.PreStop != nil && hook.PreStop.Sleep != nil {
		c.DrainSeconds = hook.PreStop.Sleep.Seconds
	}
	for i := range spec.InitContainers {
		c.DrainSeconds = max(c.DrainSeconds, workload.GateSeconds(&spec.InitContainers[i]))
	}
	return c
}

// containerEnv returns the environment variables of a container. IsOpen is set for a variable with a value that is
// known only in the pod.
func containerEnv(container *corev1.Container) map[string]vectorflags.Text {
	env := map[string]vectorflags.Text{}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil {
			env[variable.Name] = vectorflags.Text{IsOpen: true}
			continue
		}
		env[variable.Name] = expandVariables(variable.Value, env, len(container.EnvFrom) > 0)
	}
	return env
}

// variableReference matches $(NAME), which the kubelet replaces by the value of a variable, and $$, which it replaces
// by $.
var variableReference = regexp.MustCompile(`\$\$|\$\(([^()$]+)\)`)

// expandVariables replaces $(NAME) in a text by the value of the variable, as the kubelet does. References to unknown
// variables stay unchanged. The result has IsOpen set if it depends on a variable that is known only in the pod, such
// as a variable of a Service or, if hasMore is true, a variable of envFrom.
func expandVariables(text string, env map[string]vectorflags.Text, hasMore bool) vectorflags.Text {
	expanded := vectorflags.Text{}
	expanded.Value = variableReference.ReplaceAllStringFunc(text, func(match string) string {
		if match == "$$" {
			return "$"
		}
		name := match[2 : len(match)-1]
		value, isSet := env[name]
		if isSet && !value.IsOpen {
			return value.Value
		}
		expanded.IsOpen = expanded.IsOpen || isSet || hasMore || strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT")
		return match
	})
	return expanded
}

// containerCommands returns the words of a container's command, of its probes and of its hooks, without the container's
// arguments.
func containerCommands(container *corev1.Container) []string {
	words := slices.Clone(container.Command)
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
		if probe != nil && probe.Exec != nil {
			words = append(words, probe.Exec.Command...)
		}
	}
	if hooks := container.Lifecycle; hooks != nil {
		for _, hook := range []*corev1.LifecycleHandler{hooks.PostStart, hooks.PreStop} {
			if hook != nil && hook.Exec != nil {
				words = append(words, hook.Exec.Command...)
			}
		}
	}
	return words
}

// vectorMount converts a mount to the input of the checks of Vector configuration. A mount of a volume that the
// sidecar's pod template does not contain belongs to the application, and its size limit is unknown.
func vectorMount(mount corev1.VolumeMount, spec *corev1.PodSpec) vectorconfig.Mount {
	m := vectorconfig.Mount{Path: mount.MountPath, ReadOnly: mount.ReadOnly}
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		if volume.Name != mount.Name {
			continue
		}
		m.ReadOnly = m.ReadOnly || volume.ConfigMap != nil || volume.Secret != nil || volume.Projected != nil || volume.DownwardAPI != nil
		if volume.EmptyDir != nil && volume.EmptyDir.SizeLimit != nil {
			m.SizeLimit = volume.EmptyDir.SizeLimit.Value()
		}
	}
	return m
}

// probedPort returns the port to which a probe connects at the pod's address, or 0 if the probe does not connect to
// that address.
func probedPort(probe *corev1.Probe, container *corev1.Container) int {
	switch {
	case probe == nil:
	case probe.HTTPGet != nil && probe.HTTPGet.Host == "":
		return portNumber(probe.HTTPGet.Port, container)
	case probe.TCPSocket != nil && probe.TCPSocket.Host == "":
		return portNumber(probe.TCPSocket.Port, container)
	case probe.GRPC != nil:
		return int(probe.GRPC.Port)
	}
	return 0
}

// portNumber returns the number of a port, which may be given by its name in the container. It returns 0 for an unknown
// name.
func portNumber(port intstr.IntOrString, container *corev1.Container) int {
	if port.Type == intstr.Int {
		return port.IntValue()
	}
	for _, named := range container.Ports {
		if named.Name == port.StrVal {
			return int(named.ContainerPort)
		}
	}
	return 0
}

// podForCheck returns the application's part of a workload's pod, which the checks need. It has no ports if the Vector
// configuration does not listen on ports.
func podForCheck(view *workload.View, report *vectorconfig.Report) vectorconfig.Pod {
	pod := vectorconfig.Pod{GraceSeconds: view.GraceSeconds}
	if !report.Listens() {
		return pod
	}
	for _, c := range view.Containers {
		if view.ContainerOwner(c.Name) != "" {
			continue
		}
		for _, port := range c.Ports {
			protocol := strings.ToLower(string(port.Protocol))
			if protocol == "" {
				protocol = "tcp"
			}
			pod.Ports = append(pod.Ports, vectorconfig.Port{Container: c.Name, Protocol: protocol, Port: int(port.ContainerPort)})
		}
	}
	return pod
}
