// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// index finds the objects of one kind by namespace and name, because every decision reads one namespace, and a cluster
// has thousands of others.
type index[P client.Object] map[string]*namespaceIndex[P]

// namespaceIndex finds the objects of a namespace by name. ordered is nil if the objects have to be sorted again.
type namespaceIndex[P client.Object] struct {
	byName  map[string]P
	ordered []P
}

func (i index[P]) put(object P) {
	of := i[object.GetNamespace()]
	if of == nil {
		of = &namespaceIndex[P]{byName: map[string]P{}}
		i[object.GetNamespace()] = of
	}
	of.byName[object.GetName()], of.ordered = object, nil
}

// get returns an object, and whether it exists.
func (i index[P]) get(key client.ObjectKey) (object P, isThere bool) {
	if of := i[key.Namespace]; of != nil {
		object, isThere = of.byName[key.Name]
	}
	return object, isThere
}

// list returns the objects of a namespace by name. For the namespace "", it returns all objects by namespace and name.
// The result must not be changed.
func (i index[P]) list(namespace string) []P {
	if namespace == "" {
		var all []P
		for _, name := range slices.Sorted(maps.Keys(i)) {
			all = append(all, i[name].sorted()...)
		}
		return all
	}
	if of := i[namespace]; of != nil {
		return of.sorted()
	}
	return nil
}

func (i *namespaceIndex[P]) sorted() []P {
	if i.ordered == nil {
		i.ordered = slices.SortedFunc(maps.Values(i.byName), func(a, b P) int { return cmp.Compare(a.GetName(), b.GetName()) })
	}
	return i.ordered
}
