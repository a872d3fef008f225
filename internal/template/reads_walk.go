// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"slices"
	"text/template/parse"
)

// readerFrame follows views through one template.
type readerFrame struct {
	*reader
	// variables are joined over all assignments, and not by scope: that can only
	// add to what a variable may be.
	variables map[string]view
	changed   bool
}

func (f *readerFrame) list(dot view, list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		if f.lost {
			return
		}
		f.node(dot, node)
	}
}

func (f *readerFrame) node(dot view, node parse.Node) {
	f.at = node
	switch node := node.(type) {
	case *parse.ActionNode:
		value := f.pipe(dot, node.Pipe)
		if len(node.Pipe.Decl) == 0 {
			f.use(value)
		}
	case *parse.IfNode:
		f.pipe(dot, node.Pipe)
		f.list(dot, node.List)
		f.list(dot, node.ElseList)
	case *parse.WithNode:
		f.list(f.pipe(dot, node.Pipe), node.List)
		f.list(dot, node.ElseList)
	case *parse.RangeNode:
		item := f.field(f.pipe(dot, node.Pipe), "")
		for _, declared := range node.Pipe.Decl {
			f.assign(declared, item)
		}
		f.list(item, node.List)
		f.list(dot, node.ElseList)
	case *parse.TemplateNode:
		f.template(f.set.scope.find(node.Name), f.pipe(dot, node.Pipe))
	}
}

func (f *readerFrame) assign(variable *parse.VariableNode, value view) {
	name := variable.Ident[0]
	before := f.variables[name]
	after := f.join(before, value)
	f.changed = f.changed || len(after) != len(before)
	f.variables[name] = after
}

func (f *readerFrame) pipe(dot view, pipe *parse.PipeNode) view {
	if pipe == nil {
		return nil
	}
	var value view
	for i, command := range pipe.Cmds {
		value = f.command(dot, command, value, i > 0)
	}
	for _, declared := range pipe.Decl {
		f.assign(declared, value)
	}
	return value
}

func (f *readerFrame) command(dot view, command *parse.CommandNode, piped view, isPiped bool) view {
	name, isCall := command.Args[0].(*parse.IdentifierNode)
	if !isCall {
		for _, arg := range command.Args[1:] {
			f.use(f.operand(dot, arg))
		}
		f.use(piped)
		return f.operand(dot, command.Args[0])
	}
	nodes := command.Args[1:]
	values := make([]view, 0, len(nodes)+1)
	for _, arg := range nodes {
		values = append(values, f.operand(dot, arg))
	}
	if isPiped {
		values, nodes = append(values, piped), append(slices.Clone(nodes), nil)
	}
	return f.call(name.Ident, nodes, values)
}

func (f *readerFrame) operand(dot view, node parse.Node) view {
	switch node := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return f.chain(dot, node.Ident)
	case *parse.VariableNode:
		return f.chain(f.variables[node.Ident[0]], node.Ident[1:])
	case *parse.ChainNode:
		return f.chain(f.operand(dot, node.Node), node.Field)
	case *parse.PipeNode:
		return f.pipe(dot, node)
	case *parse.IdentifierNode:
		return f.call(node.Ident, nil, nil)
	}
	return nil
}

func (f *readerFrame) chain(value view, fields []string) view {
	for _, field := range fields {
		value = f.field(value, field)
	}
	return value
}

// call is the view of a function's result. A function that is not known here may
// look into all that it is given.
func (f *readerFrame) call(name string, nodes []parse.Node, values []view) view {
	last := len(values) - 1
	if last < 0 {
		return nil
	}
	switch name {
	case "tpl":
		f.found()
		return nil
	case "include":
		return f.include(nodes, values)
	case "and", "or", "default", "coalesce", "ternary", "required":
		return f.join(values...)
	case "not", "empty", "all", "any", "kindOf", "kindIs", "typeOf", "typeIs", "typeIsLike":
		return nil
	case "dict":
		return f.dict(nodes, values)
	case "index", "get", "hasKey":
		return f.keys(values[0], nodes[min(1, len(nodes)):])
	case "dig":
		if last >= 2 {
			return f.join(f.keys(values[last], nodes[:last-1]), values[last-1])
		}
	case "pluck":
		return f.pluck(nodes, values)
	}
	return f.use(values...)
}

func (f *readerFrame) include(nodes []parse.Node, values []view) view {
	if len(values) < 2 {
		return nil
	}
	if name, ok := constant(nodes[0]); ok {
		f.template(f.set.scope.find(name), values[1])
		return nil
	}
	for _, name := range f.set.scope.names() {
		f.template(f.set.scope.find(name), values[1])
	}
	return nil
}

func (f *readerFrame) dict(nodes []parse.Node, values []view) view {
	var made view
	for i := 0; i+1 < len(values); i += 2 {
		key, _ := constant(nodes[i])
		made = f.join(made, put(key, values[i+1]))
	}
	return made
}

// keys follows keys that are given as arguments.
func (f *readerFrame) keys(value view, nodes []parse.Node) view {
	for _, node := range nodes {
		key, _ := constant(node)
		value = f.field(value, key)
	}
	return value
}

func (f *readerFrame) pluck(nodes []parse.Node, values []view) view {
	if len(values) == 0 {
		return nil
	}
	for _, value := range values[1:] {
		f.use(f.keys(value, nodes[:1]))
	}
	return nil
}
