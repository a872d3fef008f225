// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// references remembers which ConfigMaps the last decision about each VectorSidecar
// asked for. Their names may come from an environment's values and from templates,
// so that no index over the VectorSidecars could tell them.
type references struct {
	mu         sync.Mutex
	configMaps map[types.NamespacedName]map[string]bool
	sidecars   map[types.NamespacedName]map[types.NamespacedName]bool
}

func newReferences() *references {
	return &references{
		configMaps: map[types.NamespacedName]map[string]bool{},
		sidecars:   map[types.NamespacedName]map[types.NamespacedName]bool{},
	}
}

// add notes that a VectorSidecar asks for a ConfigMap of its namespace.
func (r *references) add(sidecar types.NamespacedName, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.configMaps[sidecar] == nil {
		r.configMaps[sidecar] = map[string]bool{}
	}
	r.configMaps[sidecar][name] = true
	key := types.NamespacedName{Namespace: sidecar.Namespace, Name: name}
	if r.sidecars[key] == nil {
		r.sidecars[key] = map[types.NamespacedName]bool{}
	}
	r.sidecars[key][sidecar] = true
}

// of are the names of the ConfigMaps that a VectorSidecar asked for, the namespace's
// defaults included.
func (r *references) of(sidecar types.NamespacedName) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := append(make([]string, 0, 1+len(r.configMaps[sidecar])), meta.NamespaceDefaults)
	return slices.AppendSeq(names, maps.Keys(r.configMaps[sidecar]))
}

// keep drops what a VectorSidecar has asked for, except the names given. It returns
// the ConfigMaps that nobody asks for any more.
func (r *references) keep(sidecar types.NamespacedName, names ...string) (unused []types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.configMaps[sidecar] {
		if slices.Contains(names, name) {
			continue
		}
		delete(r.configMaps[sidecar], name)
		key := types.NamespacedName{Namespace: sidecar.Namespace, Name: name}
		delete(r.sidecars[key], sidecar)
		if len(r.sidecars[key]) == 0 {
			delete(r.sidecars, key)
			unused = append(unused, key)
		}
	}
	if len(r.configMaps[sidecar]) == 0 {
		delete(r.configMaps, sidecar)
	}
	return unused
}

// to returns the VectorSidecars that asked for a ConfigMap.
func (r *references) to(configMap types.NamespacedName) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.sidecars[configMap]))
}
