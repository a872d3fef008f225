// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each name, comment, message and test that docs/language.md quotes exists in the code.
func TestDocs_QuoteCodeInLanguagePage(t *testing.T) {
	code := goCode(t)
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(code, endsWord) {
		words[word] = true
	}
	language := read(t, "docs/language.md")
	checked, isQuoting := 0, false
	for line := range strings.SplitSeq(language.prose, "\n") {
		if !strings.HasPrefix(line, "|") {
			isQuoting = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		last := cells[len(cells)-1]
		if last == "In the code" {
			isQuoting = true
			continue
		}
		if !isQuoting {
			continue
		}
		for _, match := range codeSpan.FindAllStringSubmatch(last, -1) {
			checked++
			assert.True(t, words[match[1]] || !isWord(match[1]) && strings.Contains(code, match[1]), "%s quotes `%s`", language.name, match[1])
		}
	}
	require.Greater(t, checked, 50)
}

func isWord(text string) bool { return !strings.ContainsFunc(text, endsWord) }

func endsWord(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// goCode returns the text of the Go files of the product and of the tests.
func goCode(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	for _, folder := range []string{"api", "cmd", "internal", "test"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			code.Write(text)
			return err
		}))
	}
	return code.String()
}
