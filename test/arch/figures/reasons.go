// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// texts are the folders of internal that write for people, and may compare reasons.
var texts = []string{"admission", "cli", "lint", "status"}

// reasonFigures counts the places in which the program compares a reason, which is for people, and not a typed value.
func (c *code) reasonFigures() []figure {
	reasons := map[string]bool{}
	for _, p := range c.packages {
		if p.PkgPath != module+"/internal/meta" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			if declared, ok := p.Types.Scope().Lookup(name).(*types.Const); ok && isReason(declared) {
				reasons[constant.StringVal(declared.Val())] = true
			}
		}
	}
	comparisons := 0
	for file := range c.internalFiles() {
		if slices.Contains(texts, file.folder()) {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			comparisons += reasonsCompared(file, node, reasons)
			return true
		})
	}
	return []figure{countBar("reason_comparisons", comparisons)}
}

// isReason reports whether a constant of package meta is a reason of the operator. The kubelet reports OOMKilled.
func isReason(c *types.Const) bool {
	return c.Pkg() != nil && short(c.Pkg().Path()) == "internal/meta" && strings.HasPrefix(c.Name(), "Reason") && c.Name() != "ReasonOOMKilled"
}

// reasonsCompared returns how many reasons a node compares, without the nodes below it. A function of package meta that
// has a parameter for a reason compares it for others.
func reasonsCompared(file typedFile, node ast.Node, reasons map[string]bool) int {
	if function, ok := node.(*ast.FuncDecl); ok && short(file.pkg.PkgPath) == "internal/meta" {
		declared, ok := file.info().Defs[function.Name].(*types.Func)
		return toInt(ok && hasReasonParameter(declared.Signature()))
	}
	compared := 0
	for _, expression := range operands(file.info(), node) {
		compared += toInt(namesReason(file.info(), expression, reasons))
	}
	return compared
}

// operands returns the expressions that a node compares with another value.
func operands(info *types.Info, node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if isEquality(node) && !isOfKubernetes(info, node.X) && !isOfKubernetes(info, node.Y) {
			return []ast.Expr{node.X, node.Y}
		}
	case *ast.SwitchStmt:
		if node.Tag != nil && !isOfKubernetes(info, node.Tag) {
			return caseExpressions(node)
		}
	case *ast.IndexExpr:
		return []ast.Expr{node.Index}
	case *ast.CompositeLit:
		if _, isMap := info.TypeOf(node).Underlying().(*types.Map); isMap {
			return literalKeys(node)
		}
	case *ast.CallExpr:
		called, ok := objectNamed(info, node.Fun).(*types.Func)
		if !ok || called.FullName() != "slices.Contains" {
			return nil
		}
		if list, ok := node.Args[0].(*ast.CompositeLit); ok {
			return append(slices.Clone(list.Elts), node.Args[1])
		}
		return node.Args
	}
	return nil
}

func caseExpressions(statement *ast.SwitchStmt) []ast.Expr {
	var expressions []ast.Expr
	for _, clause := range statement.Body.List {
		if clause, ok := clause.(*ast.CaseClause); ok {
			expressions = append(expressions, clause.List...)
		}
	}
	return expressions
}

func literalKeys(literal *ast.CompositeLit) []ast.Expr {
	var keys []ast.Expr
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			keys = append(keys, pair.Key)
		}
	}
	return keys
}

// namesReason reports whether an expression is a constant for a reason, or a literal with the value of one.
func namesReason(info *types.Info, expression ast.Expr, reasons map[string]bool) bool {
	if declared, ok := objectNamed(info, expression).(*types.Const); ok {
		return isReason(declared)
	}
	_, isLiteral := ast.Unparen(expression).(*ast.BasicLit)
	value := info.Types[expression].Value
	return isLiteral && value != nil && value.Kind() == constant.String && reasons[constant.StringVal(value)]
}

// isOfKubernetes reports whether an expression is a field or constant of the core API, whose reasons are the kubelet's.
func isOfKubernetes(info *types.Info, expression ast.Expr) bool {
	object := objectNamed(info, expression)
	return object != nil && object.Pkg() != nil && object.Pkg().Path() == "k8s.io/api/core/v1"
}

// hasReasonParameter reports whether a parameter or the receiver of a function is a reason, by its name or type.
func hasReasonParameter(signature *types.Signature) bool {
	variables := slices.Collect(signature.Params().Variables())
	if owner := signature.Recv(); owner != nil {
		variables = append(variables, owner)
	}
	return slices.ContainsFunc(variables, func(variable *types.Var) bool {
		named, ok := types.Unalias(variable.Type()).(*types.Named)
		return strings.Contains(strings.ToLower(variable.Name()), "reason") || ok && strings.Contains(named.Obj().Name(), "Reason")
	})
}
