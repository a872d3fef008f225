// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"strings"
)

// longestTestName is the limit for the name of a test, in characters.
const longestTestName = 60

var subjectAndBehavior = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*_[A-Z0-9]\w*$`)

// testNameFigures counts the tests whose name is not TestSubject_Behavior, is too long, or has a subject that the tested
// package does not declare.
func testNameFigures(files []*goFile) []figure {
	inFolder, inProduct := map[string]map[string]bool{}, map[string]bool{}
	for _, file := range files {
		folder := path.Dir(file.path)
		if inFolder[folder] == nil {
			inFolder[folder] = map[string]bool{}
		}
		if file.isTest() {
			continue
		}
		names := packageLevelNames(file.syntax)
		maps.Copy(inFolder[folder], names)
		if !strings.HasPrefix(file.path, "test/") {
			maps.Copy(inProduct, names)
		}
	}
	tests, tooLong, withoutForm, unknownSubject, failing := 0, 0, 0, 0, 0
	for _, file := range files {
		for _, name := range testNames(file) {
			isLong := len(name) > longestTestName
			hasForm := subjectAndBehavior.MatchString(name)
			subject, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(name, "Test")), "_")
			isUnknown := hasForm && !isSubject(subject, file.path, inFolder, inProduct)
			tests++
			tooLong += toInt(isLong)
			withoutForm += toInt(!hasForm)
			unknownSubject += toInt(isUnknown)
			failing += toInt(isLong || !hasForm || isUnknown)
		}
	}
	return []figure{
		count("tests", tests),
		count("test_names_too_long", tooLong),
		count("test_names_without_subject_and_behavior", withoutForm),
		count("test_names_with_unknown_subject", unknownSubject),
		countBar("test_names_that_break_the_rule", failing),
	}
}

// isSubject reports whether a test in a file may be about a name in lower case: the folder of the test declares it. A
// test below test/ may also be about a name of the product, or about a folder of its path.
func isSubject(name, file string, inFolder map[string]map[string]bool, inProduct map[string]bool) bool {
	folder := path.Dir(file)
	below, isOfWhole := strings.CutPrefix(folder+"/", "test/")
	return inFolder[folder][name] || isOfWhole && (inProduct[name] || strings.Contains("/"+strings.ToLower(below), "/"+name+"/"))
}

// testNames returns the functions of a test file that go test runs as tests.
func testNames(file *goFile) []string {
	var names []string
	for _, declaration := range file.syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || !file.isTest() || function.Recv != nil || len(function.Type.Params.List) != 1 {
			continue
		}
		behind, isTest := strings.CutPrefix(function.Name.Name, "Test")
		startsWord := behind == "" || behind[0] < 'a' || behind[0] > 'z'
		if isTest && startsWord && types.ExprString(function.Type.Params.List[0].Type) == "*testing.T" {
			names = append(names, function.Name.Name)
		}
	}
	return names
}

// packageLevelNames returns the declarations of a file, methods included, in lower case.
func packageLevelNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			names[strings.ToLower(declaration.Name.Name)] = true
		case *ast.GenDecl:
			for _, name := range groupNames(declaration) {
				names[strings.ToLower(name)] = true
			}
		}
	}
	return names
}

func toInt(isTrue bool) int {
	if isTrue {
		return 1
	}
	return 0
}
