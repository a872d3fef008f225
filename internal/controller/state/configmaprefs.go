// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Referrers are the VectorSidecars whose last decision depends on a ConfigMap. The names of
// these may come from an environment's values and from templates, so that no index over the
// VectorSidecars could find them.
func (m *Memory) Referrers(configMap types.NamespacedName) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.referrers.names(configMap)
}

// Refer notes that the VectorSidecar depends on a ConfigMap of its namespace.
func (s *Sidecar) Refer(configMap string) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.configMaps[configMap] = true
	s.memory.referrers.add(types.NamespacedName{Namespace: s.name.Namespace, Name: configMap}, s.name)
}

// References are the names of the ConfigMaps that the VectorSidecar depends on, the
// namespace's defaults included.
func (s *Sidecar) References() []string {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	names := append(make([]string, 0, 1+len(s.configMaps)), meta.NamespaceDefaults)
	return slices.AppendSeq(names, maps.Keys(s.configMaps))
}

// KeepReferences forgets all references but some. It returns the ConfigMaps that no
// VectorSidecar depends on any more.
func (s *Sidecar) KeepReferences(names []string) (unused []types.NamespacedName) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.unreferenced(names)
}

func (s *Sidecar) unreferenced(names []string) (unused []types.NamespacedName) {
	for name := range s.configMaps {
		if slices.Contains(names, name) {
			continue
		}
		delete(s.configMaps, name)
		key := types.NamespacedName{Namespace: s.name.Namespace, Name: name}
		if s.memory.referrers.remove(key, s.name) {
			unused = append(unused, key)
		}
	}
	return unused
}
