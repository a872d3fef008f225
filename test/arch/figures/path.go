// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// entries are where an event comes in, and patch is where the change of a workload goes
// out: as PACKAGE.TYPE.METHOD.
var entries = []string{"internal/workloadcache.Cache.Transform", "internal/controller.Reconciler.Reconcile"}

const patch = "internal/apply.Writer.Workload"

// pathFigures counts what a reader who follows one workload from its event to its patch
// may have to open: all that is called on the way, each function by whoever names it, and
// a method of an interface by all that may be meant.
func (c *code) pathFigures() []figure {
	seen := c.reach(entries)
	files, named := map[string]bool{}, map[*types.TypeName]bool{}
	for function := range seen {
		files[c.file(function.Pos())] = true
		c.typesOf(function, named)
	}
	missing := ""
	if !seen[c.function(patch)] {
		missing = fmt.Sprintf(" (and %s is not reached)", patch)
	}
	return []figure{
		{"files on the path from event to patch", fmt.Sprint(len(files)) + missing},
		{"functions on the path", fmt.Sprint(len(seen))},
		{"types on the path", fmt.Sprint(len(named))},
	}
}

// function finds one by its name, nil if there is none.
func (c *code) function(name string) *types.Func {
	for function := range c.bodies {
		if nameOf(function) == name {
			return function
		}
	}
	return nil
}

func nameOf(function *types.Func) string {
	name := function.Name()
	if owner := receiver(function); owner != nil {
		name = owner.Name() + "." + name
	}
	return short(function.Pkg().Path()) + "." + name
}

// receiver is the type that a method belongs to, nil for a function.
func receiver(function *types.Func) *types.TypeName {
	signature, ok := function.Type().(*types.Signature)
	if !ok || signature.Recv() == nil {
		return nil
	}
	return typeName(signature.Recv().Type())
}

// typeName is the name of a type, or of what it points to; nil if it has none.
func typeName(of types.Type) *types.TypeName {
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}

func (c *code) reach(from []string) map[*types.Func]bool {
	seen := map[*types.Func]bool{}
	var visit func(function *types.Func)
	visit = func(function *types.Func) {
		if function == nil || seen[function] || c.bodies[function] == nil {
			return
		}
		seen[function] = true
		for _, called := range c.calledBy(function) {
			visit(called)
		}
	}
	for _, name := range from {
		visit(c.function(name))
	}
	return seen
}

// calledBy are the functions that one names.
func (c *code) calledBy(function *types.Func) []*types.Func {
	info := c.infoOf(function)
	var called []*types.Func
	ast.Inspect(c.bodies[function], func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		used, ok := info.Uses[name].(*types.Func)
		if !ok || used.Pkg() == nil || !strings.HasPrefix(used.Pkg().Path(), module) {
			return true
		}
		used = used.Origin()
		if owner := receiver(used); owner != nil && types.IsInterface(owner.Type()) {
			called = append(called, c.implementing(owner, used.Name())...)
		}
		called = append(called, used)
		return true
	})
	return called
}

// implementing are the methods that a method of an interface may mean.
func (c *code) implementing(owner *types.TypeName, method string) []*types.Func {
	wanted, ok := owner.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var found []*types.Func
	for function := range c.bodies {
		of := receiver(function)
		if function.Name() == method && of != nil && types.Implements(types.NewPointer(of.Type()), wanted) {
			found = append(found, function)
		}
	}
	return found
}

// typesOf adds the types of the product's packages that a function names, but for those
// of the API: they are what people write.
func (c *code) typesOf(function *types.Func, into map[*types.TypeName]bool) {
	info := c.infoOf(function)
	ast.Inspect(c.bodies[function], func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		used, ok := info.Uses[name].(*types.TypeName)
		if ok && used.Pkg() != nil && strings.HasPrefix(used.Pkg().Path(), module+"/internal/") && used.Parent() == used.Pkg().Scope() {
			into[used] = true
		}
		return true
	})
}
