// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// entry is the Reconcile method of the VectorSidecar, as PACKAGE.TYPE.METHOD.
const entry = "internal/controller/sidecar.VectorSidecarReconciler.Reconcile"

// separate are folders of internal that a reader of the reconcile need not open: their code has one purpose that does not
// depend on the product.
var separate = []string{"bounded", "gotemplate", "vectorlint"}

// fragment is a function, or an expression that is the value of a variable, with its package.
type fragment struct {
	node ast.Node
	pkg  *packages.Package
}

// closure is all code that an entry can reach. A function reaches the functions that it names; a method of an interface
// reaches all implementations; a field or package variable that holds functions reaches all functions that are assigned to
// it anywhere.
type closure struct {
	code *code
	// values are the expressions that the product assigns to each variable that holds functions.
	values map[*types.Var][]fragment
	// concrete are the package-level types of the product that are not interfaces.
	concrete []types.Type

	reached  map[ast.Node]fragment
	pending  []fragment
	followed map[*types.Var]bool
}

// closureFigures measures the code that one reconcile of a VectorSidecar can reach.
func (c *code) closureFigures() ([]figure, error) {
	reconcile, err := c.reconcileClosure()
	if err != nil {
		return nil, err
	}
	lines, functions := 0, 0
	files, folders, ownTypes := map[string]bool{}, map[*packages.Package]bool{}, map[types.Object]bool{}
	for _, part := range reconcile.reached {
		reconcile.addOwnTypes(part, ownTypes)
		if reconcile.isNested(part) {
			continue
		}
		functions++
		lines += c.lines(part.node)
		files[c.fset.Position(part.node.Pos()).Filename] = true
		folders[part.pkg] = true
	}
	return []figure{
		count("closure_functions", functions),
		count("closure_files", len(files)),
		count("closure_packages", len(folders)),
		countBar("closure_lines", lines),
		countBar("closure_own_types", len(ownTypes)),
	}, nil
}

func (c *code) reconcileClosure() (*closure, error) {
	if function := c.function(entry); function != nil {
		return c.closureFrom(function), nil
	}
	return nil, fmt.Errorf("finding the Reconcile method of the VectorSidecar: %s does not exist", entry)
}

func (c *code) closureFrom(entry *types.Func) *closure {
	result := &closure{
		code: c, values: map[*types.Var][]fragment{}, reached: map[ast.Node]fragment{}, followed: map[*types.Var]bool{},
	}
	for _, p := range c.packages {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if declared, ok := scope.Lookup(name).(*types.TypeName); ok && !types.IsInterface(declared.Type()) {
				result.concrete = append(result.concrete, declared.Type())
			}
		}
		for _, file := range slices.Concat(p.Syntax, c.generated[p]) {
			ast.Inspect(file, func(node ast.Node) bool {
				result.recordValues(p, node)
				return true
			})
		}
	}
	result.followFunction(entry)
	for len(result.pending) > 0 {
		next := result.pending[0]
		result.pending = result.pending[1:]
		result.followNames(next)
	}
	return result
}

// recordValues records the values that a declaration, assignment, composite literal or call gives to variables that hold
// functions. Arguments count as values of the parameters, which a constructor may assign to a field.
func (c *closure) recordValues(p *packages.Package, node ast.Node) {
	record := func(target types.Object, value ast.Expr) {
		if variable, ok := target.(*types.Var); ok && holdsFunctions(variable.Type()) {
			c.values[variable.Origin()] = append(c.values[variable.Origin()], fragment{value, p})
		}
	}
	switch node := node.(type) {
	case *ast.ValueSpec:
		for i, value := range node.Values {
			record(p.TypesInfo.Defs[node.Names[i]], value)
		}
	case *ast.AssignStmt:
		for i, target := range node.Lhs {
			record(objectNamed(p.TypesInfo, target), node.Rhs[min(i, len(node.Rhs)-1)])
		}
	case *ast.CompositeLit:
		c.recordFields(p, node, record)
	case *ast.CallExpr:
		called, ok := objectNamed(p.TypesInfo, node.Fun).(*types.Func)
		if !ok {
			return
		}
		parameters := called.Origin().Signature().Params()
		for i, argument := range node.Args {
			if parameters.Len() > 0 {
				record(parameters.At(min(i, parameters.Len()-1)), argument)
			}
		}
	}
}

