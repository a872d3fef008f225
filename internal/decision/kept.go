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

// hasLostConfigMap reports whether an unchanged sidecar refers to a ConfigMap that was deleted and is not rendered any
// more. The next pods would not start, so the current rendering must replace the sidecar.
func (f *Facts) hasLostConfigMap(manager string, desired *plan.Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return slices.ContainsFunc(owned.ConfigMaps(), func(name string) bool {
		return !desired.Mounts(name) && f.find(name) == nil
	})
}

// recordCurrentConfigMaps records the ConfigMaps of the current sidecar while the new sidecar waits. If one of the
// ConfigMaps was deleted, the new sidecar is written at once, because the next pods would not start.
func (f *Facts) recordCurrentConfigMaps(evaluated *Evaluated, view *workload.View) {
	owned := view.Owned[evaluated.Plan.Manager]
	evaluated.KeptConfigMaps = owned.ConfigMaps()
	isOurs := func(name string) bool {
		isRendered := slices.ContainsFunc(evaluated.Companions, func(c corev1.ConfigMap) bool { return c.Name == name })
		return isRendered || evaluated.Copied != nil && evaluated.Copied.Name == name || !evaluated.Plan.Desired.Mounts(name)
	}
	evaluated.Plan.Write.AtOnce = evaluated.Plan.Write.AtOnce || slices.ContainsFunc(evaluated.KeptConfigMaps, func(name string) bool { return isOurs(name) && f.find(name) == nil })
}

// recordUnchangedConfigMaps records the ConfigMaps of a sidecar that stays unchanged. It drops the current companions
// that the sidecar does not need. A deleted or changed ConfigMap of the sidecar is written again, because its earlier
// content is not rendered any more.
func (f *Facts) recordUnchangedConfigMaps(evaluated *Evaluated, view *workload.View) {
	owned := view.Owned[evaluated.Plan.Manager]
	evaluated.KeptConfigMaps = owned.ConfigMaps()
	isSound := func(name string) bool {
		if !slices.Contains(evaluated.KeptConfigMaps, name) { // ConfigMaps of other sidecars do not need a correction.
			return true
		}
		live := f.find(name)
		return live != nil && companion.KnownDigest(live) == owned.ConfigVersion()
	}
	evaluated.Companions = slices.DeleteFunc(slices.Clone(evaluated.Companions), func(c corev1.ConfigMap) bool { return isSound(c.Name) })
	if evaluated.Copied != nil && isSound(evaluated.Copied.Name) {
		evaluated.Copied = nil
	}
}
