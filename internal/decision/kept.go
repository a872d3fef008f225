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

// hasLost reports whether a sidecar cannot be kept because one of its ConfigMaps is
// gone and no longer rendered: its next pods would not start.
func (f *Facts) hasLost(manager string, desired *plan.Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return slices.ContainsFunc(owned.ConfigMaps(), func(name string) bool {
		return !desired.Mounts(name) && f.isGone(name)
	})
}

// keepMeanwhile records the ConfigMaps of a sidecar that stays while another one waits. One that
// lacks any of them cannot wait: its next pods would not start.
func (f *Facts) keepMeanwhile(of *Evaluated, view *workload.View) {
	owned := view.Owned[of.Plan.Manager]
	of.Kept = owned.ConfigMaps()
	isOurs := func(name string) bool {
		isRendered := slices.ContainsFunc(of.Companions, func(c corev1.ConfigMap) bool { return c.Name == name })
		return isRendered || of.Copied != nil && of.Copied.Name == name || !of.Plan.Desired.Mounts(name)
	}
	of.Plan.AtOnce = of.Plan.AtOnce || slices.ContainsFunc(of.Kept, func(name string) bool { return isOurs(name) && f.isGone(name) })
}

// keep records the ConfigMaps of a sidecar that is kept. Of the current companions it
// keeps only those to rewrite, because they are gone or somebody has changed them: their
// earlier content is not rendered any more.
func (f *Facts) keep(of *Evaluated, view *workload.View) {
	owned := view.Owned[of.Plan.Manager]
	of.Kept = owned.ConfigMaps()
	// What is not of this sidecar needs no repair.
	isSound := func(name string) bool {
		there := f.find(name)
		return !slices.Contains(of.Kept, name) || there != nil && companion.KnownDigest(there) == owned.ConfigVersion()
	}
	of.Companions = slices.DeleteFunc(slices.Clone(of.Companions), func(c corev1.ConfigMap) bool { return isSound(c.Name) })
	if of.Copied != nil && isSound(of.Copied.Name) {
		of.Copied = nil
	}
}
