// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"unicode"
)

// notParticiples are verbs and nouns that end like a participle.
var notParticiples = []string{"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}

// shape counts properties of the types and functions below internal.
type shape struct {
	// vague are the words that do not suffice as the name of a function.
	vague map[string]bool

	codeLines                         int
	structs, structsWithPointer       int
	planFields, planBools             int
	locks                             int
	functions, vagueFunctions         int
	methodsThatCompareReceiverWithNil int
}

func (c *code) shapeFigures() ([]figure, error) {
	vague, err := readWords("functions")
	if err != nil {
		return nil, err
	}
	s := &shape{vague: vague}
	for file := range c.internalFiles() {
		source, err := os.ReadFile(c.fset.Position(file.syntax.Package).Filename)
		if err != nil {
			return nil, err
		}
		s.codeLines += countCodeLines(source)
		s.addFile(file)
	}
	return []figure{
		count("code_lines", s.codeLines),
		count("functions", s.functions),
		count("one_word_functions", s.vagueFunctions),
		bar("one_word_functions_percent", ratio(100, s.vagueFunctions, s.functions), 2),
		bar("structs_with_embedded_pointer_percent", ratio(100, s.structsWithPointer, s.structs), 2),
		bar("locks_per_1000_code_lines", ratio(1000, s.locks, s.codeLines), 3),
		countBar("methods_that_compare_receiver_with_nil", s.methodsThatCompareReceiverWithNil),
		countBar("plan_fields", s.planFields),
		countBar("plan_bool_fields", s.planBools),
	}, nil
}

func (s *shape) addFile(file typedFile) {
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			s.addFunction(file, node)
		case *ast.TypeSpec:
			s.addType(file, node)
		case *ast.StructType:
			for _, field := range node.Fields.List {
				s.addLocks(file.info().TypeOf(field.Type), max(1, len(field.Names)))
			}
		case *ast.ValueSpec:
			s.addLocks(file.info().TypeOf(node.Names[0]), len(node.Names))
		}
		return true
	})
}

// addFunction counts a function. Its name is vague if it is one word of the list, or one participle.
func (s *shape) addFunction(file typedFile, function *ast.FuncDecl) {
	s.functions++
	name := function.Name.Name
	word := strings.ToLower(name)
	isParticiple := strings.HasSuffix(word, "ed") && !slices.Contains(notParticiples, word)
	if !strings.ContainsFunc(name[1:], unicode.IsUpper) && (s.vague[word] || isParticiple) {
		s.vagueFunctions++
	}
	declared, ok := file.info().Defs[function.Name].(*types.Func)
	if ok && comparesReceiverWithNil(file.info(), function, declared.Signature().Recv()) {
		s.methodsThatCompareReceiverWithNil++
	}
}

func comparesReceiverWithNil(info *types.Info, function *ast.FuncDecl, owner *types.Var) bool {
	if owner == nil {
		return false
	}
	compares := false
	ast.Inspect(function, func(node ast.Node) bool {
		if comparison, ok := node.(*ast.BinaryExpr); ok && isEquality(comparison) {
			left, right := comparison.X, comparison.Y
			isOwner := objectNamed(info, left) == owner || objectNamed(info, right) == owner
			compares = compares || isOwner && (info.Types[left].IsNil() || info.Types[right].IsNil())
		}
		return true
	})
	return compares
}

func isEquality(expression *ast.BinaryExpr) bool {
	return expression.Op == token.EQL || expression.Op == token.NEQ
}

func (s *shape) addType(file typedFile, spec *ast.TypeSpec) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	s.structs++
	embedsPointer := false
	for _, field := range structure.Fields.List {
		_, isPointer := field.Type.(*ast.StarExpr)
		embedsPointer = embedsPointer || isPointer && len(field.Names) == 0
		if file.folder() == "plan" && spec.Name.Name == "Plan" {
			s.planFields += max(1, len(field.Names))
			if basic, ok := file.info().TypeOf(field.Type).Underlying().(*types.Basic); ok && basic.Kind() == types.Bool {
				s.planBools += max(1, len(field.Names))
			}
		}
	}
	if embedsPointer {
		s.structsWithPointer++
	}
}

// addLocks counts variables of a type that is, or contains, a mutex or an atomic value.
func (s *shape) addLocks(t types.Type, variables int) {
	named := namedType(t)
	if named == nil || named.Obj().Pkg() == nil {
		return
	}
	name := named.Obj().Name()
	switch named.Obj().Pkg().Path() {
	case "sync":
		if name == "Mutex" || name == "RWMutex" {
			s.locks += variables
		}
	case "sync/atomic":
		s.locks += variables
	}
}

// countCodeLines returns the number of lines with code. Blank lines, and lines with a comment alone, have none.
func countCodeLines(source []byte) int {
	var tokens scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	tokens.Init(file, source, nil, 0)
	lines, last := 0, 0
	for {
		pos, kind, text := tokens.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.SEMICOLON && text == "\n" { // The scanner inserts it at the end of a line.
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(text, "\n")
		lines += end - max(last, first-1)
		last = end
	}
}
