// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlob_MatchesLikeVector(t *testing.T) {
	for _, test := range []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"a", "a.b", "a/b", ""}, nil},
		{"a*", []string{"a", "ab", "a.b.c"}, []string{"ba"}},
		{"*_logs", []string{"app_logs", "_logs"}, []string{"app_logs2"}},
		{"a?c", []string{"abc", "a.c"}, []string{"ac", "abbc"}},
		{"[ab]c", []string{"ac", "bc"}, []string{"cc", "c", "abc"}},
		{"[!ab]c", []string{"cc"}, []string{"ac", "c"}},
		{"[a-c1]x", []string{"ax", "bx", "1x"}, []string{"dx", "-x"}},
		{"[]]x", []string{"]x"}, []string{"x"}},
		{"**", []string{"a", "a.b"}, nil},
		{"*a*b*", []string{"ab", "xaxbx"}, []string{"ba"}},
		{"{a,b}", []string{"{a,b}"}, []string{"a", "b"}},
		{"ä*", []string{"äx"}, []string{"x"}},
	} {
		require.False(t, isLiteral(test.pattern), test.pattern)
		for _, name := range test.yes {
			require.True(t, newGlob(test.pattern).matches(name, newEffort(t.Context(), nil)), "%s %s", test.pattern, name)
		}
		for _, name := range test.no {
			require.False(t, newGlob(test.pattern).matches(name, newEffort(t.Context(), nil)), "%s %s", test.pattern, name)
		}
	}
	for _, pattern := range []string{"a**", "**b", "***", "a[b", "[", "[]", "[!]"} {
		require.True(t, isLiteral(pattern), "%s is a text and no pattern", pattern)
	}
}

// Comparisons of a pattern count against the limit of the check, so that no pattern takes too long.
func TestGlob_CountsComparisons(t *testing.T) {
	name := strings.Repeat("a", 1000)
	for pattern, least := range map[string]int{
		"*" + strings.Repeat("[a]", 500) + "b":        500 * 500,
		"*[" + strings.Repeat("b", 1000) + "]":        1000 * 1000,
		"*" + strings.Repeat("?", 500) + "b":          500 * 500,
		strings.Repeat("*a", 100) + "*[!a]":           800,
		"a" + strings.Repeat("*", 1000) + "b[a-z0-9]": 900,
	} {
		whole, short := newEffort(t.Context(), nil), newEffort(t.Context(), nil)
		short.remaining = least / 2
		used := allocated(func() { require.False(t, newGlob(pattern).matches(name, whole), pattern) })
		require.GreaterOrEqual(t, mostEffort-whole.remaining, least, pattern)
		require.LessOrEqual(t, mostEffort-whole.remaining, len(name)*len(pattern), pattern)
		require.LessOrEqual(t, used, uint64(256<<10), pattern)

		require.False(t, newGlob(pattern).matches(name, short), pattern)
		require.Negative(t, short.remaining, pattern)
		require.Greater(t, short.remaining, -len(pattern), "%s: it went on", pattern)
	}
}

func TestParseImageVersion_ReadsTag(t *testing.T) {
	for image, want := range map[string]string{
		"docker.io/timberio/vector:0.57.0-distroless-static": "0.57",
		"vector:0.44.0":                   "0.44",
		"vector:v0.44":                    "0.44",
		"vector:0.44.X-alpine":            "0.44",
		"localhost:5000/vector:0.40.1":    "0.40",
		"vector:0.57.0-debian@sha256:abc": "0.57",
		"localhost:5000/vector":           "unknown",
		"vector":                          "unknown",
		"":                                "unknown",
		"vector:latest-alpine":            "unknown",
		"vector:nightly-2026-07-01":       "unknown",
		"vector:1.4.2-of-our-own":         "unknown",
		"vector:0.4444":                   "unknown",
		"vector@sha256:0570":              "unknown",
	} {
		require.Equal(t, want, parseImageVersion(image).String(), image)
	}
}
