// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
)

// Adopted is the content with which the rollout in progress started: the ConfigMap that the values refer to, and the
// namespace's defaults. They may change faster than rollouts finish. It must not be changed.
type Adopted struct {
	// Generation is the generation of the VectorSidecar. After a change of its spec, the current content is used.
	Generation int64
	ConfigMaps map[string]*corev1.ConfigMap
}

// changedIn returns the sorted names of the ConfigMaps that have other content in current. The creation or deletion
// of a ConfigMap is not a change of content.
func (a *Adopted) changedIn(current *Adopted) []string {
	if a.Generation != current.Generation {
		return nil
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(a.ConfigMaps)) {
		before, after := a.ConfigMaps[name], current.ConfigMaps[name]
		if after != nil && before != after && companion.Digest(before) != companion.Digest(after) {
			changed = append(changed, name)
		}
	}
	return changed
}
