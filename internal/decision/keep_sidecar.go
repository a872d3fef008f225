// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// hasLostConfigMap reports whether an unchanged sidecar refers to a ConfigMap that was deleted and that the current
// templates do not render. New pods would not start, so the current rendering must replace the sidecar.
func (e *evaluation) hasLostConfigMap(manager string, desired *plan.Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return slices.ContainsFunc(owned.ConfigMaps(), func(name string) bool {
		return !desired.Mounts(name) && e.findConfigMap(name) == nil
	})
}

// hasLostCurrentConfigMap reports whether a ConfigMap of the current sidecar was deleted while the new sidecar waits. The
// new sidecar is then written at once, because the next pods would not start.
func (e *evaluation) hasLostCurrentConfigMap(evaluated *Evaluated, desired *plan.Desired) bool {
	isExpected := func(name string) bool {
		isRendered := slices.ContainsFunc(evaluated.Companions, func(c corev1.ConfigMap) bool { return c.Name == name })
		return isRendered || evaluated.Copied != nil && evaluated.Copied.Name == name || !desired.Mounts(name)
	}
	return slices.ContainsFunc(evaluated.KeptConfigMaps, func(name string) bool { return isExpected(name) && e.findConfigMap(name) == nil })
}

// dropCompanions removes the companions that an unchanged sidecar does not need. Only those remain that it uses and that
// were deleted or modified. They are written with the current content, because their earlier content is not rendered any
// more.
func (e *evaluation) dropCompanions(evaluated *Evaluated, version string) {
	isIntact := func(name string) bool {
		if !slices.Contains(evaluated.KeptConfigMaps, name) { // ConfigMaps of other sidecars do not need a correction.
			return true
		}
		live := e.findConfigMap(name)
		return live != nil && companion.KnownDigest(live) == version
	}
	evaluated.Companions = slices.DeleteFunc(slices.Clone(evaluated.Companions), func(c corev1.ConfigMap) bool { return isIntact(c.Name) })
	if evaluated.Copied != nil && isIntact(evaluated.Copied.Name) {
		evaluated.Copied = nil
	}
}
