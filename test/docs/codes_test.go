// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/lint"
)

var codeOfLint = regexp.MustCompile(`\bVSC\d{3}\b`)

// Each existing code is on a page with its meaning and fix, and each code on a page exists.
func TestDocs_ExplainEveryCode(t *testing.T) {
	told := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page.name))
		require.NoError(t, err)
		for _, found := range codeOfLint.FindAllString(string(text), -1) {
			_, isKnown := lint.RuleFor(found)
			require.True(t, isKnown, "%s names %s, which is no code", page.name, found)
			told[found] = true
		}
	}
	for _, rule := range lint.Rules() {
		require.NotEmpty(t, rule.Title, rule.Code)
		require.NotEmpty(t, rule.Help, rule.Code)
		require.True(t, told[rule.Code], "no page tells of %s", rule.Code)
	}
}
