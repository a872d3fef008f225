// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"slices"
	"text/template/parse"
)

// valuesPath returns the path below .Values that an operand refers to. It returns nil if the text of the
// template does not show the path. It recognizes .Values.a.b, $.Values.a.b, and $x.b if $x was set to one of
// these forms.
func (f *frame) valuesPath(node parse.Node) []string {
	switch node := node.(type) {
	case *parse.FieldNode:
		if node.Ident[0] == "Values" {
			return node.Ident[1:]
		}
	case *parse.VariableNode:
		if node.Ident[0] == "$" && len(node.Ident) > 1 && node.Ident[1] == "Values" {
			return node.Ident[2:]
		}
		if variable, err := f.variable(node.Ident[0]); err == nil && variable.path != nil {
			return slices.Concat(variable.path, node.Ident[1:])
		}
	}
	return nil
}

// valuesPaths returns the paths below .Values that an expression refers to.
func (f *frame) valuesPaths(node parse.Node) [][]string {
	var paths [][]string
	switch node := node.(type) {
	case *parse.ActionNode:
		return f.valuesPaths(node.Pipe)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			paths = append(paths, f.valuesPaths(command)...)
		}
	case *parse.CommandNode:
		for _, arg := range node.Args {
			paths = append(paths, f.valuesPaths(arg)...)
		}
	case *parse.ChainNode:
		return f.valuesPaths(node.Node)
	default:
		if path := f.valuesPath(node); len(path) > 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
