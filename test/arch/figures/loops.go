// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// limiting are packages of libraries with backoffs and rate limiters.
var limiting = []string{
	"golang.org/x/time/rate", "k8s.io/apimachinery/pkg/util/wait", "k8s.io/client-go/util/flowcontrol", "k8s.io/client-go/util/workqueue",
}

var (
	limiterType        = regexp.MustCompile(`Back[oO]ff|Limiter`)
	limiterConstructor = regexp.MustCompile(`^(New|Default).*(Back[oO]ff|Limiter)`)
	wakeElement        = regexp.MustCompile(`(?i)key|event`)
)

// loopFigures counts the parts that run beside the reconciles: types that start a loop and calls of the helper every, and
// in controllers the backoffs, the limiters, and the channels that wake another part.
func (c *code) loopFigures() []figure {
	starts, calls, limiters, channels := 0, 0, 0, 0
	for file := range c.internalFiles() {
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			starts += toInt(isStart(file.info(), node))
			calls += toInt(isCallOfEvery(file.info(), node))
			if file.folder() == "controller" {
				limiters += toInt(isLimiter(file.info(), node))
				channels += toInt(isWakeChannel(file.info(), node))
			}
			return true
		})
	}
	return []figure{
		count("types_with_start", starts),
		count("calls_of_every", calls),
		countBar("loops", starts+calls),
		countBar("controller_backoffs_and_limiters", limiters),
		countBar("controller_wake_channels", channels),
	}
}

// isStart reports whether a node declares a method Start(context.Context) error.
func isStart(info *types.Info, node ast.Node) bool {
	method, ok := node.(*ast.FuncDecl)
	if !ok || method.Recv == nil || method.Name.Name != "Start" {
		return false
	}
	declared, ok := info.Defs[method.Name].(*types.Func)
	return ok && isOnly(declared.Signature().Params(), "context.Context") && isOnly(declared.Signature().Results(), "error")
}

// isOnly reports whether parameters or results are a single one, of a type with that name.
func isOnly(variables *types.Tuple, name string) bool {
	return variables.Len() == 1 && variables.At(0).Type().String() == name
}

// isCallOfEvery reports whether a node calls the product's helper that runs a function at an interval.
func isCallOfEvery(info *types.Info, node ast.Node) bool {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return false
	}
	called, ok := objectNamed(info, call.Fun).(*types.Func)
	return ok && strings.EqualFold(called.Name(), "every") && called.Pkg() != nil && strings.HasPrefix(called.Pkg().Path(), module+"/")
}

func isLimiter(info *types.Info, node ast.Node) bool {
	isLibrary := func(object types.Object, name *regexp.Regexp) bool {
		return object.Pkg() != nil && slices.Contains(limiting, object.Pkg().Path()) && name.MatchString(object.Name())
	}
	switch node := node.(type) {
	case *ast.CompositeLit:
		named := namedType(info.TypeOf(node))
		return named != nil && isLibrary(named.Obj(), limiterType)
	case *ast.CallExpr:
		called, ok := objectNamed(info, node.Fun).(*types.Func)
		return ok && isLibrary(called, limiterConstructor)
	}
	return false
}

// isWakeChannel reports whether a node makes a channel of structs, or of a type that is named after a key or an event.
func isWakeChannel(info *types.Info, node ast.Node) bool {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, isName := call.Fun.(*ast.Ident)
	channel, isChannel := info.TypeOf(call).(*types.Chan)
	if !isName || name.Name != "make" || !isChannel {
		return false
	}
	element := channel.Elem()
	if pointer, ok := element.Underlying().(*types.Pointer); ok {
		element = pointer.Elem()
	}
	named := namedType(element)
	_, isStruct := element.Underlying().(*types.Struct)
	return isStruct || named != nil && wakeElement.MatchString(named.Obj().Name())
}
