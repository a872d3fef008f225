// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// AddReference records that the VectorSidecar depends on a ConfigMap.
func (s *Sidecar) AddReference(configMap types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configMaps[desired.ConfigMapKey(s.name.Namespace, configMap)] = true
	s.memory.addReferrer(configMap, s.name)
}

// KeepReferences drops all references except the named ones. It returns the ConfigMaps that no VectorSidecar depends on
// anymore.
func (s *Sidecar) KeepReferences(names []string) (unused []types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropReferences(names)
}

// dropReferences drops all references except the named ones. It returns the ConfigMaps that no VectorSidecar depends
// on anymore. The caller holds the mutex.
func (s *Sidecar) dropReferences(names []string) (unused []types.NamespacedName) {
	for name := range s.configMaps {
		if slices.Contains(names, name) {
			continue
		}
		delete(s.configMaps, name)
		key := desired.ConfigMapNamed(s.name.Namespace, name)
		if s.memory.removeReferrer(key, s.name) {
			unused = append(unused, key)
		}
	}
	return unused
}
