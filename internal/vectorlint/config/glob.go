// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// isPattern reports whether an input contains wildcards.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// isLiteral reports whether Vector's glob library rejects a pattern, so that Vector treats the pattern as plain
// text. The library rejects ***, a ** that is not a whole path segment, and a [ without a ].
func isLiteral(pattern string) bool {
	if strings.Contains(pattern, "***") {
		return true
	}
	for i := 0; ; i += 2 {
		offset := strings.Index(pattern[i:], "**")
		if offset < 0 {
			break
		}
		i += offset
		startsSegment := i == 0 || pattern[i-1] == '/'
		endsSegment := i+2 == len(pattern) || pattern[i+2] == '/'
		if !startsSegment || !endsSegment {
			return true
		}
	}
	for remaining := []rune(pattern); ; {
		opens := slices.Index(remaining, '[')
		if opens < 0 {
			return false
		}
		end := classEnd(remaining[opens+1:])
		if end < 0 {
			return true
		}
		remaining = remaining[opens+end+2:]
	}
}

// classEnd returns the offset of the ] that ends a character class, or -1 if the class is not closed. The text
// starts after the [ of the class. A ] at the start belongs to the class.
func classEnd(text []rune) int {
	start := 1
	if len(text) > 0 && text[0] == '!' {
		start = 2
	}
	if len(text) <= start {
		return -1
	}
	end := slices.Index(text[start:], ']')
	if end < 0 {
		return -1
	}
	return start + end
}

// glob is a parsed pattern. In a pattern, * matches any number of characters, including dots and slashes, and ?
// matches one character. [a-z] and [!a-z] match one character of a class. Braces and escapes have no special
// meaning.
type glob struct {
	// tokens are the parts of the pattern: a character (0 or more), anyRun for *, anyChar for ?, or firstClass minus
	// the index of a class.
	tokens  []int
	classes [][]rune
}

const (
	anyRun = -1 - iota
	anyChar
	firstClass // The next ones are below it.
)

// newGlob parses a pattern that is not literal (see isLiteral). It reads **/ as **.
func newGlob(pattern string) *glob {
	text := []rune(strings.ReplaceAll(pattern, "**/", "**"))
	g := &glob{tokens: make([]int, 0, len(text)), classes: make([][]rune, 0, strings.Count(pattern, "["))}
	for i := 0; i < len(text); i++ {
		token := int(text[i])
		switch token {
		case '*':
			token = anyRun
		case '?':
			token = anyChar
		case '[':
			end := classEnd(text[i+1:])
			token = firstClass - len(g.classes)
			g.classes = append(g.classes, text[i+1:i+1+end])
			i += end + 1
		}
		g.tokens = append(g.tokens, token)
	}
	return g
}

// matches reports whether the pattern matches a whole name. After a mismatch, the last * before it matches one more
// character. The result is false if the budget for comparisons is used up.
func (g *glob) matches(name string, effort *effort) bool {
	n := []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		if i < len(g.tokens) && g.tokens[i] == anyRun {
			star, mark = i, j
			i++
			continue
		}
		isMatch, cost := g.matchToken(i, n[j])
		if !effort.spendCharacters(cost) {
			return false
		}
		if isMatch {
			i, j = i+1, j+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(g.tokens) && g.tokens[i] == anyRun {
		i++
	}
	return i == len(g.tokens)
}

// matchToken reports whether the token at an index matches a character. It also returns the number of
// comparisons.
func (g *glob) matchToken(i int, r rune) (isMatch bool, cost int) {
	switch {
	case i == len(g.tokens):
		return false, 1
	case g.tokens[i] <= firstClass:
		class := g.classes[firstClass-g.tokens[i]]
		return isInClass(class, r), len(class)
	default:
		return g.tokens[i] == anyChar || g.tokens[i] == int(r), 1
	}
}

// isInClass reports whether a character belongs to a class, which is the text between brackets, such as a-z or !a-z.
func isInClass(class []rune, r rune) bool {
	negated := class[0] == '!'
	if negated {
		class = class[1:]
	}
	isMatch := false
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			isMatch = isMatch || class[i] <= r && r <= class[i+2]
			i += 2
			continue
		}
		isMatch = isMatch || class[i] == r
	}
	return isMatch != negated
}