func (c *closure) recordFields(p *packages.Package, literal *ast.CompositeLit, record func(types.Object, ast.Expr)) {
	literalType := p.TypesInfo.TypeOf(literal).Underlying()
	if pointer, ok := literalType.(*types.Pointer); ok {
		literalType = pointer.Elem().Underlying()
	}
	fields, ok := literalType.(*types.Struct)
	if !ok {
		return
	}
	for i, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			record(objectNamed(p.TypesInfo, pair.Key), pair.Value)
		} else {
			record(fields.Field(i), element)
		}
	}
}

// holdsFunctions reports whether a type is a function, or contains functions as a slice, array or map.
func holdsFunctions(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Slice, *types.Array, *types.Map:
		return holdsFunctions(t.(interface{ Elem() types.Type }).Elem())
	}
	return false
}

// isCounted reports whether the closure includes a package.
func isCounted(p *types.Package) bool {
	if p == nil || !strings.HasPrefix(p.Path()+"/", module+"/") {
		return false
	}
	below, isInternal := strings.CutPrefix(short(p.Path()), "internal/")
	folder, _, _ := strings.Cut(below, "/")
	return !isInternal || !slices.Contains(separate, folder)
}

func (c *closure) reach(part fragment) {
	if _, ok := c.reached[part.node]; !ok && isCounted(part.pkg.Types) {
		c.reached[part.node] = part
		c.pending = append(c.pending, part)
	}
}

func (c *closure) followNames(part fragment) {
	ast.Inspect(part.node, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		switch used := part.pkg.TypesInfo.Uses[name].(type) {
		case *types.Func:
			c.followFunction(used.Origin())
		case *types.Var:
			if used.IsField() || used.Pkg() != nil && used.Parent() == used.Pkg().Scope() {
				c.followVariable(used.Origin())
			}
		}
		return true
	})
}

func (c *closure) followFunction(function *types.Func) {
	if declaration := c.code.bodies[function]; declaration != nil {
		c.reach(fragment{declaration, c.code.packageFor(function)})
	}
	declared := function.Signature().Recv()
	if declared == nil || !types.IsInterface(declared.Type()) || !isCounted(function.Pkg()) {
		return
	}
	methods, ok := declared.Type().Underlying().(*types.Interface)
	if !ok {
		return
	}
	for _, concrete := range c.concrete {
		pointer := types.NewPointer(concrete)
		if !types.Implements(pointer, methods) {
			continue
		}
		method, _, _ := types.LookupFieldOrMethod(pointer, true, function.Pkg(), function.Name())
		if method, ok := method.(*types.Func); ok && c.code.bodies[method.Origin()] != nil {
			c.reach(fragment{c.code.bodies[method.Origin()], c.code.packageFor(method)})
		}
	}
}

// followVariable follows the functions that are assigned to a variable, and those that its values call.
func (c *closure) followVariable(variable *types.Var) {
	if c.followed[variable] || !holdsFunctions(variable.Type()) || !isCounted(variable.Pkg()) {
		return
	}
	c.followed[variable] = true
	for _, value := range c.values[variable] {
		ast.Inspect(value.node, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncLit:
				c.reach(fragment{node, value.pkg})
				return false
			case *ast.Ident:
				switch used := value.pkg.TypesInfo.Uses[node].(type) {
				case *types.Func:
					c.followFunction(used.Origin())
				case *types.Var:
					c.followVariable(used.Origin())
				}
			}
			return true
		})
	}
}

// isNested reports whether a function literal is inside another part of the closure, which counts it already.
func (c *closure) isNested(part fragment) bool {
	if _, ok := part.node.(*ast.FuncLit); !ok {
		return false
	}
	for _, other := range c.reached {
		if other.node != part.node && other.node.Pos() <= part.node.Pos() && part.node.End() <= other.node.End() {
			return true
		}
	}
	return false
}

// addOwnTypes adds the types of the product that a part of the closure names, and those of its variables and fields. The
// types of the API are not counted, because users know them.
func (c *closure) addOwnTypes(part fragment, into map[types.Object]bool) {
	ast.Inspect(part.node, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		switch object := part.pkg.TypesInfo.ObjectOf(name).(type) {
		case *types.Var, *types.TypeName:
			named := namedType(object.Type())
			if named == nil {
				return true
			}
			declared := named.Origin().Obj()
			if isCounted(declared.Pkg()) && !strings.HasPrefix(declared.Pkg().Path(), module+"/api/") {
				into[declared] = true
			}
		}
		return true
	})
}

// function returns the function with a name, nil if it does not exist.
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

// receiver returns the type of a method, nil for a function.
func receiver(function *types.Func) *types.TypeName {
	if owner := function.Signature().Recv(); owner != nil {
		if named := namedType(owner.Type()); named != nil {
			return named.Origin().Obj()
		}
	}
	return nil
}
