// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testName     = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
)

// noTests are names of this form that are not tests of the repository.
var noTests = []string{
	"TestSubject_Behavior", // the form of names, in docs/language.md
	"TestOptions",          // a type of internal/checkup
}

// Comments, pages and targets name only tests that exist, because go test -run passes if no test has the name.
func TestMentions_NameExistingTests(t *testing.T) {
	declared := map[string]bool{}
	mentions := map[string][]string{} // by file
	files(t, func(name string, text []byte) {
		if strings.HasPrefix(name, "test/tools/") {
			return
		}
		switch {
		case path.Ext(name) == ".go":
			for _, match := range declaredTest.FindAllSubmatch(text, -1) {
				declared[string(match[1])] = true
			}
			mentions[name] = testName.FindAllString(commentsOf(t, name, text), -1)
		case slices.Contains([]string{".md", ".yaml", ".txtar", ".sh", ".txt"}, path.Ext(name)), path.Base(name) == "Makefile":
			mentions[name] = testName.FindAllString(string(text), -1)
		}
	})
	checked := 0
	for name, mentioned := range mentions {
		for _, test := range mentioned {
			if slices.Contains(noTests, test) {
				continue
			}
			checked++
			isPattern := path.Base(name) == "Makefile" // It selects tests by the beginning of their names.
			exists := declared[test]
			for known := range declared {
				exists = exists || isPattern && strings.HasPrefix(known, test)
			}
			require.True(t, exists, "%s names the test %s, which does not exist", name, test)
		}
	}
	require.Greater(t, checked, 100)
}

// commentsOf returns the comments of a Go file.
func commentsOf(t *testing.T, name string, text []byte) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	var comments strings.Builder
	for _, group := range file.Comments {
		for _, comment := range group.List {
			comments.WriteString(comment.Text + "\n")
		}
	}
	return comments.String()
}
