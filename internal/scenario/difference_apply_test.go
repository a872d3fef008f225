// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// text has a list with identical items.
const text = `spec:
  replicas: 2
  containers:
  - name: app
    image: cart:1
    env:
    - name: LEVEL
      value: info
    - name: REGION
      value: eu
  - name: proxy
    image: proxy:1
`

// Each case is a change of a text, and the lines of the difference that --update writes for it.
func TestDiffer_WritesReadableDifference(t *testing.T) {
	for name, test := range map[string]struct{ from, to, difference string }{
		"nothing":                              {"", "", ""},
		"a value, by its key":                  {"  replicas: 2\n", "  replicas: 3\n", "~  replicas: 3\n"},
		"a value that others are like":         {"      value: eu\n", "      value: us\n", "     - name: REGION\n~      value: us\n"},
		"the first of these, too":              {"      value: info\n", "      value: warn\n", "     - name: LEVEL\n~      value: warn\n"},
		"a line that is added":                 {"  containers:\n", "  paused: true\n  containers:\n", "   replicas: 2\n+  paused: true\n"},
		"a line at the beginning":              {"spec:\n", "kind: Pod\nspec:\n", "+kind: Pod\n"},
		"a line at the end":                    {"    image: proxy:1\n", "    image: proxy:1\n    tty: true\n", "     image: proxy:1\n+    tty: true\n"},
		"a line that goes":                     {"  replicas: 2\n", "", "-  replicas: 2\n"},
		"a block that goes, by its head":       {"    env:\n    - name: LEVEL\n      value: info\n    - name: REGION\n      value: eu\n", "", "-    env:\n-    - name: LEVEL …\n-    - name: REGION …\n"},
		"the head of a block without the rest": {"  - name: proxy\n    image", "    image", "-  - name: proxy\n"},
		"a line without a key":                 {"spec:\n", "[a]\n", "-spec:\n+[a]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			whole := strings.Replace(text, test.from, test.to, 1)
			difference, isShorter := Differ(text, whole)
			require.True(t, isShorter)
			require.Equal(t, test.difference, difference)
			made, err := applyDifference(text, difference)
			require.NoError(t, err)
			require.Equal(t, whole, made)
		})
	}
}

// If a difference would be ambiguous, or not shorter than the text, the whole text is returned.
func TestDiffer_ReturnsWholeTextForUnrelatedTexts(t *testing.T) {
	for name, one := range map[string]struct{ base, whole string }{
		"nothing in common":                {"a\nb\n", "c\nd\n"},
		"a line like the mark of a block":  {"a …\nb\nc\nd\n", "b\nc\nd\n"},
		"a line like the name of a file":   {"- x --\nb\nc\nd\n", "b\nc\nd\n"},
		"no more lines in it than in that": {"a\n", "b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, isShorter := Differ(one.base, one.whole)
			require.False(t, isShorter)
		})
	}
}

// A handwritten difference may lack the end of its last line, or the space of an empty line.
func TestApplyDifference_AcceptsHandwrittenLines(t *testing.T) {
	for name, test := range map[string]struct{ base, difference, whole string }{
		"no end of the last line":       {"a: 1", "~a: 2", "a: 2\n"},
		"an empty line without a space": {"a\n\nb\n", "\n+c\n", "a\n\nc\nb\n"},
		"a key that has nothing yet":    {"a:\nb: 1\n", "~b:\n", "a:\nb:\n"},
		"a colon in a value":            {"a: b:c\n", "~a: d:e\n", "a: d:e\n"},
		"a block with an empty line":    {"a:\n  b\n\nc\n", "-a: …\n", "\nc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := applyDifference(test.base, test.difference)
			require.NoError(t, err)
			require.Equal(t, test.whole, made)
		})
	}
}

func TestApplyDifference_NamesMismatchedLine(t *testing.T) {
	for name, test := range map[string]struct {
		difference string
		line       int
		names      string
	}{
		"not in the base":        {"~  replicas: 3\n-  paused: true\n", 2, "paused: true"},
		"only before":            {"   containers:\n~  replicas: 3\n", 2, "replicas: 3"},
		"of another indentation": {"~replicas: 3\n", 1, "replicas: 3"},
		"an unknown mark":        {" spec:\n@@ -1,2 +1,3 @@\n", 2, "@@"},
		"a tab":                  {"\tspec:\n", 1, `\tspec`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := applyDifference(text, test.difference)
			var misfit *misfit
			require.ErrorAs(t, err, &misfit)
			require.Equal(t, test.line, misfit.line)
			require.Contains(t, misfit.reason, test.names)
		})
	}
}

// Applying a difference to the base restores the text, also if the base has many equal lines.
func TestApplyDifference_RestoresWholeText(t *testing.T) {
	words := []string{"a:", "b: 1", "b: 2", "- a: 1", "- a: 2", "", "c", "|", "---", "-", "~", "+"}
	random := rand.New(rand.NewPCG(1, 2))
	some := func() string {
		var text strings.Builder
		for range random.IntN(30) {
			if line := strings.Repeat("  ", random.IntN(4)) + words[random.IntN(len(words))]; strings.TrimSpace(line) != "" {
				text.WriteString(line)
			}
			text.WriteString("\n")
		}
		return text.String()
	}
	for range 5_000 {
		base, whole := some(), some()
		difference, _ := Differ(base, whole)
		made, err := applyDifference(base, difference)
		require.NoError(t, err, "%q to %q: %q", base, whole, difference)
		require.Equal(t, whole, made, "%q: %q", base, difference)
	}
}

// For any two texts, the difference either restores the second text exactly, or is not used.
func FuzzADifferenceIsExactOrNotTaken(f *testing.F) {
	f.Add(text, strings.ReplaceAll(text, "1", "2"))
	f.Add("a …\n", "- x --")
	f.Add("\n\r\n\x00", " a:\n  b")
	f.Fuzz(func(t *testing.T, base, whole string) {
		difference, isTaken := Differ(base, whole)
		if made, err := applyDifference(base, difference); isTaken {
			require.NoError(t, err)
			require.Equal(t, ensureNewline(whole), made)
		}
		_, err := applyDifference(base, whole) // What a person wrote is no difference at all.
		if err != nil {
			var misfit *misfit
			require.ErrorAs(t, err, &misfit)
		}
	})
}
