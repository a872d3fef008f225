// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/template/parse"
)

// checker finds calls that always fail: calls of rejected or unknown functions, calls of templates that do not
// exist, and calls of printf with a rejected verb.
type checker struct {
	functions map[string]*function
	// scope contains the templates that the checked text can call. It is nil if they depend on the caller of the text.
	scope      *scope
	definition *definition
	faults     []fault
}

// fault is a call that always fails. Its description is computed only for reported faults, because that takes long.
type fault struct {
	definition *definition
	start      int
	describe   func() (message, hint string)
}

// checkDefinitions returns the faults in all definitions of the set.
func (s *Set) checkDefinitions() []error {
	return checkDefinitions(s.functions, s.scope, s.scope.definitions)
}

// checkDefinitions returns the faults in the given definitions, at most maxFindings, in the order of files and
// positions.
func checkDefinitions(functions map[string]*function, visible *scope, definitions map[string]*definition) []error {
	c := &checker{functions: functions, scope: visible}
	for _, definition := range definitions {
		c.definition = definition
		walkNodes(definition.root, c.checkNode)
	}
	slices.SortFunc(c.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.definition.source.file, b.definition.source.file), cmp.Compare(a.start, b.start))
	})
	var findings []error
	for _, f := range c.faults[:min(len(c.faults), maxFindings)] {
		message, hint := f.describe()
		finding := f.definition.source.errorAt(f.start, message)
		finding.Hint = hint
		findings = append(findings, finding)
	}
	return findings
}

func (c *checker) report(node parse.Node, describe func() (message, hint string)) {
	c.faults = append(c.faults, fault{c.definition, c.definition.source.nodeStart(node), describe})
}

// checkNode checks one node.
func (c *checker) checkNode(node parse.Node) {
	switch node := node.(type) {
	case *parse.TemplateNode:
		c.checkTemplate(node, node.Name)
	case *parse.CommandNode:
		c.checkCommand(node)
	case *parse.IdentifierNode:
		c.checkFunction(node)
	}
}

// walkNodes calls visit for a node, and then for all nodes below it that may contain a call.
func walkNodes(node parse.Node, visit func(parse.Node)) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node == nil {
			return
		}
		for _, child := range node.Nodes {
			walkNodes(child, visit)
		}
		return
	case *parse.PipeNode:
		if node == nil {
			return
		}
	}
	visit(node)
	switch node := node.(type) {
	case *parse.ActionNode:
		walkNodes(node.Pipe, visit)
	case *parse.IfNode:
		walkBranch(&node.BranchNode, visit)
	case *parse.WithNode:
		walkBranch(&node.BranchNode, visit)
	case *parse.RangeNode:
		walkBranch(&node.BranchNode, visit)
	case *parse.TemplateNode:
		walkNodes(node.Pipe, visit)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			walkNodes(command, visit)
		}
	case *parse.CommandNode:
		for _, arg := range node.Args {
			walkNodes(arg, visit)
		}
	case *parse.ChainNode:
		walkNodes(node.Node, visit)
	}
}

// walkBranch calls walkNodes for the condition and both branches of if, with or range.
func walkBranch(node *parse.BranchNode, visit func(parse.Node)) {
	walkNodes(node.Pipe, visit)
	walkNodes(node.List, visit)
	walkNodes(node.ElseList, visit)
}

// checkCommand checks the first argument of include and printf, if it is a constant.
func (c *checker) checkCommand(command *parse.CommandNode) {
	name, isCall := command.Args[0].(*parse.IdentifierNode)
	if !isCall || len(command.Args) < 2 {
		return
	}
	constant, isConstant := command.Args[1].(*parse.StringNode)
	switch {
	case !isConstant:
	case name.Ident == "include":
		c.checkTemplate(constant, constant.Text)
	case name.Ident == "printf":
		c.checkFormat(constant)
	}
}

// checkFormat checks a constant format string of printf.
func (c *checker) checkFormat(node *parse.StringNode) {
	var hint *hinted
	if refused := readFormat(node.Text, nil).refused; errors.As(refused, &hint) {
		c.report(node, func() (string, string) { return refused.Error(), hint.hint })
	}
}

// checkTemplate checks a constant template name of include or template.
func (c *checker) checkTemplate(node parse.Node, name string) {
	if c.scope != nil && c.scope.findDefinition(name) == nil {
		c.report(node, func() (string, string) { return unknownTemplate(name, c.scope) })
	}
}

// unknownTemplate returns the message and the hint for a template that does not exist. The hint is a similar name, or
// the existing names.
func unknownTemplate(name string, visible *scope) (message, hint string) {
	names := visible.definitionNames()
	message = fmt.Sprintf("unknown template %q", shorten(name))
	if near := nearest(name, names); near != "" {
		return message, fmt.Sprintf("did you mean %q?", near)
	}
	return message, listKeys(names)
}

// checkFunction reports a call of a function that templates cannot call.
func (c *checker) checkFunction(node *parse.IdentifierNode) {
	if c.functions[node.Ident] == nil {
		c.report(node, func() (string, string) { return unknownFunction(node.Ident, c.functions) })
	}
}

// unknownFunction returns the message and the hint for a function that templates cannot call: a rejected function or
// an unknown one.
func unknownFunction(name string, functions map[string]*function) (message, hint string) {
	if reason, refused := unavailableFunctions()[name]; refused {
		return fmt.Sprintf("function %q is not available because it %s", name, reason.reason), reason.instead
	}
	hint = "see the guide for template authors for the available functions"
	if near := nearest(name, slices.Collect(maps.Keys(functions))); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("unknown function %q", shorten(name)), hint
}
