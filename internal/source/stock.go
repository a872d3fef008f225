// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stock holds the objects of one kind by namespace: every decision asks for those of one, and a
// cluster has thousands of others.
type stock[P client.Object] map[string]*shelf[P]

// shelf holds the objects of a namespace by name. ordered is nil if they have to be sorted anew.
type shelf[P client.Object] struct {
	named   map[string]P
	ordered []P
}

func (s stock[P]) put(object P) {
	of := s[object.GetNamespace()]
	if of == nil {
		of = &shelf[P]{named: map[string]P{}}
		s[object.GetNamespace()] = of
	}
	of.named[object.GetName()], of.ordered = object, nil
}

// get returns an object, and whether there is one.
func (s stock[P]) get(key client.ObjectKey) (object P, isThere bool) {
	if of := s[key.Namespace]; of != nil {
		object, isThere = of.named[key.Name]
	}
	return object, isThere
}

// in returns the objects of a namespace by name, "" for all by namespace and name. It is not to be
// changed.
func (s stock[P]) in(namespace string) []P {
	if namespace == "" {
		var all []P
		for _, name := range slices.Sorted(maps.Keys(s)) {
			all = append(all, s[name].sorted()...)
		}
		return all
	}
	if of := s[namespace]; of != nil {
		return of.sorted()
	}
	return nil
}

func (s *shelf[P]) sorted() []P {
	if s.ordered == nil {
		s.ordered = slices.SortedFunc(maps.Values(s.named), func(a, b P) int { return cmp.Compare(a.GetName(), b.GetName()) })
	}
	return s.ordered
}
