// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// index contains the objects of one kind by namespace and name. A decision reads one namespace, and a cluster may have
// thousands.
type index[P client.Object] map[string]*namespaceIndex[P]

// namespaceIndex contains the objects of one namespace by name. ordered contains the same objects sorted by name, or is
// nil if they must be sorted again.
type namespaceIndex[P client.Object] struct {
	byName  map[string]P
	ordered []P
}

// putObject adds an object, or replaces the object of the same namespace and name.
func (i index[P]) putObject(object P) {
	namespaceObjects := i[object.GetNamespace()]
	if namespaceObjects == nil {
		namespaceObjects = &namespaceIndex[P]{byName: map[string]P{}}
		i[object.GetNamespace()] = namespaceObjects
	}
	namespaceObjects.byName[object.GetName()], namespaceObjects.ordered = object, nil
}

// lookUp returns an object, and whether it exists.
func (i index[P]) lookUp(key client.ObjectKey) (object P, ok bool) {
	if namespaceObjects := i[key.Namespace]; namespaceObjects != nil {
		object, ok = namespaceObjects.byName[key.Name]
	}
	return object, ok
}

// list returns the objects of a namespace by name. For the namespace "", it returns all objects by namespace and name.
// The result must not be changed.
func (i index[P]) list(namespace string) []P {
	if namespace == "" {
		var objects []P
		for _, name := range slices.Sorted(maps.Keys(i)) {
			objects = append(objects, i[name].listSorted()...)
		}
		return objects
	}
	if namespaceObjects := i[namespace]; namespaceObjects != nil {
		return namespaceObjects.listSorted()
	}
	return nil
}

// listSorted returns the objects of the namespace, sorted by name.
func (i *namespaceIndex[P]) listSorted() []P {
	if i.ordered == nil {
		i.ordered = slices.SortedFunc(maps.Values(i.byName), func(a, b P) int { return cmp.Compare(a.GetName(), b.GetName()) })
	}
	return i.ordered
}
