// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// index finds VectorSidecars by the key of an object that they refer to.
type index[K comparable] map[K]map[types.NamespacedName]bool

// add adds a VectorSidecar to a key.
func (i index[K]) add(key K, name types.NamespacedName) {
	if i[key] == nil {
		i[key] = map[types.NamespacedName]bool{}
	}
	i[key][name] = true
}

// remove removes a VectorSidecar from a key. It reports whether the key has no VectorSidecars anymore.
func (i index[K]) remove(key K, name types.NamespacedName) bool {
	delete(i[key], name)
	if len(i[key]) > 0 {
		return false
	}
	delete(i, key)
	return true
}

// names returns the VectorSidecars of a key.
func (i index[K]) names(key K) []types.NamespacedName { return slices.Collect(maps.Keys(i[key])) }
