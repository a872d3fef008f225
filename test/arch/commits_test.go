// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// subject is "area: verb object", with one area: the folder that has all packages of the commit.
var subject = regexp.MustCompile(`^[a-z0-9][\w./-]*: ([a-z]+) \S`)

// vagueVerbs do not say what a commit changes.
var vagueVerbs = []string{"say", "let", "have", "give", "tell", "take", "hold", "ask", "look"}

// Each commit subject since the commit that added this file has the required form and length.
func TestArch_RequiresUniformCommitSubjects(t *testing.T) {
	added := git(t, "log", "--diff-filter=A", "--format=%H", "--", "test/arch/commits_test.go")
	if added == "" {
		t.Skip("SKIPPED: the history here does not have the commit that adds this file")
	}
	first, _, _ := strings.Cut(added, "\n")
	requireSubject(t, git(t, "log", "-1", "--format=%s", first))
	for text := range strings.Lines(git(t, "log", "--no-merges", "--format=%s", first+"..HEAD")) {
		requireSubject(t, strings.TrimSuffix(text, "\n"))
	}
}

func requireSubject(t *testing.T, text string) {
	t.Helper()
	match := subject.FindStringSubmatch(text)
	require.NotNil(t, match, "the subject %q does not have the form \"area: verb object\"", text)
	require.False(t, slices.Contains(vagueVerbs, match[1]), "the verb %s of the subject %q does not say what changes", match[1], text)
	require.LessOrEqual(t, utf8.RuneCountInString(text), 72, "the subject %q is too long", text)
}

func TestArch_RequiresAreaAndVerbInCommitSubjects(t *testing.T) {
	for text, want := range map[string]string{
		"plan: reject negative limits": "reject", "test/arch: remove a page": "remove", "plan, docs: remove a page": "", "fix things": "", "plan: Reject limits": "", "plan:reject limits": "",
	} {
		match := subject.FindStringSubmatch(text)
		require.Equal(t, want == "", match == nil, text)
		if match != nil {
			require.Equal(t, want, match[1], text)
		}
	}
}

// git returns what git prints about the repository; "" where there is no history.
func git(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
