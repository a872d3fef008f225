// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// toldBefore splits the environment variables that a manager injected into variables that match the desired
// sidecar and stale variables. Without a desired sidecar, all variables are stale.
func (d *Desired) toldBefore(manager string, view *workload.View) (holds, stale []workload.InjectedEnv) {
	told, _ := view.InjectedEnvFor(manager)
	for _, one := range told {
		isSaid := func(tell workload.EnvInjection) bool { return tell.Matches(one, view.Ref) }
		if d != nil && slices.ContainsFunc(d.overlay.EnvInjections, isSaid) {
			holds = append(holds, one)
			continue
		}
		stale = append(stale, one)
	}
	return holds, stale
}

// isStale reports whether the application has injected environment variables that do not match the desired
// sidecar.
func (d *Desired) isStale(manager string, view *workload.View) bool {
	_, stale := d.toldBefore(manager, view)
	return len(stale) > 0
}

// takeBack makes a patch from one tree to another remove stale injected environment variables, and only these.
// It does not add variables, because the API server injects them when the application owner next changes the
// pod template. A manager that adds a variable owns it, and the application owner could then not set the
// variable.
func (d *Desired) takeBack(manager string, from, to map[string]any, view *workload.View) {
	_, isRecorded := view.InjectedEnvFor(manager)
	holds, stale := d.toldBefore(manager, view)
	if !isRecorded || d != nil && len(stale) == 0 {
		return
	}
	for _, one := range stale {
		container := containerIn(tree.EnsureMap(from, tree.Pod...), "containers", one.Container)
		container["env"] = append(tree.List(container["env"]), map[string]any{"name": one.Name, "value": one.Value})
	}
	record, path := meta.AnnotationInjectedEnv(manager), []string{"spec", "template", "metadata", "annotations"}
	tree.EnsureMap(from, path...)[record] = workload.FormatInjectedEnv(slices.Concat(holds, stale))
	if len(holds) > 0 {
		tree.EnsureMap(to, path...)[record] = workload.FormatInjectedEnv(holds)
	}
}

// containerIn returns the container with a name in one of the two lists of a pod's tree. It adds a container if
// there is none.
func containerIn(pod map[string]any, list, name string) map[string]any {
	containers := tree.List(pod[list])
	at := slices.IndexFunc(containers, func(c any) bool { return tree.Name(c) == name })
	if at < 0 {
		containers = append(containers, map[string]any{"name": name})
		at = len(containers) - 1
	}
	pod[list] = containers
	return tree.Map(containers[at])
}

// Tells returns the environment variables to inject into application containers. They must not be changed.
func (d *Desired) Tells() []workload.EnvInjection { return d.overlay.EnvInjections }

// Untold returns a warning if the environment variables that the application should get are not injected, or
// "". The caller passes the reason why the API server does not inject them, or "" if the API server injects
// variables. The operator itself never injects them.
func (d *Desired) Untold(why string, view *workload.View) string {
	kind := view.Adapter()
	switch {
	case len(d.overlay.EnvInjections) == 0:
		return ""
	case why != "":
	case kind.Traits.Immutable != "":
		why = "the API server does not inject into " + kind.Plural
	case len(d.overlay.Mounts) > 0:
		why = "the operator injects the sidecar, because it mounts a volume into the application's containers"
	default:
		return ""
	}
	return "does not tell the application where it listens (sidecar.applicationEnv): " + why
}
