// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/types"
	"slices"
	"strings"
)

// idleExports returns the exported functions and methods of packages below internal, as PACKAGE.TYPE.METHOD, that
// no other package of the product names. Methods of an interface do not count, because callers name the interface.
func (c *code) idleExports() []string {
	used := map[types.Object]bool{}
	asked := map[string]bool{}
	for _, p := range c.packages {
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() == nil || object.Pkg() == p.Types {
				continue
			}
			if function, is := object.(*types.Func); is {
				object = function.Origin()
			}
			used[object] = true
		}
		c.methodsAsked(p.Types, asked, map[*types.Package]bool{})
	}
	var idle []string
	for _, p := range c.packages {
		if !strings.HasPrefix(short(p.PkgPath), "internal/") {
			continue
		}
		for _, object := range p.TypesInfo.Defs {
			if object == nil || !object.Exported() || used[object] {
				continue
			}
			function, is := object.(*types.Func)
			if !is || c.bodies[function] == nil {
				continue
			}
			owner := receiver(function)
			if owner == nil || owner.Exported() && !asked[object.Name()] && !types.IsInterface(owner.Type()) {
				idle = append(idle, nameOf(function))
			}
		}
	}
	slices.Sort(idle)
	return idle
}

// methodsAsked adds the names of the methods of all interfaces of a package and of those that
// it imports.
func (c *code) methodsAsked(of *types.Package, asked map[string]bool, seen map[*types.Package]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	for _, name := range of.Scope().Names() {
		if declared, is := of.Scope().Lookup(name).Type().Underlying().(*types.Interface); is {
			for method := range declared.Methods() {
				asked[method.Name()] = true
			}
		}
	}
	for _, imported := range of.Imports() {
		c.methodsAsked(imported, asked, seen)
	}
}
