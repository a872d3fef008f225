// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
)

// Adopted is the content with which a rollout was begun: of the ConfigMap that the values
// refer to, and of the namespace's defaults. Somebody may change these faster than
// rollouts finish. It must not be changed.
type Adopted struct {
	// Generation of the VectorSidecar: whoever changes its spec wants what there is.
	Generation int64
	ConfigMaps map[string]*corev1.ConfigMap
}

// ChangedIn are the names of ConfigMaps that have another content in what would be taken
// now, in order. One that is gone or new is no change of content.
func (t *Adopted) ChangedIn(now *Adopted) []string {
	if t.Generation != now.Generation {
		return nil
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(t.ConfigMaps)) {
		before, after := t.ConfigMaps[name], now.ConfigMaps[name]
		if after != nil && before != after && companion.Digest(before) != companion.Digest(after) {
			changed = append(changed, name)
		}
	}
	return changed
}
