// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// calledByTemplates lists methods that only templates name.
var calledByTemplates = []string{
	"internal/gotemplate.Files.AsConfig", "internal/gotemplate.Files.AsSecrets", "internal/gotemplate.Files.GetBytes", "internal/gotemplate.Files.Lines",
}

// An exported function must be called from another package, or be listed as an exception. Tests and tools outside of
// its package count as callers.
func TestIdleExports_EqualExceptions(t *testing.T) {
	code, err := loaded()
	require.NoError(t, err)
	var tests strings.Builder
	require.NoError(t, walk(os.DirFS("../../.."), []string{"test", "internal"}, ".go", func(path string, text []byte) {
		if strings.HasPrefix(path, "test/") || strings.HasSuffix(path, "_test.go") {
			tests.Write(text)
		}
	}))

	idle := code.idleExports()

	require.Subset(t, idle, calledByTemplates, "the list is not longer than it has to be")
	for _, name := range idle {
		last := name[strings.LastIndex(name, ".")+1:]
		isMethod := strings.Count(name[strings.LastIndex(name, "/"):], ".") > 1
		called := regexp.MustCompile(regexp.QuoteMeta(name[strings.LastIndex(name, "/")+1:]) + `\b`)
		if isMethod {
			called = regexp.MustCompile(`\.` + last + `\(`)
		}
		isUsed := called.MatchString(tests.String())
		for _, one := range calledByTemplates {
			isUsed = isUsed || one == name
		}
		if !isUsed {
			t.Errorf("%s is exported, and no other package uses it: write its name in lower case, or remove it", name)
		}
	}
}
