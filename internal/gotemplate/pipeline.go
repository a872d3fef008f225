// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// nothing stands for the missing result of a previous command in a pipeline. It differs from nil, which may be
// a result.
type nothing struct{}

func isNothing(value any) bool {
	_, ok := value.(nothing)
	return ok
}

// evaluatePipeline evaluates the commands of a pipeline from left to right. The result of each command is the last
// argument of the next command. evaluatePipeline also sets the variables that the pipeline declares.
func (f *frame) evaluatePipeline(dot any, pipe *parse.PipeNode) (any, error) {
	var value any = nothing{}
	var err error
	for _, command := range pipe.Cmds {
		if value, err = f.evaluateCommand(dot, command, value); err != nil {
			return nil, f.locateError(command, err)
		}
	}
	for _, declared := range pipe.Decl {
		if !pipe.IsAssign {
			f.pushVariable(declared.Ident[0], value)
		}
		target, err := f.variable(declared.Ident[0])
		if err != nil {
			return nil, f.locateError(declared, err)
		}
		target.value, target.path = value, f.valuesPath(f.operandNode(pipe))
	}
	return value, nil
}

// evaluateCommand evaluates one command of a pipeline: a call or a single operand.
func (f *frame) evaluateCommand(dot any, command *parse.CommandNode, piped any) (any, error) {
	head := command.Args[0]
	switch head := head.(type) {
	case *parse.IdentifierNode:
		return f.callFunction(dot, command, head, command.Args[1:], piped)
	case *parse.FieldNode, *parse.VariableNode, *parse.ChainNode:
		return f.evaluateChain(dot, head, command.Args[1:], piped)
	case *parse.NilNode:
		return nil, errors.New("nil is not a command")
	}
	if len(command.Args) > 1 || !isNothing(piped) {
		return nil, fmt.Errorf("%s is not a function and takes no arguments", shorten(head.String()))
	}
	return f.operandValue(dot, head)
}

// operandValue returns the value of an operand.
func (f *frame) operandValue(dot any, node parse.Node) (any, error) {
	switch node := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return nil, nil
	case *parse.BoolNode:
		return node.True, nil
	case *parse.StringNode:
		return node.Text, nil
	case *parse.NumberNode:
		return parseNumber(node)
	case *parse.PipeNode:
		mark := len(f.variables)
		defer f.popVariables(mark)
		return f.evaluatePipeline(dot, node)
	case *parse.IdentifierNode:
		return f.callFunction(dot, node, node, nil, nothing{})
	case *parse.FieldNode, *parse.VariableNode, *parse.ChainNode:
		return f.evaluateChain(dot, node, nil, nothing{})
	}
	return nil, fmt.Errorf("%s has no value", shorten(node.String()))
}

// evaluateArgument returns the value of a node as an argument of a parameter type. The type is relevant only for
// constant numbers, because 1 may be an int or a float.
func (f *frame) evaluateArgument(dot any, node parse.Node, typ reflect.Type) (any, error) {
	constant, isNumber := node.(*parse.NumberNode)
	if !isNumber {
		value, err := f.operandValue(dot, node)
		return value, f.locateError(node, err)
	}
	switch typ.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if constant.IsInt {
			return reflect.ValueOf(constant.Int64).Convert(typ).Interface(), nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if constant.IsUint {
			return reflect.ValueOf(constant.Uint64).Convert(typ).Interface(), nil
		}
	case reflect.Float32, reflect.Float64:
		if constant.IsFloat {
			return reflect.ValueOf(constant.Float64).Convert(typ).Interface(), nil
		}
	case reflect.Interface:
		value, err := parseNumber(constant)
		return value, f.locateError(node, err)
	}
	return nil, f.locateError(node, fmt.Errorf("the argument must be a %s; got a number", typ))
}

// parseNumber returns the value of a constant number with the type that its notation implies.
func parseNumber(node *parse.NumberNode) (any, error) {
	text := node.Text
	isHexInt := len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strings.ContainsAny(text, "pP")
	isRune := text[0] == '\''
	switch {
	case node.IsComplex:
		return node.Complex128, nil
	case node.IsFloat && !isRune && !isHexInt && strings.ContainsAny(text, ".eEpP"):
		return node.Float64, nil
	case node.IsInt:
		return int(node.Int64), nil
	}
	return nil, fmt.Errorf("the number %s exceeds the range of an int", shorten(text))
}
