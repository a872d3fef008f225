// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// describeInjectedEnv lists the variables that are injected into the application's containers, and the variables that are not, with
// the reason. It returns "" if no variables are requested.
func describeInjectedEnv(p *plan.Plan, view *workload.View, template *corev1.PodTemplateSpec) string {
	if p.Desired == nil || len(p.Desired.EnvInjections()) == 0 {
		return ""
	}
	injected, _ := view.InjectedEnvFor(p.Manager)
	if containers := len(template.Spec.Containers); len(injected) == 0 && workload.ExceedsRecordLimit(p.Desired.EnvInjections(), view.Ref, containers) {
		return fmt.Sprintf("none: the annotation that lists the variables would exceed its size limit with %d containers", containers)
	}
	var lines []string
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		if view.ContainerOwner(container.Name) != "" {
			continue
		}
		if text := describeContainerEnv(container, p.Desired.EnvInjections(), injected, view.Ref); text != "" {
			lines = append(lines, container.Name+": "+text)
		}
	}
	if len(lines) == 0 {
		return "none: the workload has no container with a name in sidecar.applicationEnv.containers"
	}
	return strings.Join(lines, "; ")
}

// describeContainerEnv lists the variables of one container, "" for a container without requested variables.
func describeContainerEnv(container *corev1.Container, injections []workload.EnvInjection, injected []workload.InjectedEnv, ref workload.Ref) string {
	var injectedNames, notInjected []string
	for i := range injections {
		injection := &injections[i]
		hasName := func(v corev1.EnvVar) bool { return v.Name == injection.Name }
		switch {
		case !slices.Contains(injection.Containers, container.Name) && !slices.Contains(injection.Containers, workload.AllContainers):
		case slices.ContainsFunc(injected, func(t workload.InjectedEnv) bool { return t.Container == container.Name && injection.Matches(t, ref) }):
			injectedNames = append(injectedNames, injection.Name)
		case slices.ContainsFunc(container.Env, hasName):
			notInjected = append(notInjected, injection.Name+", because the container already sets the variable")
		case slices.ContainsFunc(container.EnvFrom, func(envFrom corev1.EnvFromSource) bool { return strings.HasPrefix(injection.Name, envFrom.Prefix) }):
			notInjected = append(notInjected, injection.Name+", because envFrom of the container may set the variable")
		default:
			notInjected = append(notInjected, injection.Name+", until the application owner's next change of the pod template")
		}
	}
	if len(notInjected) > 0 {
		injectedNames = append(injectedNames, fmt.Sprintf("not %s", strings.Join(notInjected, "; not ")))
	}
	return strings.Join(injectedNames, ", ")
}
