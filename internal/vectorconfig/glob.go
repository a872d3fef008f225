// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vectorconfig

import "strings"

// isPattern reports whether an input has wildcards.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[") }

// isLiteral reports whether Vector's glob library rejects a pattern, which is then
// plain text: one with ** that is not a whole path segment, with ***, or with a [
// without ].
func isLiteral(pattern string) bool {
	if strings.Contains(pattern, "***") {
		return true
	}
	for at := 0; ; at += 2 {
		next := strings.Index(pattern[at:], "**")
		if next < 0 {
			break
		}
		at += next
		before := at == 0 || pattern[at-1] == '/'
		after := at+2 == len(pattern) || pattern[at+2] == '/'
		if !before || !after {
			return true
		}
	}
	for rest := pattern; ; {
		_, class, opens := strings.Cut(rest, "[")
		if !opens {
			return false
		}
		end := classEnd(class)
		if end < 0 {
			return true
		}
		rest = class[end+1:]
	}
}

// classEnd returns the end of the character class whose [ precedes text, -1 if it has
// none. A leading ] belongs to the class.
func classEnd(text string) int {
	first := 0
	if strings.HasPrefix(text, "!") {
		first = 1
	}
	if len(text) <= first+1 {
		return -1
	}
	end := strings.IndexByte(text[first+1:], ']')
	if end < 0 {
		return -1
	}
	return first + 1 + end
}

// matches reports whether a pattern that is not literal matches a whole name. * matches
// any run, also dots and slashes; ? one character; [a-z] and [!a-z] one of a class.
// There are no braces and no escapes.
func matches(pattern, name string) bool {
	p, n := []rune(strings.ReplaceAll(pattern, "**/", "**")), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if width := matchOne(p[i:], n[j]); width > 0 {
			i, j = i+width, j+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne returns how much of a pattern matches one character, 0 if it does not.
func matchOne(p []rune, r rune) int {
	switch {
	case len(p) == 0:
		return 0
	case p[0] == '?':
		return 1
	case p[0] == '[':
		end := classEnd(string(p[1:]))
		if end < 0 {
			return 0
		}
		class := []rune(string(p[1:])[:end])
		if inClass(class, r) {
			return len(class) + 2
		}
		return 0
	case p[0] == r:
		return 1
	}
	return 0
}

func inClass(class []rune, r rune) bool {
	negated := class[0] == '!'
	if negated {
		class = class[1:]
	}
	found := false
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			found = found || class[i] <= r && r <= class[i+2]
			i += 2
			continue
		}
		found = found || class[i] == r
	}
	return found != negated
}
