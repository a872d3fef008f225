// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// references remembers which ConfigMap each VectorSidecar's configuration comes
// from. The name may come from an environment's values, so that no index over
// the VectorSidecars could tell it.
type references struct {
	mu        sync.Mutex
	configMap map[types.NamespacedName]string
	sidecars  map[types.NamespacedName]map[types.NamespacedName]bool
}

func newReferences() *references {
	return &references{
		configMap: map[types.NamespacedName]string{},
		sidecars:  map[types.NamespacedName]map[types.NamespacedName]bool{},
	}
}

// set notes that a VectorSidecar refers to a ConfigMap of its namespace; "" for
// none.
func (r *references) set(sidecar types.NamespacedName, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.configMap[sidecar]; old == name {
		return
	} else if old != "" {
		key := types.NamespacedName{Namespace: sidecar.Namespace, Name: old}
		delete(r.sidecars[key], sidecar)
		if len(r.sidecars[key]) == 0 {
			delete(r.sidecars, key)
		}
	}
	delete(r.configMap, sidecar)
	if name == "" {
		return
	}
	r.configMap[sidecar] = name
	key := types.NamespacedName{Namespace: sidecar.Namespace, Name: name}
	if r.sidecars[key] == nil {
		r.sidecars[key] = map[types.NamespacedName]bool{}
	}
	r.sidecars[key][sidecar] = true
}

// to returns the VectorSidecars that refer to a ConfigMap.
func (r *references) to(configMap types.NamespacedName) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []types.NamespacedName
	for sidecar := range r.sidecars[configMap] {
		found = append(found, sidecar)
	}
	return found
}
