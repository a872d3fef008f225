// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// splitInjectedEnv returns the environment variables that the API server injected into the application for a manager's
// sidecar. valid are the variables that match the desired sidecar, and stale are all others. Without a desired sidecar,
// all variables are stale.
func (d *Desired) splitInjectedEnv(manager string, view *workload.View) (valid, stale []workload.InjectedEnv) {
	variables, _ := view.InjectedEnvFor(manager)
	for _, variable := range variables {
		isDesired := func(injection workload.EnvInjection) bool { return injection.Matches(variable, view.Ref) }
		if d != nil && slices.ContainsFunc(d.overlay.EnvInjections, isDesired) {
			valid = append(valid, variable)
			continue
		}
		stale = append(stale, variable)
	}
	return valid, stale
}

// isStale reports whether the application's containers have injected environment variables that do not match the
// desired sidecar.
func (d *Desired) isStale(manager string, view *workload.View) bool {
	_, stale := d.splitInjectedEnv(manager, view)
	return len(stale) > 0
}

// removeStaleEnv changes the trees of a patch so that the patch removes the stale injected environment variables. It
// adds no variables: the API server injects them when the application owner next changes the pod template. If the
// manager added a variable, it would own the variable, and the application owner could not set it.
func (d *Desired) removeStaleEnv(manager string, current, desired map[string]any, view *workload.View) {
	_, isRecorded := view.InjectedEnvFor(manager)
	valid, stale := d.splitInjectedEnv(manager, view)
	if !isRecorded || d != nil && len(stale) == 0 {
		return
	}
	for _, variable := range stale {
		container := containerIn(tree.EnsureMap(current, tree.Pod...), "containers", variable.Container)
		container["env"] = append(tree.List(container["env"]), map[string]any{"name": variable.Name, "value": variable.Value})
	}
	record, path := meta.AnnotationInjectedEnv(manager), []string{"spec", "template", "metadata", "annotations"}
	tree.EnsureMap(current, path...)[record] = workload.FormatInjectedEnv(slices.Concat(valid, stale))
	if len(valid) > 0 {
		tree.EnsureMap(desired, path...)[record] = workload.FormatInjectedEnv(valid)
	}
}

// containerIn returns the container with a name from a list of containers in a pod. If none exists, it adds a container
// with only that name.
func containerIn(pod map[string]any, list, name string) map[string]any {
	containers := tree.List(pod[list])
	i := slices.IndexFunc(containers, func(c any) bool { return tree.Name(c) == name })
	if i < 0 {
		containers = append(containers, map[string]any{"name": name})
		i = len(containers) - 1
	}
	pod[list] = containers
	return tree.Map(containers[i])
}

// EnvInjections returns the environment variables to inject into application containers. Callers must not
// change them.
func (d *Desired) EnvInjections() []workload.EnvInjection { return d.overlay.EnvInjections }

// EnvInjectionWarning returns a warning if the sidecar's environment variables are not injected into the application's
// containers, or "" if they are. reason explains why the API server does not inject variables, or is "" if it does. The
// operator itself never injects them.
func (d *Desired) EnvInjectionWarning(reason string, view *workload.View) string {
	kind := view.Adapter()
	switch {
	case len(d.overlay.EnvInjections) == 0:
		return ""
	case reason != "":
	case kind.Traits.Immutable != "":
		reason = "admission injection does not apply to " + kind.Plural
	case len(d.overlay.Mounts) > 0:
		reason = "the operator injects the sidecar, because it mounts a volume into the application's containers"
	default:
		return ""
	}
	return "environment variables are not injected into the application (sidecar.applicationEnv): " + reason
}
