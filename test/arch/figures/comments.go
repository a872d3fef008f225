// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"regexp"
	"strings"
)

var license = regexp.MustCompile(`SPDX|Copyright|License`)

// commentFigures counts lines that are comments, and the dialect words in them.
func commentFigures(files []*goFile) ([]figure, error) {
	phrases, err := readList("dialect")
	if err != nil {
		return nil, err
	}
	for i, phrase := range phrases {
		phrases[i] = regexp.QuoteMeta(phrase)
	}
	dialect, err := regexp.Compile(`(?i)\b(` + strings.Join(phrases, "|") + `)\b`)
	if err != nil {
		return nil, err
	}
	lines, words := 0, 0
	for _, file := range files {
		if !file.isWritten() {
			continue
		}
		for line := range bytes.Lines(file.source) {
			if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("//")) && !license.Match(line) {
				lines++
				words += len(dialect.FindAll(line, -1))
			}
		}
	}
	return []figure{
		count("comment_lines", lines),
		count("dialect_words", words),
		bar("dialect_words_per_100_comment_lines", ratio(100, words, lines), 2),
	}, nil
}
