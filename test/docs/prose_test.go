// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// notProse are comments, links and tags. A code span counts as a sentence that starts, but not as a word.
	notProse     = regexp.MustCompile(`(?s)<!--.*?-->|</?[a-zA-Z][^>]*>`)
	spanOfLines  = regexp.MustCompile("`[^`]+`")
	linkTarget   = regexp.MustCompile(`\]\([^)]*\)`)
	listItem     = regexp.MustCompile(`^\s*([-*+]|\d+[.)])\s+`)
	tableOrTitle = regexp.MustCompile(`^\s*[#|]`)
	letter       = regexp.MustCompile(`[\pL\pN_]`)
	nextSentence = regexp.MustCompile(`[.?!]["')*_]*\s+(["'(*_\[]*[A-Z0-9\x00])`)
	whatWord     = regexp.MustCompile(`(?i)\bwhat\b`)
	negatedNoun  = regexp.MustCompile(`(?i)\b(no|none|nothing|nobody|neither|nor)\b`)
	negation     = regexp.MustCompile(`(?i)\b(no|none|nothing|nobody|neither|nor|not|never|without|cannot)\b|n['’]t\b`)
)

// paragraphs returns the paragraphs of a page without code, tables and headings. A list item is a paragraph.
func (p *page) paragraphs() []string {
	text := notProse.ReplaceAllString(p.prose, "")
	text = linkTarget.ReplaceAllString(spanOfLines.ReplaceAllString(text, "\x00"), "]")
	found := []string{""}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), ">")
		if strings.TrimSpace(line) == "" || tableOrTitle.MatchString(line) || listItem.MatchString(line) {
			found = append(found, "")
		}
		if !tableOrTitle.MatchString(line) {
			found[len(found)-1] += " " + listItem.ReplaceAllString(line, "")
		}
	}
	return found
}

func countWords(text string) (count int) {
	for word := range strings.FieldsSeq(text) {
		if letter.MatchString(word) {
			count++
		}
	}
	return count
}

// sentences returns the sentences of a paragraph.
func sentences(paragraph string) (found []string) {
	start := 0
	for _, match := range nextSentence.FindAllStringSubmatchIndex(paragraph, -1) {
		found = append(found, paragraph[start:match[2]])
		start = match[2]
	}
	return append(found, paragraph[start:])
}

// prosePages returns README.md and all pages below docs.
func prosePages(t *testing.T) []page {
	t.Helper()
	found := []page{read(t, "README.md")}
	require.NoError(t, fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			found = append(found, read(t, name))
		}
		return err
	}))
	return found
}

// Pages and paragraphs are short. Code, tables and headings do not count.
func TestDocs_LimitLengthOfPages(t *testing.T) {
	total := 0
	for _, p := range prosePages(t) {
		words, limit := 0, 1500
		for _, paragraph := range p.paragraphs() {
			count := countWords(paragraph)
			words += count
			assert.LessOrEqual(t, count, 80, "words of a paragraph of %s: %s", p.name, paragraph)
		}
		if p.name == "docs/architecture.md" {
			limit = 2500
		}
		assert.LessOrEqual(t, words, limit, "words of %s", p.name)
		if folder := filepath.Dir(p.name); folder != runbooks && folder != filepath.Dir(decisionIndex) && p.name != "docs/language.md" {
			total += words
		}
	}
	require.LessOrEqual(t, total, 45_000, "words of all pages without runbooks, decisions and docs/language.md")
	t.Logf("%d words", total)
}

// A heading starts with a word that readers search for.
func TestDocs_StartHeadingsWithSearchedWords(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^#+ (What|Who|Where|Nobody)\b.*`)
	for _, p := range prosePages(t) {
		require.Empty(t, heading.FindString(p.prose), p.name)
	}
}

// The pages state what happens: few negated nouns, few sentences with two negations, and "what" only in questions.
func TestDocs_AvoidNegationsInProse(t *testing.T) {
	var words, whats, negated, all, doubled int
	for _, p := range prosePages(t) {
		for _, paragraph := range p.paragraphs() {
			words += countWords(paragraph)
			negated += len(negatedNoun.FindAllString(paragraph, -1))
			for _, sentence := range sentences(paragraph) {
				if countWords(sentence) == 0 {
					continue
				}
				all++
				if len(negation.FindAllString(sentence, -1)) > 1 {
					doubled++
				}
				if !strings.HasSuffix(strings.TrimRight(sentence, "\"')*_ "), "?") {
					whats += len(whatWord.FindAllString(sentence, -1))
				}
			}
		}
	}
	require.LessOrEqual(t, 1000*whats, words, "%d times what in %d words", whats, words)
	require.LessOrEqual(t, 1000*negated, 2*words, "%d negated nouns in %d words", negated, words)
	require.LessOrEqual(t, 100*doubled, 2*all, "%d of %d sentences have two negations", doubled, all)
}
