// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// linterConfig is the part of .golangci.yaml with the limits of functions and their exceptions.
type linterConfig struct {
	Linters struct {
		Settings struct {
			Cyclop struct {
				MaxComplexity int `json:"max-complexity"`
			} `json:"cyclop"`
			Revive struct {
				Rules []struct {
					Name      string `json:"name"`
					Arguments []any  `json:"arguments"`
				} `json:"rules"`
			} `json:"revive"`
		} `json:"settings"`
		Exclusions struct {
			Rules []exclusion `json:"rules"`
		} `json:"exclusions"`
	} `json:"linters"`
}

// exclusion is a golangci-lint rule that ignores findings. All of its patterns must match.
type exclusion struct {
	Linters []string `json:"linters"`
	Path    string   `json:"path"`
	Text    string   `json:"text"`
	Source  string   `json:"source"`
}

// violation is a finding of golangci-lint about a function that exceeds a limit.
type violation struct {
	linter, path, text, source string
}

func readLinterConfig(repository string) (*linterConfig, error) {
	text, err := os.ReadFile(filepath.Join(repository, ".golangci.yaml"))
	if err != nil {
		return nil, err
	}
	config := &linterConfig{}
	return config, yaml.Unmarshal(text, config)
}

// exceptions are the exclusions of single functions. All other exclusions are about folders or kinds of files.
func (c *linterConfig) exceptions() []exclusion {
	return slices.DeleteFunc(slices.Clone(c.Linters.Exclusions.Rules), func(rule exclusion) bool { return rule.Source == "" })
}

func (c *linterConfig) argumentLimit() int {
	for _, rule := range c.Linters.Settings.Revive.Rules {
		if rule.Name == "argument-limit" && len(rule.Arguments) == 1 {
			if limit, ok := rule.Arguments[0].(float64); ok {
				return int(limit)
			}
		}
	}
	return 0
}

func (e *exclusion) matches(v violation) bool {
	isMatch := func(pattern, text string) bool { return pattern == "" || regexp.MustCompile(pattern).MatchString(text) }
	return slices.Contains(e.Linters, v.linter) && isMatch(e.Path, v.path) && isMatch(e.Text, v.text) && isMatch(e.Source, v.source)
}

// violations returns the functions over the limits of cyclop and of revive's argument-limit, as these linters count. Those
// that an exclusion of a folder or kind of files covers are not returned.
func (c *linterConfig) violations(files []*goFile) []violation {
	var found []violation
	for _, file := range files {
		if ast.IsGenerated(file.syntax) {
			continue
		}
		for _, declaration := range file.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			source := file.line(function.Pos())
			if complexity := cyclomaticComplexity(function); complexity > c.Linters.Settings.Cyclop.MaxComplexity {
				found = append(found, violation{"cyclop", file.path, fmt.Sprintf("calculated cyclomatic complexity for function %s is %d", function.Name.Name, complexity), source})
			}
			if parameters := len(fieldNames(function.Type.Params)); parameters > c.argumentLimit() {
				found = append(found, violation{"revive", file.path, fmt.Sprintf("argument-limit: got %d", parameters), source})
			}
		}
	}
	return slices.DeleteFunc(found, func(v violation) bool {
		return slices.ContainsFunc(c.Linters.Exclusions.Rules, func(rule exclusion) bool { return rule.Source == "" && rule.matches(v) })
	})
}

// limitFigures counts the functions that may exceed a limit.
func limitFigures(repository string) ([]figure, error) {
	config, err := readLinterConfig(repository)
	if err != nil {
		return nil, err
	}
	return []figure{countBar("linter_exceptions", len(config.exceptions()))}, nil
}

// cyclomaticComplexity counts the branches of a function, with those of the function literals in it.
func cyclomaticComplexity(function *ast.FuncDecl) int {
	complexity := 1
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.CommClause:
			complexity++
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				complexity++
			}
		}
		return true
	})
	return complexity
}

// line returns the text of the line at a position.
func (f *goFile) line(at token.Pos) string {
	lines := strings.Split(string(f.source), "\n")
	return lines[f.fset.Position(at).Line-1]
}
