// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the relative path of the repository.
const root = "../.."

// page is a Markdown file.
type page struct {
	// name is its path in the repository.
	name string
	// prose is its text without the fenced blocks.
	prose  string
	fences []fence
}

// fence is a fenced block of a page.
type fence struct {
	page     string
	line     int // of the opening fence
	language string
	text     string
}

func (f *fence) at() string { return fmt.Sprintf("%s:%d", f.page, f.line) }

// communityPages are the pages in .github that GitHub shows to contributors.
var communityPages = []string{"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "MAINTAINERS.md"}

// docsIndex lists the pages below docs, and decisionIndex the records of decisions.
const (
	docsIndex     = "docs/README.md"
	decisionIndex = "docs/decisions/README.md"
	runbooks      = "docs/runbooks"
)

// pages returns README.md, the pages that it links to, in that order, and the rest of docs, .github and
// CHANGELOG.md by name: the order in which a new user reads them. Runbooks are not included.
func pages(t *testing.T) []page {
	t.Helper()
	readme := read(t, "README.md")
	names := []string{"CHANGELOG.md"}
	require.NoError(t, fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" && filepath.Dir(name) != runbooks {
			names = append(names, name)
		}
		return err
	}))
	for _, name := range communityPages {
		names = append(names, ".github/"+name)
	}
	place := func(name string) int {
		if at := strings.Index(readme.prose, "]("+name); at >= 0 {
			return at
		}
		return len(readme.prose)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	all := []page{readme}
	for _, name := range names {
		all = append(all, read(t, name))
	}
	return all
}

// read returns the page with that name.
func read(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return parse(t, name, string(text))
}

func parse(t *testing.T, name, text string) page {
	t.Helper()
	p := page{name: name}
	var prose []string
	var open *fence
	var indent string // The step of a list indents its fences.
	var body []string
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		language, isFence := strings.CutPrefix(trimmed, "```")
		switch {
		case isFence && open == nil:
			open, body = &fence{page: name, line: i + 1, language: language}, nil
			indent = strings.TrimSuffix(line, trimmed)
		case isFence:
			open.text = strings.Join(body, "\n")
			p.fences = append(p.fences, *open)
			open = nil
		case open != nil:
			body = append(body, strings.TrimPrefix(line, indent))
		default:
			prose = append(prose, line)
		}
	}
	require.Nil(t, open, "%s: a fence is not closed", name)
	p.prose = strings.Join(prose, "\n")
	return p
}

// elsewhereHeld lists the pages whose commands another package's tests run.
var elsewhereHeld = map[string]string{"docs/reference/cli.md": "test/cli"}

// fences returns the fenced blocks of all pages in one of the languages.
func fences(t *testing.T, languages ...string) []fence {
	t.Helper()
	var found []fence
	for _, page := range pages(t) {
		if _, isHeld := elsewhereHeld[page.name]; isHeld {
			continue
		}
		for _, f := range page.fences {
			if slices.Contains(languages, f.language) {
				found = append(found, f)
			}
		}
	}
	return found
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// code returns the code spans of a page.
func (p *page) code() []string {
	var found []string
	for _, match := range codeSpan.FindAllStringSubmatch(p.prose, -1) {
		found = append(found, match[1])
	}
	return found
}

func TestDocs_HaveLicenseHeaders(t *testing.T) {
	for _, p := range pages(t) {
		require.True(t, strings.HasPrefix(p.prose, "<!--\nSPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors\nSPDX-License-Identifier: Apache-2.0\n-->\n"), p.name)
	}
}

func TestDocs_UseOnlyCheckedFenceLanguages(t *testing.T) {
	checked := []string{
		"sh", "yaml", "diff", "gotemplate", "txtar",
		"text",    // Output of the commands above it.
		"mermaid", // By people: what reads it is not written in Go.
	}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			require.Contains(t, checked, f.language, f.at())
		}
	}
}

// The README is short. From it, each page is at most two clicks away, and each decision three.
func TestDocs_LinkEveryPageFromShortReadme(t *testing.T) {
	text, err := os.ReadFile(root + "/README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, len(strings.Fields(string(text))), 1200, "words")
	require.Contains(t, string(text), "]("+docsIndex+")")
	index, decisions := read(t, docsIndex), read(t, decisionIndex)
	for _, p := range pages(t)[1:] {
		from := index
		if filepath.Dir(p.name) == filepath.Dir(decisionIndex) && p.name != decisionIndex {
			from = decisions
		}
		target, err := filepath.Rel(filepath.Dir(from.name), p.name)
		require.NoError(t, err)
		require.True(t, p.name == from.name || strings.Contains(from.prose, "]("+target+")"), "%s has no link to %s", from.name, p.name)
	}
	files, err := filepath.Glob(filepath.Join(root, runbooks, "*.md"))
	require.NoError(t, err)
	for _, runbook := range files {
		require.Contains(t, index.prose, "](runbooks/"+filepath.Base(runbook)+")")
	}
}
