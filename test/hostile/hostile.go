// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile has texts that do something to who shows them, and knows when nothing
// of that is left.
package hostile

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Texts steer who shows them, by what they do.
func Texts() map[string]string {
	return map[string]string{
		"a link":                     "\x1b]8;;http://evil/\x1b\\here\x1b]8;;\x1b\\",
		"a title, ended by a bell":   "\x1b]0;title\a",
		"a screen cleared":           "\x1b[H\x1b[2J",
		"controls of eight bits":     "a\u009b2Jb\u009d0;t\u009c",
		"bytes that are no text":     "a\x9b31mb\xff",
		"a line written over":        "failed\rall well",
		"a letter taken back":        "no\b\byes\x7f",
		"another line":               "a\u2028b\u2029c\u0085d",
		"the direction of writing":   "a\u202etxt.exe\u2066x\u2069\u200f\u061c",
		"the end of a text":          "a\x00b",
		"a command of a pipeline":    "::error file=a::b",
		"a command behind blanks":    "x\n  ::set-output name=a::b",
		"a command within a line":    "see ##[error]this",
		"a command of another one":   "see ##vso[task.setvariable]x",
		"a line that looks like one": "no\nReady: True",
		"a line of another system":   "no\r\nReady: True",
	}
}

// RequireHarmless finds nothing in what is shown that does anything.
func RequireHarmless(t testing.TB, shown, why string) {
	t.Helper()
	require.True(t, utf8.ValidString(shown), why)
	shown = strings.ReplaceAll(shown, "\r\n", "\n") // A line break.
	for _, r := range shown {
		isControl := unicode.IsControl(r) && r != '\n' && r != '\t'
		require.False(t, isControl || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control), "%s: %q in %q", why, r, shown)
	}
	for line := range strings.Lines(shown) {
		require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "%s: %q", why, shown)
		require.NotContains(t, line, "##[", why)
		require.NotContains(t, line, "##vso[", why)
	}
}
