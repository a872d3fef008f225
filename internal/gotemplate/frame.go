// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
)

// frame is a template that is executing. It contains the template's variables and output.
type frame struct {
	run        *run
	meter      *meter
	definition *definition
	scope      *scope
	variables  []variable
	output     *strings.Builder
	// calling is the node of the current call. Functions that execute templates use it in errors.
	calling parse.Node
}

type variable struct {
	name  string
	value any
	// path is the path below .Values from which the value came, or nil for none. It is used only in messages.
	path []string
}

func (f *frame) pushVariable(name string, value any) {
	f.variables = append(f.variables, variable{name: name, value: value})
}

func (f *frame) popVariables(mark int) { f.variables = f.variables[:mark] }

// variable returns the innermost variable with a name. The parser guarantees that the variable exists, except
// in an assignment to a range variable in the range's own pipeline.
func (f *frame) variable(name string) (*variable, error) {
	for i := len(f.variables) - 1; i >= 0; i-- {
		if f.variables[i].name == name {
			return &f.variables[i], nil
		}
	}
	return nil, fmt.Errorf("variable %s is not defined", name)
}

// locateError returns an error with the position of a node.
func (f *frame) locateError(node parse.Node, err error) error {
	var templateErr *Error
	if err == nil || node == nil || errors.As(err, &templateErr) {
		return err
	}
	located := f.definition.source.explain(f.definition.name, node, err)
	if errors.As(located, &templateErr) {
		templateErr.Values = f.valuesPaths(node)
	}
	return located
}

// control is the way in which the execution of a list of nodes ended.
type control int

const (
	proceed control = iota
	breakLoop
	continueLoop
)

// executeList executes nodes until one of them fails, or ends an iteration with break or continue.
func (f *frame) executeList(dot any, list *parse.ListNode) (control, error) {
	if list == nil {
		return proceed, nil
	}
	for _, node := range list.Nodes {
		if err := f.meter.addSteps(1); err != nil {
			return proceed, f.locateError(node, err)
		}
		flow, err := f.executeNode(dot, node)
		if flow != proceed || err != nil {
			return flow, err
		}
	}
	return proceed, nil
}

// executeNode executes one node. It ignores nodes without an effect, such as comments.
func (f *frame) executeNode(dot any, node parse.Node) (control, error) {
	switch node := node.(type) {
	case *parse.TextNode:
		return proceed, f.locateError(node, f.writeText(string(node.Text)))
	case *parse.ActionNode:
		return proceed, f.executeAction(dot, node)
	case *parse.IfNode:
		return f.executeBranch(dot, &node.BranchNode, false)
	case *parse.WithNode:
		return f.executeBranch(dot, &node.BranchNode, true)
	case *parse.RangeNode:
		return f.executeRange(dot, node)
	case *parse.TemplateNode:
		return proceed, f.executeTemplate(dot, node)
	case *parse.BreakNode:
		return breakLoop, nil
	case *parse.ContinueNode:
		return continueLoop, nil
	}
	return proceed, nil
}

// executeAction evaluates a pipeline, and prints its value unless the pipeline assigns the value to a variable.
func (f *frame) executeAction(dot any, node *parse.ActionNode) error {
	value, err := f.evaluatePipeline(dot, node.Pipe)
	if err != nil || len(node.Pipe.Decl) > 0 {
		return err
	}
	if missing, ok := value.(*absent); ok {
		return f.locateError(f.operandNode(node.Pipe), missing.asError())
	}
	text, err := f.formatResult(value)
	if err == nil {
		err = f.writeText(text)
	}
	return f.locateError(node.Pipe, err)
}

// operandNode returns the node of a pipeline for the position of messages: its only operand, or else the whole
// pipeline.
func (f *frame) operandNode(pipe *parse.PipeNode) parse.Node {
	if len(pipe.Cmds) == 1 && len(pipe.Cmds[0].Args) == 1 {
		return pipe.Cmds[0].Args[0]
	}
	return pipe
}

// writeText appends a text to the output.
func (f *frame) writeText(text string) error {
	if err := f.meter.checkTextSize(f.output.Len() + len(text)); err != nil {
		return err
	}
	// A buffer is copied as it grows.
	if err := f.meter.allocate(saturatingProduct(2, len(text))); err != nil {
		return err
	}
	f.output.WriteString(text)
	return nil
}

// executeBranch executes if or with. Only with sets the dot to the value.
func (f *frame) executeBranch(dot any, node *parse.BranchNode, rebind bool) (control, error) {
	mark := len(f.variables)
	defer f.popVariables(mark)
	value, err := f.evaluatePipeline(dot, node.Pipe)
	if err != nil {
		return proceed, err
	}
	switch {
	case !isTrue(value):
		return f.executeList(dot, node.ElseList)
	case rebind:
		return f.executeList(value, node.List)
	}
	return f.executeList(dot, node.List)
}

// isTrue reports whether a value is true as a condition: it is neither missing nor zero nor empty.
func isTrue(value any) bool {
	truth, _ := template.IsTrue(valueOrNil(value))
	return truth
}

// executeTemplate executes the action template. Unlike the function include, the action prints directly into the
// output.
func (f *frame) executeTemplate(dot any, node *parse.TemplateNode) error {
	var value any
	if node.Pipe != nil {
		var err error
		if value, err = f.evaluatePipeline(dot, node.Pipe); err != nil {
			return err
		}
	}
	f.calling = node
	text, err := f.include(node.Name, value)
	if err == nil {
		err = f.writeText(text)
	}
	return f.locateError(node, err)
}
