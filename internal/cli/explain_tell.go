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

// told lists the variables that are injected into the application's containers, and the variables that are not, with
// the reason. It returns "" if no variables are requested.
func told(p *plan.Plan, view *workload.View, template *corev1.PodTemplateSpec) string {
	if p.Desired == nil || len(p.Desired.EnvInjections()) == 0 {
		return ""
	}
	known, _ := view.InjectedEnvFor(p.Manager)
	if containers := len(template.Spec.Containers); len(known) == 0 && workload.ExceedsRecordLimit(p.Desired.EnvInjections(), view.Ref, containers) {
		return fmt.Sprintf("none: a record for %d containers would exceed the size limit of an annotation", containers)
	}
	var all []string
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		if view.ContainerOwner(container.Name) != "" {
			continue
		}
		if said := toldTo(container, p.Desired.EnvInjections(), known, view.Ref); said != "" {
			all = append(all, container.Name+": "+said)
		}
	}
	if len(all) == 0 {
		return "none: the workload has no container of sidecar.applicationEnv.containers"
	}
	return strings.Join(all, "; ")
}

// toldTo lists the variables of one container, "" for a container without requested variables.
func toldTo(container *corev1.Container, tells []workload.EnvInjection, known []workload.InjectedEnv, in workload.Ref) string {
	var is, isNot []string
	for i := range tells {
		tell := &tells[i]
		has := func(v corev1.EnvVar) bool { return v.Name == tell.Name }
		switch {
		case !slices.Contains(tell.Containers, container.Name) && !slices.Contains(tell.Containers, workload.AllContainers):
		case slices.ContainsFunc(known, func(t workload.InjectedEnv) bool { return t.Container == container.Name && tell.Matches(t, in) }):
			is = append(is, tell.Name)
		case slices.ContainsFunc(container.Env, has):
			isNot = append(isNot, tell.Name+", which it has already")
		case slices.ContainsFunc(container.EnvFrom, func(from corev1.EnvFromSource) bool { return strings.HasPrefix(tell.Name, from.Prefix) }):
			isNot = append(isNot, tell.Name+", which its envFrom may have")
		default:
			isNot = append(isNot, tell.Name+", before the owner's next change of the pod template")
		}
	}
	if len(isNot) > 0 {
		is = append(is, fmt.Sprintf("not %s", strings.Join(isNot, "; not ")))
	}
	return strings.Join(is, ", ")
}
