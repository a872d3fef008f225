// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// shownPicture is a picture on a page. It links to itself, because only the opened file has text that can be selected.
var shownPicture = regexp.MustCompile(`\[!\[([^\]]+)\]\(([^)]+)\)\]\(([^)]+)\)`)

// Each picture is on a page, with a description for readers who do not see it.
func TestDocs_DescribePictures(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range pages(t) {
		matches := shownPicture.FindAllStringSubmatch(p.prose, -1)
		require.Len(t, matches, strings.Count(p.prose, "!["), "%s has a picture without a description or a link", p.name)
		for _, match := range matches {
			require.Greater(t, len(match[1]), 40, "%s: the description of %s is short", p.name, match[2])
			require.Equal(t, match[2], match[3], p.name)
			shown[filepath.Join(filepath.Dir(p.name), match[2])] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*.svg"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	require.Len(t, shown, len(files))
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		require.True(t, shown[name], "no page shows %s", name)
	}
}

// The recordings that need a cluster show the steps of the demo, and the output in a tutorial. Other tests run both.
func TestDocs_ShowCurrentOutputInPictures(t *testing.T) {
	recorded := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "test", "pictures", "recorded", name+".txt"))
		require.NoError(t, err)
		return string(text)
	}
	demo := recorded("demo")
	for heading := range strings.Lines(demoHeadings(t)) {
		number, title, _ := strings.Cut(strings.TrimSpace(heading), ". ")
		require.Regexp(t, `(?m)^ *`+number+`  `+regexp.QuoteMeta(title)+` .* ok$`, demo)
	}
	page := "docs/tutorials/rollout-in-waves.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	commands, err := runbook.Parse(page, string(text))
	require.NoError(t, err)
	for _, command := range commands {
		if command.Text == "kubectl vectorsidecar rollout status" {
			require.NoError(t, command.Check(recorded("rollout-status")), "run make pictures")
			return
		}
	}
	t.Fatalf("%s does not show the rollout", page)
}
