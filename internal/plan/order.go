// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// behind returns the workload's own init containers, in their order, if one of
// them comes before a native sidecar of ours or would do so once it is added: an
// applied init container lands behind those that are there (fact 15 of
// server-side apply), and what runs before the sidecar is not collected.
func behind(desired *Desired, view *workload.View) []string {
	var native []string
	for i := range desired.overlay.Template.Spec.InitContainers {
		c := &desired.overlay.Template.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			native = append(native, c.Name)
		}
	}
	if len(native) == 0 {
		return nil
	}
	var foreign, seen []string
	misplaced := false
	for _, c := range view.Containers {
		switch {
		case !c.Init:
		case slices.Contains(native, c.Name):
			seen = append(seen, c.Name)
			misplaced = misplaced || len(foreign) > 0
		case view.OwnerOf(c.Name) == "":
			foreign = append(foreign, c.Name)
		}
	}
	if misplaced || len(seen) < len(native) {
		return foreign
	}
	return nil
}
