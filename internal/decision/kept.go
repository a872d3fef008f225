// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// hasLost reports whether a sidecar cannot be kept, because a ConfigMap of it is gone
// that is not rendered any more: its next pods would not start.
func (s *Snapshot) hasLost(manager string, desired *plan.Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return slices.ContainsFunc(owned.ConfigMaps(), func(name string) bool {
		return !desired.Mounts(name) && s.find(name) == nil
	})
}

// keep returns the ConfigMaps of a sidecar that is kept, and those of the companions of
// today that have to be written in the place of one that is gone, or that somebody has
// changed: what it held before is not rendered any more.
func (s *Snapshot) keep(manager string, view *workload.View, companions []corev1.ConfigMap) (kept []string, renewed []corev1.ConfigMap) {
	owned := view.Owned[manager]
	kept = owned.ConfigMaps()
	for i := range companions {
		if !slices.Contains(kept, companions[i].Name) {
			continue
		}
		if there := s.find(companions[i].Name); there == nil || digest(there) != owned.ConfigVersion() {
			renewed = append(renewed, companions[i])
		}
	}
	return kept, renewed
}

// companionNames tell which companions there are, and which version of each.
func (s *Snapshot) companionNames() []string {
	names := make([]string, 0, len(s.Companions))
	for i := range s.Companions {
		names = append(names, s.Companions[i].Name+" "+s.Companions[i].ResourceVersion)
	}
	slices.Sort(names)
	return names
}
